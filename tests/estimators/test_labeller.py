import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.utils._param_validation import InvalidParameterError

from solah import LinguisticLabeller
from solah.exceptions import ColumnError, DataError
from solah.model import WordRange

readings = arrays(
    float,
    st.tuples(st.integers(1, 30), st.integers(1, 4)),
    elements=st.one_of(st.floats(-1e6, 1e6), st.just(float("nan"))),
)


@given(readings, st.integers(2, 6), st.sampled_from(["uniform", "quantile"]))
def test_masses_are_shares_of_at_most_two_neighbours(X, n_words, placement):
    labeller = LinguisticLabeller(n_words, placement=placement).fit(X)
    masses = labeller.transform(X)
    assert masses.min() >= 0
    start = 0
    for j, attribute in enumerate(labeller.attributes_):
        part = masses[:, start : start + attribute.n_focal_sets]
        np.testing.assert_allclose(part.sum(axis=1), 1.0, atol=1e-12)
        known = part[~np.isnan(X[:, j])]
        assert (np.count_nonzero(known, axis=1) <= 2).all()
        start += attribute.n_focal_sets
    assert start == masses.shape[1] == len(labeller.get_feature_names_out())


@given(st.floats(-10, 40))
def test_the_appropriateness_of_a_word_is_the_trapezium_that_describe_tells(x):
    words = {"t": {"cold": 0, "mild": 10, "hot": 30}}
    frame = pd.DataFrame({"t": [0.0, 5.5, 11.0, 17.0, 23.0, 30.0, 1.0]})
    labeller = LinguisticLabeller(words=words).fit(frame)
    masses = labeller.transform(pd.DataFrame({"t": [x]}))[0]
    (attribute,) = labeller.attributes_
    for known in labeller.describe("t"):
        sets = [known.word in focal_set for focal_set in attribute.focal_sets]
        appropriateness = masses[sets].sum()
        low, high = known.fully
        if low <= x <= high:
            assert appropriateness == pytest.approx(1.0)
        low, high = known.partly
        if not low < x < high:
            assert appropriateness == pytest.approx(0.0, abs=1e-7)


def test_describe_tells_the_ranges_of_the_words():
    words = {"t": {"cold": 0, "mild": 10, "hot": 30}}
    labeller = LinguisticLabeller(words=words, feature_types={"t": "continuous"})
    labeller.fit(pd.DataFrame({"t": [0.0, 30.0]}))
    inf = float("inf")
    assert labeller.describe("t") == (
        WordRange("cold", fully=(-inf, 5.0), partly=(-inf, 10.0)),
        WordRange("mild", fully=(5.0, 20.0), partly=(0.0, 30.0)),
        WordRange("hot", fully=(20.0, inf), partly=(10.0, inf)),
    )
    assert str(labeller.describe("t")[1]) == "mild: fully from 5 to 20, partly from 0 to 30"


def test_describe_helps_with_names_and_kinds():
    labeller = LinguisticLabeller().fit(pd.DataFrame({"colour": ["red", "blue", "green"]}))
    with pytest.raises(ColumnError, match="the labeller has no column 'color'.*'colour'"):
        labeller.describe("color")
    with pytest.raises(DataError, match=r"categorical: each of its states \(blue, green, red\)"):
        labeller.describe("colour")


def test_states_have_a_word_each_and_unknown_ones_are_ignorance():
    frame = pd.DataFrame({"colour": ["red", "blue", "red", None]})
    labeller = LinguisticLabeller().fit(frame)
    masses = labeller.transform(pd.DataFrame({"colour": ["blue", "red", "mauve", None]}))
    np.testing.assert_allclose(masses, [[1, 0], [0, 1], [1 / 3, 2 / 3], [1 / 3, 2 / 3]])


def test_an_ordinal_number_between_two_states_shares_its_mass():
    labeller = LinguisticLabeller().fit([[1], [2], [4], [1]])
    np.testing.assert_allclose(labeller.transform([[3], [9]]), [[0, 0.5, 0.5], [0, 0, 1]])


@pytest.mark.parametrize("library", [pd, pl])
def test_names_of_frames_reach_the_output_unchanged(library):
    frame = library.DataFrame({"Öltemperatur °C": [1.5, 2.5, 9.5], "läuft": ["ja", "nein", "ja"]})
    names = LinguisticLabeller(2).fit(frame).get_feature_names_out()
    assert list(names) == [
        "Öltemperatur °C is low",
        "Öltemperatur °C is low-or-high",
        "Öltemperatur °C is high",
        "läuft is ja",
        "läuft is nein",
    ]


def test_a_constant_column_has_one_word_and_an_empty_one_too():
    labeller = LinguisticLabeller().fit([[7.5, np.nan], [7.5, np.nan], [7.5, np.nan]])
    assert [attribute.words for attribute in labeller.attributes_] == [("any",), ("any",)]
    np.testing.assert_array_equal(labeller.transform([[3.0, 5.0]]), [[1.0, 1.0]])


def test_words_without_peaks_are_placed_and_must_fit():
    skewed = pd.DataFrame({"x": [0.0] * 9 + [1.5, 7.25]})
    labeller = LinguisticLabeller(words={"x": ["none", "some", "much"]}).fit(skewed)
    assert [known.word for known in labeller.describe("x")] == ["none", "some", "much"]
    with pytest.raises(DataError, match="column 'x' is constant"):
        LinguisticLabeller(words={"x": ["few", "many"]}, feature_types={"x": "continuous"}).fit(
            pd.DataFrame({"x": [1.5, 1.5]})
        )


def test_peaks_for_states_are_refused():
    frame = pd.DataFrame({"colour": ["red", "blue", "green"]})
    for words in ({"pale": 0, "deep": 1}, ["pale", "deep"]):
        with pytest.raises(DataError, match="'colour' is categorical.*declare it continuous"):
            LinguisticLabeller(words={"colour": words}).fit(frame)


def test_parameters_are_checked():
    with pytest.raises(InvalidParameterError, match="'n_words' parameter of LinguisticLabeller"):
        LinguisticLabeller(1).fit([[1.0]])
    with pytest.raises(InvalidParameterError, match="'placement' parameter"):
        LinguisticLabeller(placement="clever").fit([[1.0]])


def test_infinite_readings_are_refused_in_training_and_described_in_use():
    with pytest.raises(DataError, match="x0.*infinite"):
        LinguisticLabeller().fit([[1.5], [np.inf], [2.5]])
    labeller = LinguisticLabeller(2).fit([[1.5], [2.5], [3.5]])
    np.testing.assert_array_equal(labeller.transform([[np.inf], [-np.inf]]), [[0, 0, 1], [1, 0, 0]])


def test_numbers_that_a_document_cannot_hold_are_refused():
    with pytest.raises(DataError, match="'x0' has -1.7e.308, and numbers may go from .* scale it"):
        LinguisticLabeller().fit([[-1.7e308], [0.5], [1.7e308]])
    with pytest.raises(DataError, match="'x0' spans 2e-300 only, .* scale it up"):
        LinguisticLabeller().fit([[0.0], [1e-300], [2e-300]])
    with pytest.raises(DataError, match="the states of column 'x0' must be .* to 1e.36. Got"):
        LinguisticLabeller(feature_types={"x0": "categorical"}).fit([[1.0], [1e300]])


def test_peaks_too_close_for_a_document_become_one():
    (attribute,) = LinguisticLabeller(3).fit([[0.0], [1e-40], [1e-35], [0.5], [1.0]]).attributes_
    assert attribute.peaks == (0.0, 0.5, 1.0)


def test_works_in_a_pipeline_with_named_output():
    labeller = LinguisticLabeller(2).set_output(transform="pandas")
    frame = pd.DataFrame({"a": [1.5, 2.5, 4.5]})
    assert list(labeller.fit_transform(frame).columns) == [
        "a is low",
        "a is low-or-high",
        "a is high",
    ]
