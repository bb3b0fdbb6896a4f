import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from solah import LinguisticLabeller
from solah.exceptions import ColumnError, DataError

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
    for j, feature in enumerate(labeller.features_):
        part = masses[:, start : start + feature.n_focal_sets]
        np.testing.assert_allclose(part.sum(axis=1), 1.0, atol=1e-12)
        known = part[~np.isnan(X[:, j])]
        assert (np.count_nonzero(known, axis=1) <= 2).all()
        start += feature.n_focal_sets
    assert start == masses.shape[1] == len(labeller.get_feature_names_out())


@given(st.floats(-10, 40))
def test_the_appropriateness_of_a_word_is_the_trapezium_that_describe_tells(x):
    words = {"t": {"cold": 0, "mild": 10, "hot": 30}}
    frame = pd.DataFrame({"t": [0.0, 5.5, 11.0, 17.0, 23.0, 30.0, 1.0]})
    labeller = LinguisticLabeller(words=words).fit(frame)
    masses = labeller.transform(pd.DataFrame({"t": [x]}))[0]
    (feature,) = labeller.features_
    for known in labeller.describe("t"):
        sets = [known.word in focal_set for focal_set in feature.focal_sets]
        appropriateness = masses[sets].sum()
        low, high = known.fully
        if low <= x <= high:
            assert appropriateness == pytest.approx(1.0)
        low, high = known.partly
        if not low < x < high:
            assert appropriateness == pytest.approx(0.0, abs=1e-7)


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
    assert [feature.words for feature in labeller.features_] == [("any",), ("any",)]
    np.testing.assert_array_equal(labeller.transform([[3.0, 5.0]]), [[1.0, 1.0]])


def test_words_without_peaks_are_placed_and_must_fit():
    skewed = pd.DataFrame({"x": [0.0] * 9 + [1.5, 7.25]})
    labeller = LinguisticLabeller(words={"x": ["none", "some", "much"]}).fit(skewed)
    assert [known.word for known in labeller.describe("x")] == ["none", "some", "much"]
    with pytest.raises(DataError, match="column 'x' is constant"):
        LinguisticLabeller(words={"x": ["few", "many"]}, feature_types={"x": "continuous"}).fit(
            pd.DataFrame({"x": [1.5, 1.5]})
        )


def test_infinite_readings_are_described():
    labeller = LinguisticLabeller(2).fit([[1.5], [2.5], [3.5]])
    np.testing.assert_array_equal(labeller.transform([[np.inf], [-np.inf]]), [[0, 0, 1], [1, 0, 0]])
    (close,) = LinguisticLabeller(3).fit([[0.0], [1e-40], [1e-35], [0.5], [1.0]]).features_
    assert close.peaks == (0.0, 0.5, 1.0)


def test_what_cannot_be_described_is_refused():
    frame = pd.DataFrame({"colour": ["red", "blue", "green"]})
    for labeller, X, message in (
        (LinguisticLabeller(1), [[1.0]], "'n_words' parameter of LinguisticLabeller"),
        (LinguisticLabeller(placement="clever"), [[1.0]], "'placement' parameter"),
        (LinguisticLabeller(words={"colour": ["pale", "deep"]}), frame, "declare it continuous"),
        (LinguisticLabeller(words={"colour": {"pale": 0, "deep": 1}}), frame, "is categorical"),
        (LinguisticLabeller(), [[1.5], [np.inf], [2.5]], "x0.*infinite"),
        (LinguisticLabeller(), [[-1.7e308], [0.5], [1.7e308]], "'x0' has -1.7e.308, .* scale it"),
        (LinguisticLabeller(), [[0.0], [1e-300], [2e-300]], "'x0' spans 2e-300 only, .* scale it"),
        (LinguisticLabeller(feature_types={"x0": "categorical"}), [[1.0], [1e300]], "to 1e.36. Go"),
    ):
        with pytest.raises(ValueError, match=message):
            labeller.fit(X)
    labeller = LinguisticLabeller().fit(frame)
    with pytest.raises(ColumnError, match="the labeller has no column 'color'.*'colour'"):
        labeller.describe("color")
    with pytest.raises(
        DataError, match=r"categorical: its words are its categories \(blue, green, red\)"
    ):
        labeller.describe("colour")
