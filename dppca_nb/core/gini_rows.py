"""New rows for a result that was made from others: the same variables, in whatever order their names come."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dppca_nb._columns import listing, show
from dppca_nb.core.pca import row_labels
from dppca_nb.table import DataError, as_matrix


def new_rows(data, variables) -> tuple[np.ndarray, pd.Index]:
    """Check new rows and bring their columns into the order of the variables.

    Parameters
    ----------
    data : Table, DataFrame or array_like, shape (m, p), m >= 1
        Columns without names are taken by position.
    variables : sequence of str, length p
        Display names.

    Returns
    -------
    X : ndarray, shape (m, p)
        Fresh.
    index : Index
        Row labels.

    Raises
    ------
    DataError
        For data that cannot be used, and for other variables.

    Examples
    --------
    >>> new_rows(pd.DataFrame({"b": [1.0], "a": [2.0]}), ["a", "b"])[0]
    array([[2., 1.]])
    """
    variables = list(variables)
    single = _is_one_row(data)
    doubled = data
    if single:  # the door wants two rows, for good reasons that do not hold here
        twice = pd.concat([data, data]) if isinstance(data, pd.DataFrame) else np.repeat(np.asarray(data), 2, axis=0)
        doubled = twice
    X, names = as_matrix(doubled)
    if single:
        X = X[:1]
    index = row_labels(data, len(X))
    if isinstance(data, np.ndarray | list | tuple):
        if X.shape[1] != len(variables):
            raise DataError(
                f"The rows have {X.shape[1]} columns; the result has {len(variables)} variables: "
                f"{listing([show(name) for name in variables])}. Give one column for each, in this order."
            )
        return X, index
    if set(names) != set(variables):
        absent = listing([show(name) for name in variables if name not in names]) or "none"
        others = listing([show(name) for name in names if name not in variables]) or "none"
        raise DataError(
            f"The rows are not of the variables of the result. Absent: {absent}. Not in the result: {others}. "
            "Rename or select columns, or pass an array to take them by position."
        )
    return X[:, [names.index(name) for name in variables]], index


def _is_one_row(data) -> bool:
    """Tell whether the data are a frame, an array or a list with a single row."""
    if isinstance(data, pd.DataFrame):
        return len(data) == 1
    if isinstance(data, np.ndarray):
        return data.ndim == 2 and len(data) == 1
    return isinstance(data, list | tuple) and len(data) == 1 and isinstance(data[0], list | tuple | np.ndarray)
