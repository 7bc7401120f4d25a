"""The one door for data: anything tabular becomes a checked `Table`; nothing is imputed or reinterpreted silently."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dppca_nb._columns import listing, show
from dppca_nb._containers import DataError, checked_matrix, finite_copy, read_matrix
from dppca_nb._scales import equals_sample_deviations, public_scales, sample_deviations

__all__ = ["DataError", "LeftOut", "Table", "as_matrix", "as_table", "scale_table"]


@dataclass(frozen=True)
class LeftOut:
    """A column that is not a variable of the table.

    Parameters
    ----------
    name : str
        Its display name.
    reason : str
        What it holds, in words, such as ``"dates and times"``.
    """

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Table:
    """Checked numeric data; made by `as_table`. One made by hand is checked as well.

    Parameters
    ----------
    values : ndarray of float64, shape (n, p)
        A read-only, C-contiguous copy; finite, one row per observation.
    names : tuple of str, length p
        Unique display names.
    originals : tuple, length p
        The caller's own column labels (the display names where the data had none).
    left_out : tuple of LeftOut
        Columns that ``numeric_only=True`` put aside.
    sample_scaled : bool
        Whether the values were divided by scales that came from the rows, see `scale_table`.

    Raises
    ------
    DataError
        If the values are not a matrix of at least 2 rows and 1 column of finite real numbers, or if the names are not
        unique texts, one for each column.

    Examples
    --------
    >>> table = as_table({"age": [31, 45], "income": [1.5, 2.0]})
    >>> table.n, table.p, table.names
    (2, 2, ('age', 'income'))
    """

    values: np.ndarray = field(repr=False)  # rows may be private: they never reach a log or a traceback by accident
    names: tuple[str, ...]
    originals: tuple = field(repr=False)
    left_out: tuple[LeftOut, ...] = ()
    sample_scaled: bool = False

    def __post_init__(self):
        values = checked_matrix(self.values)
        values.flags.writeable = False
        object.__setattr__(self, "values", values)
        for attribute in ("names", "originals", "left_out"):
            object.__setattr__(self, attribute, tuple(getattr(self, attribute)))
        unique = len(set(self.names)) if all(isinstance(name, str) for name in self.names) else 0
        if not unique == len(self.names) == len(self.originals) == self.p:
            raise DataError(
                f"A Table of {self.p} columns got {len(self.names)} names, {unique} of them unique texts, and "
                f"{len(self.originals)} originals. Give every column one of each, or make it with as_table(data)."
            )

    @classmethod
    def _of(cls, values, names, originals, left_out):
        """Make a table of a fresh matrix and labels that the door has checked: one copy of the data is enough."""
        table = object.__new__(cls)
        values.flags.writeable = False
        made = {"values": values, "names": names, "originals": originals, "left_out": left_out, "sample_scaled": False}
        for attribute, value in made.items():
            object.__setattr__(table, attribute, value)
        return table

    def __reduce__(self):
        # numpy pickles and deep-copies an array as writeable; building the table anew freezes it again
        return type(self), (self.values, self.names, self.originals, self.left_out, self.sample_scaled)

    @property
    def n(self) -> int:
        """Number of rows (observations)."""
        return self.values.shape[0]

    @property
    def p(self) -> int:
        """Number of columns (variables)."""
        return self.values.shape[1]


def as_table(data, *, numeric_only: bool = False) -> Table:
    """Check data and copy them into a `Table`.

    Parameters
    ----------
    data : data frame, array, list of rows, dict of columns, or Table, shape (n, p)
        Any data frame that pandas or narwhals knows or that speaks the Arrow or the data frame interchange protocol;
        a named one-column series; a two-dimensional (also masked) array; a list of equally long rows; a dictionary of
        equally long columns. A `Table` passes through unchanged. The row labels of a frame are not a variable.
    numeric_only : bool, default False
        Whether columns that are not numeric are put aside, and listed in ``left_out``, instead of being an error.

    Returns
    -------
    Table
        n >= 2 rows, p >= 1 columns, all finite. Booleans become 0 and 1; integers, decimals and other precisions become
        float64 before any arithmetic. Constant columns are allowed.

    Raises
    ------
    DataError
        If the container is not tabular or has fewer than two rows or no columns; if columns are not numeric (text that
        looks like numbers is still text, and categories are labels); if cells are missing (None, NaN, NA, NaT, null,
        masked) or infinite, with the count in each column; if float64 cannot hold an integer or a magnitude.

    Notes
    -----
    Display names are the labels as text, character for character. The parts of a tuple are joined as ``"v / 2001"``, a
    repeated name becomes ``"a (2)"``, a blank header ``"(unnamed 4)"`` after its position from 1, and the columns of
    arrays and lists are ``"x1"``, ``"x2"``, ….

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1, 2, 4], "b": [True, False, True], "who": ["x", "y", "z"]})
    >>> table = as_table(frame, numeric_only=True)
    >>> table.names, table.n, table.p
    (('a', 'b'), 3, 2)
    >>> table.left_out
    (LeftOut(name='who', reason='text'),)
    >>> as_table([[1, 2], [3, None]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dppca_nb.table.DataError: The data have missing or infinite values: x2: 1 missing value. ...
    """
    if isinstance(data, Table):
        return data
    values, names, originals, others = read_matrix(data, numeric_only=numeric_only)
    return Table._of(values, names, originals, tuple(LeftOut(name, reason) for name, reason in others))


def as_matrix(data, *, order: str = "C") -> tuple[np.ndarray, tuple[str, ...]]:
    """Check data as `as_table` does and copy them into a matrix to compute in, without a `Table` in between.

    Parameters
    ----------
    data : Table or anything that `as_table` takes, shape (n, p)
        Stays as it is.
    order : {"C", "F"}
        Whether rows or columns are contiguous.

    Returns
    -------
    values : ndarray of float64, shape (n, p)
        Fresh and writeable; all finite, n >= 2.
    names : tuple of str, length p
        Unique display names.

    Raises
    ------
    DataError
        As `as_table`.

    Examples
    --------
    >>> as_matrix({"age": [31, 45], "income": [1.5, 2.0]})
    (array([[31. ,  1.5],
           [45. ,  2. ]]), ('age', 'income'))
    """
    if isinstance(data, Table):
        return finite_copy(data.values, order=order), data.names
    return read_matrix(data, order=order)[:2]


# --- public and sample scales ----------------------------------------------------------------------------------------


def scale_table(table: Table, scale) -> tuple[Table, bool]:
    """Divide every variable by its scale.

    Parameters
    ----------
    table : Table, shape (n, p)
    scale : None, array of shape (p,), mapping or Series of name -> number, or "sample"
        Numbers are PUBLIC scales in the units of the data, positive and finite, known without looking at the rows: an
        array in column order, or a mapping with a display name or the caller's own label for every variable.
        ``"sample"`` is the sample standard deviation, ``sqrt(sum((x - mean(x))**2) / (n - 1))``; it is computed from
        the rows, so a later release is private only given these scales. None leaves the values as they are.

    Returns
    -------
    table : Table
        The scaled values, of the same names; unit-free. ``table.sample_scaled`` remembers for good that scales came
        from the rows.
    from_sample : bool
        Whether these scales came from the rows: by ``"sample"``, or as numbers equal, to 1e-9 relative, to the standard
        deviations (divisor n - 1 or n) of all variables that vary.

    Raises
    ------
    DataError
        If a scale is not a positive finite number, is absent or has no variable; if ``"sample"`` meets a constant
        variable (spread within rounding of its magnitude: min(n, 64) units of 2.2e-16; small variances are genuine);
        if a quotient leaves the range of float64.

    Examples
    --------
    >>> table = as_table({"visits": [0, 3, 7], "limit": [100.0, 50.0, 0.0]})
    >>> scaled, from_sample = scale_table(table, {"visits": 10, "limit": 100})
    >>> scaled.values.tolist(), from_sample
    ([[0.0, 1.0], [0.3, 0.5], [0.7, 0.0]], False)
    >>> scale_table(as_table({"site": [5, 5], "a": [1, 2]}), "sample")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dppca_nb.table.DataError: Constant: site. ...
    """
    if scale is None:
        return table, False
    if isinstance(scale, str):
        if scale != "sample":
            raise DataError(f'Got scale={scale!r}: pass None, "sample", an array or a mapping of public scales.')
        divisors, from_sample = sample_deviations(table), True
    else:
        divisors = public_scales(table, scale)
        from_sample = equals_sample_deviations(table, divisors)
    with np.errstate(all="ignore"):  # looked at in the next line; a standard deviation may vanish below 5e-324
        values = table.values / divisors
    gone = (~np.isfinite(values) | ((values == 0) & (table.values != 0))).any(axis=0)
    if gone.any():
        found = listing([show(name) for name, bad in zip(table.names, gone, strict=True) if bad])
        raise DataError(
            f"Divided by their scale, these variables leave the range of float64: {found}. Check their scale."
        )
    return replace(table, values=values, sample_scaled=table.sample_scaled or from_sample), from_sample
