"""Take a tabular container apart into columns, check them and put them together as a matrix; refuse what is no data."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from pathlib import PurePath

import narwhals as nw
import numpy as np
import pandas as pd

from dppca_nb._columns import NO_LABEL, counts, display_names, listing, objects, read_column, show

_ACCEPTED = (
    "a data frame (pandas, polars, pyarrow, any Arrow table), one named column, a two-dimensional array, "
    "a list of rows or a dictionary of columns"
)
_ROWS = 2048  # rows that are copied at a time: both layouts of them fit in the cache


class DataError(ValueError):
    """Data, or a scale for data, that cannot be used as given; the message names the columns and a remedy.

    Examples
    --------
    >>> from dppca_nb import DataError, as_table
    >>> try:
    ...     as_table([[1.0, 2.0]])
    ... except DataError as error:
    ...     print("at least 2 rows" in str(error))
    True
    """


DataError.__module__ = "dppca_nb.table"  # its public address, in messages and for pickle


def read_matrix(data, *, order: str = "C", numeric_only: bool = False) -> tuple[np.ndarray, tuple, tuple, list]:
    """Check data; return a fresh float64 matrix, display names, the caller's labels, and (name, reason) of the rest."""
    labels, raw, n = _columns_of(data)
    if n < 2 or len(raw) == 0:
        raise DataError(
            f"The data have shape ({n}, {len(raw)}); at least 2 rows and 1 column are needed. Check the "
            "filter or the file that they came from."
        )
    names = display_names(labels)
    if type(raw) is np.ndarray and raw.dtype == np.float64:  # nothing can be wrong but what the slow way then names
        matrix = finite_copy(raw.T, order=order)
        if matrix is not None:
            return matrix, names, names, []
    columns = [read_column(column) for column in raw]
    kept = [j for j, column in enumerate(columns) if not column.not_numeric]
    others = [j for j, column in enumerate(columns) if column.not_numeric]
    if not kept and numeric_only:
        found = listing([f"{show(names[j])} ({columns[j].detail})" for j in others])
        raise DataError(f"No numeric column is left. Left out: {found}. Convert a column to numbers explicitly first.")
    problems = []
    if others and not numeric_only:
        found = listing([f"{show(names[j])} ({columns[j].detail})" for j in others])
        problems.append(
            f"These columns are not numeric: {found}. Convert them explicitly, select other columns, or pass "
            "as_table(data, numeric_only=True), which leaves them out and lists them."
        )
    bad = [f"{show(names[j])}: {counts(columns[j])}" for j in kept if columns[j].missing or columns[j].infinite]
    if bad:
        problems.append(
            f"The data have missing or infinite values: {listing(bad)}. Drop those rows (data.dropna() after turning "
            "infinite values into missing ones) or impute them; nothing is dropped or imputed unasked."
        )
    damaged = [f"{show(names[j])}: {columns[j].damage}" for j in kept if columns[j].damage]
    if damaged:
        problems.append(
            f"These columns do not fit double precision (float64): {listing(damaged)}. Subtract an offset, change the "
            "unit, or leave the column out if it is an identifier."
        )
    if problems:
        raise DataError(" ".join(problems))
    return (
        _side_by_side([columns[j].values for j in kept], order=order),
        tuple(names[j] for j in kept),
        tuple(names[j] if labels[j] is NO_LABEL else labels[j] for j in kept),
        [(names[j], columns[j].not_numeric) for j in others],
    )


def finite_copy(values: np.ndarray, *, order: str) -> np.ndarray | None:
    """Copy a matrix so that its rows ("C") or columns ("F") are contiguous; None if a value is not finite."""
    matrix = np.empty(values.shape, order=order)
    for start in range(0, len(values), _ROWS):
        part = values[start : start + _ROWS]
        matrix[start : start + _ROWS] = part
        if not np.isfinite(part).all():  # here, while it is in the cache
            return None
    return matrix


def _side_by_side(columns: list[np.ndarray], *, order: str) -> np.ndarray:
    """Copy columns into a matrix of that layout."""
    matrix = np.empty((len(columns[0]), len(columns)), order=order)
    for start in range(0, len(matrix), _ROWS):
        part = matrix[start : start + _ROWS]
        np.stack([column[start : start + _ROWS] for column in columns], axis=1, out=part)
    return matrix


def _columns_of(data) -> tuple[list, list | np.ndarray, int]:
    """Return column labels, raw columns (a list, or an array with a column in each row) and the number of rows."""
    if isinstance(data, pd.Series):
        return [data.name], [data], len(data)
    if isinstance(data, pd.DataFrame):
        return list(data.columns), [data.iloc[:, j] for j in range(data.shape[1])], len(data)
    if hasattr(data, "toarray") and hasattr(data, "nnz") and not isinstance(data, type):  # some are dictionaries too
        raise DataError(f"Got a sparse matrix ({_type(data)}), which is not supported: pass X.toarray().")
    if isinstance(data, Mapping):
        return _from_mapping(data)
    if isinstance(data, np.ndarray):
        return _from_array(data)
    if isinstance(data, list | tuple):
        return _from_rows(data)
    if isinstance(data, type):  # a class has the protocols of its instances
        raise DataError(f"Got the class {data.__name__} itself, which holds no data. Pass {_ACCEPTED}.")
    if isinstance(data, str | bytes | PurePath) or hasattr(data, "read"):
        raise DataError(f"Got {_type(data)}, which is no data: read the file first: as_table(pandas.read_csv(path)).")
    frame = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        raise DataError(f"Got a lazy frame ({_type(data)}), which holds no values yet: collect it first (.collect()).")
    if isinstance(frame, nw.Series):
        return [frame.name], [frame], len(frame)
    if isinstance(frame, nw.DataFrame):
        return list(frame.columns), [frame[:, j] for j in range(frame.shape[1])], len(frame)
    return _from_protocol(data)


def _from_protocol(data) -> tuple[list, list | np.ndarray, int]:
    """Read what describes itself by a protocol: Arrow, data frame interchange, or array."""
    if hasattr(data, "__arrow_c_stream__"):
        try:
            frame = nw.from_arrow(data, backend="polars" if "polars" in sys.modules else "pyarrow")
        except ImportError as error:
            raise DataError(f"Got {_type(data)}, an Arrow table: install pyarrow to read it.") from error
        return _columns_of(frame.to_native())
    if hasattr(data, "__dataframe__"):
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # pandas 3 calls the protocol old; a frame that has nothing newer still works
            return _columns_of(pd.api.interchange.from_dataframe(data))
    if hasattr(data, "__array__"):
        return _from_array(np.asarray(data))
    raise DataError(f"Got {_type(data)}, which is not tabular. Pass {_ACCEPTED}.")


def _from_mapping(data: Mapping) -> tuple[list, list, int]:
    """Read a dictionary of columns by position; Series in it must agree on their row labels."""
    columns = []
    for name, column in data.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            raise DataError(f"Column {name!r} of the dictionary is {_type(column)}; give a list or an array of values.")
        if isinstance(column, list | tuple | range):
            column = objects(column)
        elif isinstance(column, pd.api.extensions.ExtensionArray | pd.Index):
            column = pd.Series(column)  # as in a data frame: an array of categories would turn into their levels
        elif hasattr(column, "__arrow_c_array__") and "pyarrow" in sys.modules:
            column = nw.from_native(sys.modules["pyarrow"].chunked_array([column]), series_only=True)
        elif not isinstance(column, pd.Series | np.ndarray):
            column = nw.from_native(column, series_only=True, pass_through=True)
            column = column if isinstance(column, nw.Series) else np.asarray(column)
        if np.ndim(column) != 1 and not isinstance(column, nw.Series):
            raise DataError(f"Column {name!r} of the dictionary has {np.ndim(column)} dimensions; one is needed.")
        columns.append(column)
    lengths = {str(name): len(column) for name, column in zip(data, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise DataError(f"The columns of the dictionary differ in length: {lengths}. Make them equally long.")
    indexes = [column.index for column in data.values() if isinstance(column, pd.Series)]
    if any(not index.equals(indexes[0]) for index in indexes):
        raise DataError(
            "The Series in the dictionary have different row labels: align them first (pandas.DataFrame(data))."
        )
    return list(data), columns, len(columns[0]) if columns else 0


def _from_array(data: np.ndarray) -> tuple[list, list | np.ndarray, int]:
    """Read a numpy array: two dimensions, or one of structured records."""
    if data.dtype.names and data.ndim == 1:
        wide = [name for name in data.dtype.names if data.dtype[name].shape]
        if wide:
            raise DataError(
                f"Got a structured array whose field {wide[0]!r} holds an array of shape {data.dtype[wide[0]].shape} "
                "in every row; one value is needed: give every entry a field of its own, or pass two dimensions."
            )
        return list(data.dtype.names), [data[name] for name in data.dtype.names], len(data)
    if data.ndim == 1:
        raise DataError(
            f"Got a one-dimensional array of shape {data.shape}; two dimensions (rows, columns) are needed. "
            "Use X.reshape(-1, 1) for one variable or X.reshape(1, -1) for one row."
        )
    if data.ndim != 2:
        raise DataError(
            f"Got an array of shape {data.shape}; exactly two dimensions (rows, columns) are needed: reshape it."
        )
    if isinstance(data, np.matrix):
        data = np.asarray(data)  # its columns would stay two-dimensional
    return [NO_LABEL] * data.shape[1], data.T, data.shape[0]


def _from_rows(data: list | tuple) -> tuple[list, list, int]:
    """Read a list of equally long rows."""
    for i, row in enumerate(data, 1):
        if isinstance(row, Mapping):
            raise DataError("Got a list of dictionaries: pass pandas.DataFrame(data).")
        if not isinstance(row, list | tuple | pd.Series) and np.ndim(row) != 1:
            raise DataError(f"Row {i} of the list is {_type(row)}; a list of rows is needed, such as [[1, 2], [3, 4]].")
        if len(row) != len(data[0]):
            raise DataError(f"Row {i} has {len(row)} entries and row 1 has {len(data[0])}: make all rows equally long.")
    p = len(data[0]) if data else 0
    return [NO_LABEL] * p, [objects(column) for column in zip(*data, strict=True)], len(data)


def checked_matrix(values) -> np.ndarray:
    """Copy a matrix of finite real numbers into float64; refuse anything else."""
    try:
        given = np.ma.asarray(values)  # a mask hides numbers: they are not data
    except ValueError as error:  # ragged
        raise DataError("The values of a Table are no matrix. Make it with as_table(data).") from error
    if given.dtype.kind not in "biuf" or given.ndim != 2 or given.shape[0] < 2 or given.shape[1] < 1:
        raise DataError(
            f"The values of a Table have shape {given.shape} and type {given.dtype}; a matrix of real numbers with "
            "at least 2 rows and 1 column is needed. Make it with as_table(data)."
        )
    with np.errstate(over="ignore", under="ignore"):
        matrix = np.array(given.data, dtype=np.float64, order="C")
    if np.ma.getmaskarray(given).any() or not np.isfinite(matrix).all():
        raise DataError("Values of a Table are missing or infinite. Make it with as_table(data), which names them.")
    return matrix


def _type(value) -> str:
    """Name the type of an argument."""
    return "None" if value is None else f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
