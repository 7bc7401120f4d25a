"""Small public data sets, offline, each with its source and its traps; and generators of data whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

import numpy as np
import pandas as pd

from dppca_nb._simulated import contaminate, elliptical, five_clusters

__all__ = [
    "RAND_HIE_LABELS",
    "RAND_HIE_SCALES",
    "cars2004",
    "contaminate",
    "elliptical",
    "five_clusters",
    "iris",
    "rand_hie",
    "usarrests",
]

RAND_HIE_SCALES: Mapping[str, float] = MappingProxyType(
    {
        "mdvis": 77.0,
        "lncoins": float(np.log(101)),
        "idp": 1.0,
        "lpi": 7.163699,
        "fmde": 8.294049,
        "physlm": 1.0,
        "disea": 58.6,
        "hlthg": 1.0,
        "hlthf": 1.0,
        "hlthp": 1.0,
    }
)
"""The published upper end of each variable's range (every lower end is 0): public scales for `rand_hie`."""

RAND_HIE_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "mdvis": "outpatient visits to a doctor",
        "lncoins": "coinsurance rate (log of percent + 1)",
        "idp": "plan with an individual deductible",
        "lpi": "yearly participation incentive (log)",
        "fmde": "maximum expenditure (log)",
        "physlm": "physical limitation",
        "disea": "chronic diseases",
        "hlthg": "rates own health as good",
        "hlthf": "rates own health as fair",
        "hlthp": "rates own health as poor",
    }
)
"""What each variable of `rand_hie` means, in plain words."""


def iris() -> pd.DataFrame:
    """Measure 150 iris flowers of three species.

    Returns
    -------
    DataFrame of shape (150, 5)
        ``Sepal.Length``, ``Sepal.Width``, ``Petal.Length``, ``Petal.Width`` in cm, and ``Species`` as a category (a
        label, not a variable: use ``as_table(iris(), numeric_only=True)``). Names and numbers are those of R.

    Notes
    -----
    Source: R. A. Fisher (1936), The use of multiple measurements in taxonomic problems, doi
    10.1111/j.1469-1809.1936.tb02137.x; collected by E. Anderson.

    Traps: rows 102 and 143 are identical, so a method that normalises differences of pairs must say what it does with
    them. Names contain dots. Copies with two wrong rows (35 and 38) circulate; this is not one of them.

    Examples
    --------
    >>> flowers = iris()
    >>> flowers.shape, flowers["Species"].cat.categories.tolist()
    ((150, 5), ['setosa', 'versicolor', 'virginica'])
    >>> (flowers.loc[101] == flowers.loc[142]).all().item()
    True
    """
    return _read("iris.csv", "Iris").astype({"Species": "category"})


def usarrests() -> pd.DataFrame:
    """Give arrest rates and urban population of the 50 US states in 1973.

    Returns
    -------
    DataFrame of shape (50, 4), index "State"
        ``Murder``, ``Assault``, ``Rape``: arrests per 100,000 residents; ``UrbanPop``: percent of the population in
        cities.

    Notes
    -----
    Source: D. R. McNeil (1977), Interactive Data Analysis, Wiley, as distributed with R.

    Traps: units differ, so the first unscaled component is almost ``Assault`` alone; ``Assault`` and ``UrbanPop``
    are integers. McNeil's transcription error for Maryland (UrbanPop 67 where the table he used has 76.6) is kept, as R
    keeps it.

    Examples
    --------
    >>> usarrests().loc["Maryland"].tolist()
    [11.3, 300.0, 67.0, 27.8]
    """
    return _read("usarrests.csv", "US arrests 1973", index="State")


def cars2004(*, price: bool = False) -> pd.DataFrame:
    """Describe 24 car models of 2004.

    Parameters
    ----------
    price : bool, default False
        Whether to add ``Price``. It was RECONSTRUCTED from printed results of a Gini PCA and is known only up to an
        affine map: whatever does not depend on its unit and origin (ranks, correlations, Gini correlations, components
        of standardised data) is that of the paper, but its values are no facts about the cars and no euros.

    Returns
    -------
    DataFrame of shape (24, 6), or (24, 7), index "Model"
        ``Cylinder`` (cm³), ``Power`` (hp), ``Speed`` (km/h), ``Weight`` (kg), ``Width`` (mm), ``Length`` (mm).

    Notes
    -----
    Source: M. Tenenhaus, auto_2004 (published technical data); used in A. Charpentier, S. Mussard and T. Ouraga,
    Principal component analysis: a generalized Gini approach, doi 10.48550/arXiv.1910.10133.

    Traps: ties (the lowest ``Speed``, 135, occurs twice; ``Cylinder`` has four tied pairs); the Ferrari Enzo is
    2650 mm wide as published; every column is an integer.

    Examples
    --------
    >>> cars2004().columns.tolist()
    ['Cylinder', 'Power', 'Speed', 'Weight', 'Width', 'Length']
    >>> int((cars2004()["Speed"] == 135).sum())
    2
    """
    frame = _read("cars2004.csv", "Cars 2004", index="Model")
    return frame if price else frame.drop(columns="Price")


def rand_hie() -> pd.DataFrame:
    """Give visits to doctors, insurance plans and health in the RAND Health Insurance Experiment, 1974 to 1982.

    Returns
    -------
    DataFrame of shape (20190, 10)
        ``mdvis``, ``lncoins``, ``idp``, ``lpi``, ``fmde``, ``physlm``, ``disea``, ``hlthg``, ``hlthf``, ``hlthp``;
        `RAND_HIE_LABELS` says what they mean, `RAND_HIE_SCALES` gives public scales.

    Notes
    -----
    Source: the RAND Corporation's Health Insurance Experiment, public domain, in the extract of P. Deb and P. K.
    Trivedi (2002), doi 10.1016/S0167-6296(02)00008-5; A. C. Cameron and P. K. Trivedi (2005), Microeconometrics, doi
    10.1017/CBO9780511811241, chapter 20.

    The scales are the ranges in the published description of the data (the coinsurance rate runs to 100 percent, hence
    log 101; the others are printed maxima), so they are treated as public. With data of your own, take limits that were
    known before anybody looked at the rows: an observed maximum is itself a private fact.

    Traps: 14,420 rows have an identical twin. A row is one person in one YEAR, and neighbouring rows are often the
    same person: replacing one row protects a year of a person, not the person. ``hlthg``, ``hlthf`` and ``hlthp``
    exclude each other (all 0 is excellent). ``physlm`` holds some fractions among zeros and ones; ``lncoins`` takes
    five values.

    Examples
    --------
    >>> from dppca_nb.table import as_table, scale_table
    >>> people = rand_hie()
    >>> people.shape, int(people.duplicated(keep=False).sum())
    ((20190, 10), 14420)
    >>> scaled, from_sample = scale_table(as_table(people), RAND_HIE_SCALES)
    >>> scaled.values.min().item(), round(scaled.values.max().item(), 6), from_sample
    (0.0, 1.0, False)
    """
    people = _read("rand_hie.csv.gz", "RAND HIE")
    people.attrs["labels"] = dict(RAND_HIE_LABELS)
    return people


def _read(file: str, title: str, *, index: str | None = None) -> pd.DataFrame:
    """Read a file of the package's data folder into a frame with a title."""
    with resources.as_file(resources.files("dppca_nb") / "data" / file) as path:
        frame = pd.read_csv(path, index_col=index)
    frame.attrs["title"] = title
    return frame
