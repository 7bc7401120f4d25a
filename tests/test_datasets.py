"""The shipped data are exact, offline and quick; the generators give what their docstrings say, reproducibly."""

import hashlib
import time

import numpy as np
import pandas as pd
import pytest

from dppca_nb import datasets
from dppca_nb.datasets import (
    RAND_HIE_LABELS,
    RAND_HIE_SCALES,
    cars2004,
    contaminate,
    elliptical,
    five_clusters,
    iris,
    rand_hie,
    usarrests,
)
from dppca_nb.table import as_table, scale_table


def digest(frame):
    """Hash every bit of the values (little-endian float64, row by row)."""
    return hashlib.sha256(np.ascontiguousarray(frame.to_numpy(), dtype="<f8").tobytes()).hexdigest()[:16]


# --- shipped data ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "shape", "title", "bits"),
    [
        # the hashes are those of the numbers of R 4.2 (iris, USArrests), of the authors' script, and of statsmodels
        (iris().iloc[:, :4], (150, 4), "Iris", "012f498fe9c8b3b3"),
        (usarrests(), (50, 4), "US arrests 1973", "472b505443cb4036"),
        (rand_hie(), (20190, 10), "RAND HIE", "08a4b4e0b848c29e"),
        (cars2004(), (24, 6), "Cars 2004", "34493e22fbf13921"),
        (cars2004(price=True), (24, 7), "Cars 2004", "96bd4ad2b2ad740e"),
    ],
    ids=["iris", "usarrests", "rand_hie", "cars", "cars with price"],
)
def test_every_number_of_a_shipped_data_set_is_exact_and_it_has_a_title(frame, shape, title, bits):
    assert frame.shape == shape
    assert frame.attrs["title"] == title
    assert digest(frame) == bits
    assert as_table(frame).names == tuple(frame.columns)


def test_iris_has_the_names_of_r_and_species_as_labels():
    flowers = iris()
    assert flowers.columns.tolist() == ["Sepal.Length", "Sepal.Width", "Petal.Length", "Petal.Width", "Species"]
    assert flowers["Species"].value_counts().to_dict() == {"setosa": 50, "versicolor": 50, "virginica": 50}
    table = as_table(flowers, numeric_only=True)
    assert [(column.name, column.reason) for column in table.left_out] == [("Species", "categories")]


def test_iris_is_the_correct_copy_and_has_one_pair_of_twins():
    flowers = iris()
    # the rows that a widely copied file has wrong
    assert flowers.iloc[34, :4].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert flowers.iloc[37, :4].tolist() == [4.9, 3.6, 1.4, 0.1]
    assert flowers.index[flowers.duplicated(keep=False)].tolist() == [101, 142]


def test_usarrests_is_labelled_by_state_and_agrees_with_prcomp_of_r():
    arrests = usarrests()
    assert arrests.index.name == "State"
    assert arrests.index.is_monotonic_increasing
    assert arrests.loc["Florida"].tolist() == [15.4, 335.0, 80.0, 31.9]
    standardised = scale_table(as_table(arrests), "sample")[0].values
    sdev = np.sqrt(np.linalg.eigvalsh(np.cov(standardised.T))[::-1])
    # R 4.2: prcomp(USArrests, scale. = TRUE)$sdev
    np.testing.assert_allclose(sdev, [1.5748782743912282, 0.9948694148177643, 0.5971291155025265, 0.416449381953961])


def test_cars_are_labelled_by_model_and_have_the_ties_that_their_docstring_names():
    cars = cars2004()
    assert cars.index.name == "Model"
    assert cars.index.is_unique
    assert cars.columns.tolist() == ["Cylinder", "Power", "Speed", "Weight", "Width", "Length"]
    assert (cars["Speed"].min(), int((cars["Speed"] == 135).sum())) == (135, 2)
    assert cars["Cylinder"].value_counts().tolist()[:5] == [2, 2, 2, 2, 1]
    assert cars.loc["Ferrari Enzo", ["Width", "Length"]].tolist() == [2650, 4700]


def test_the_reconstructed_price_comes_only_when_asked_and_the_documentation_says_what_it_is():
    assert cars2004(price=True).drop(columns="Price").equals(cars2004())
    assert "RECONSTRUCTED" in cars2004.__doc__


def test_rand_hie_has_the_traps_that_its_docstring_names():
    people = rand_hie()
    assert int(people.duplicated(keep=False).sum()) == 14420
    assert people[["hlthg", "hlthf", "hlthp"]].sum(axis=1).max() == 1
    assert people["lncoins"].nunique() == 5
    assert not people["physlm"].isin([0, 1]).all()


def test_the_public_scales_of_rand_hie_cover_its_range_in_order_and_cannot_be_changed():
    people = rand_hie()
    assert list(RAND_HIE_SCALES) == list(RAND_HIE_LABELS) == people.columns.tolist()
    scaled, from_sample = scale_table(as_table(people), RAND_HIE_SCALES)
    assert not from_sample
    assert scaled.values.min() == 0
    np.testing.assert_allclose(scaled.values.max(axis=0), 1, atol=1e-6)
    assert (scaled.values <= 1).all()
    with pytest.raises(TypeError, match="assignment"):
        RAND_HIE_SCALES["mdvis"] = 1


@pytest.mark.parametrize("load", [iris, usarrests, cars2004, rand_hie])
def test_every_call_gives_a_fresh_frame(load):
    first = load()
    before = first.iloc[0, 0]
    first.iloc[0, 0] = before + 1
    assert load().iloc[0, 0] == before


def test_the_largest_data_set_loads_in_a_blink():
    times = []
    for _ in range(3):
        start = time.perf_counter()
        rand_hie()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.3


def test_every_data_set_names_its_source_and_its_traps():
    for load in (iris, usarrests, cars2004, rand_hie):
        assert "Source: " in load.__doc__
        assert "Traps: " in load.__doc__
    assert all(hasattr(datasets, name) for name in datasets.__all__)


# --- generators ------------------------------------------------------------------------------------------------------

GENERATORS = [
    lambda rng: elliptical(30, 4, rng=rng),
    lambda rng: elliptical(30, 4, df=3, rng=rng),
    lambda rng: five_clusters(30, p=6, rng=rng),
    lambda rng: contaminate(np.arange(40.0).reshape(20, 2), fraction=0.2, magnitude=5, rng=rng)[0],
]


@pytest.mark.parametrize("make", GENERATORS, ids=["normal", "t", "clusters", "contaminate"])
def test_a_seed_gives_the_same_rows_as_its_generator_and_the_global_state_is_untouched(make):
    state = np.random.get_state()[1].copy()  # noqa: NPY002  this is the state that must not move
    first = make(7)
    assert first.equals(make(np.random.default_rng(7)))
    assert not first.equals(make(8))
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002  as above


@pytest.mark.parametrize("rng", [None, True, -1, 1.5, "seed"])
@pytest.mark.parametrize("make", GENERATORS, ids=["normal", "t", "clusters", "contaminate"])
def test_what_is_no_generator_or_seed_is_refused(make, rng):
    with pytest.raises(ValueError, match=r"rng must be a numpy\.random\.Generator or a seed"):
        make(rng)


def test_seeded_rows_are_the_ones_on_record():
    np.testing.assert_allclose(elliptical(3, 2, rng=7).iloc[0], [-0.7828556647057493, 0.4511624130502541], rtol=1e-9)
    np.testing.assert_allclose(
        elliptical(3, 2, df=3, rng=7).iloc[0], [-0.718696558813954, 0.4141872995800474], rtol=1e-9
    )
    np.testing.assert_allclose(five_clusters(5, p=5, rng=7).iloc[0, :2].astype(float), [10.00123, 0.2987455], rtol=1e-6)
    assert contaminate(np.ones((20, 2)), fraction=0.15, magnitude=3, rng=7)[1].tolist() == [11, 13, 17]


@pytest.mark.parametrize("df", [None, 8])
def test_the_covariance_of_elliptical_data_is_the_documented_one(df):
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    data = elliptical(200_000, 3, spectrum=[9, 4, 1], directions=V, df=df, rng=1)
    expected = V @ np.diag([9.0, 4.0, 1.0]) @ V.T * (1 if df is None else df / (df - 2))
    np.testing.assert_allclose(data.cov().to_numpy(), expected, atol=0.15)
    assert data.columns.tolist() == ["x1", "x2", "x3"]


def test_few_degrees_of_freedom_give_heavy_tails_along_whole_rows():
    normal = elliptical(20_000, 2, rng=1).to_numpy()
    heavy = elliptical(20_000, 2, df=2, rng=1).to_numpy()
    ratio = heavy / normal
    np.testing.assert_allclose(ratio[:, 0], ratio[:, 1])  # one divisor per row: elliptical, not independent columns
    assert np.abs(heavy).max() > 10 * np.abs(normal).max()


def test_the_drawn_directions_are_uniform():
    corner = [elliptical(2, 2, spectrum=[1, 0], rng=seed).iloc[0].to_numpy() for seed in range(400)]
    angles = np.array([np.arctan2(*row) for row in corner]) % np.pi
    assert abs(np.mean(np.cos(2 * angles))) < 0.12  # a uniform axis has mean 0, standard error 0.035
    assert abs(np.mean(np.sin(2 * angles))) < 0.12


def test_the_five_clusters_have_the_documented_centres_spreads_and_sizes():
    data = five_clusters(50_003, p=7, separation=6, rng=1)
    assert data["cluster"].value_counts(sort=False).tolist() == [10_001, 10_001, 10_000, 10_001, 10_000]
    assert data["cluster"].is_monotonic_increasing
    for k, variance in enumerate([1, 1, 5, 5, 8]):
        rows = data.loc[data["cluster"] == str(k + 1)].drop(columns="cluster").to_numpy()
        np.testing.assert_allclose(rows.mean(axis=0), 6 * np.eye(5, 7)[k], atol=0.12)
        np.testing.assert_allclose(np.cov(rows.T), variance * np.eye(7), atol=0.06 * variance)


def test_the_default_five_clusters_have_a_thousand_rows_each_and_twenty_variables():
    data = five_clusters(rng=1)
    assert data.shape == (5000, 21)
    assert set(data["cluster"].value_counts()) == {1000}
    assert as_table(data, numeric_only=True).p == 20


def test_contamination_multiplies_the_chosen_rows_and_leaves_the_caller_s_data_alone():
    flowers = iris()
    bad, rows = contaminate(flowers, fraction=0.1, magnitude=10, rng=3)
    assert len(rows) == 15
    assert np.array_equal(rows, np.unique(rows))
    others = np.setdiff1d(np.arange(150), rows)
    numbers = flowers.columns[:4]
    assert np.array_equal(bad.loc[rows, numbers], flowers.loc[rows, numbers] * 10)
    assert bad.loc[others].equals(flowers.loc[others])
    assert bad["Species"].equals(flowers["Species"])
    assert flowers.equals(iris())


def test_contamination_of_named_rows_works_on_integers_arrays_and_repeated_names():
    source = np.array([[1, 2], [3, 4], [5, 6]])
    bad, rows = contaminate(source, rows=[2, 0, 2], magnitude=-0.5)
    assert rows.tolist() == [0, 2]
    assert bad.to_numpy().tolist() == [[-0.5, -1], [3, 4], [-2.5, -3]]
    assert source.tolist() == [[1, 2], [3, 4], [5, 6]]
    twice = pd.DataFrame(source, columns=["a", "a"])
    assert contaminate(twice, rows=[1], magnitude=2)[0].to_numpy().tolist() == [[1, 2], [6, 8], [5, 6]]


def test_a_small_fraction_still_contaminates_one_row():
    assert len(contaminate(np.ones((5, 2)), fraction=0.001, magnitude=2, rng=1)[1]) == 1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: elliptical(0, 2, rng=1), "n must be a whole number, at least 1; got 0"),
        (lambda: elliptical(2, 2.5, rng=1), r"p must be a whole number, at least 1; got 2\.5"),
        (lambda: elliptical(2, True, rng=1), "p must be a whole number"),
        (lambda: elliptical(2, 2, spectrum=[1], rng=1), "spectrum must hold p = 2"),
        (lambda: elliptical(2, 2, spectrum=[1, -1], rng=1), "spectrum must hold p = 2"),
        (lambda: elliptical(2, 2, spectrum=[1, np.nan], rng=1), "spectrum must hold p = 2"),
        (lambda: elliptical(2, 2, df=0, rng=1), "df must be a positive, finite number"),
        (lambda: elliptical(2, 2, df=np.inf, rng=1), "df must be a positive, finite number"),
        (lambda: elliptical(2, 2, directions=np.ones((2, 2)), rng=1), "directions must be an orthogonal matrix"),
        (lambda: elliptical(2, 2, directions=np.eye(3), rng=1), r"shape \(2, 2\); got shape \(3, 3\)"),
        (lambda: five_clusters(4, rng=1), "n must be a whole number, at least 5; got 4"),
        (lambda: five_clusters(10, p=4, rng=1), "p must be a whole number, at least 5; got 4"),
        (lambda: five_clusters(10, separation=-1, rng=1), "separation must be a finite number, at least 0"),
        (lambda: contaminate(np.ones((3, 2)), magnitude=2, rng=1), "exactly one of fraction"),
        (lambda: contaminate(np.ones((3, 2)), fraction=0.5, rows=[1], magnitude=2, rng=1), "exactly one of fraction"),
        (lambda: contaminate(np.ones((3, 2)), fraction=0, magnitude=2, rng=1), "fraction must be above 0"),
        (lambda: contaminate(np.ones((3, 2)), fraction=1.1, magnitude=2, rng=1), "fraction must be above 0"),
        (lambda: contaminate(np.ones((3, 2)), rows=[3], magnitude=2), "rows must be positions from 0 to 2"),
        (lambda: contaminate(np.ones((3, 2)), rows=[-1], magnitude=2), "rows must be positions from 0 to 2"),
        (lambda: contaminate(np.ones((3, 2)), rows=[], magnitude=2), "rows must be positions from 0 to 2"),
        (lambda: contaminate(np.ones((3, 2)), rows=[0.5], magnitude=2), "rows must be positions from 0 to 2"),
        (lambda: contaminate(np.ones((3, 2)), rows=[0], magnitude=np.inf), "magnitude must be a finite number"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(call, text):
    with pytest.raises(ValueError, match=text):
        call()
