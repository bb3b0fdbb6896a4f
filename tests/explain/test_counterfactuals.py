"""What would change a decision does so, and nothing nearer does."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_models import ADDITIVE_SHAPES, SHAPES, random_model, random_rows
from solah import RuleClassifier
from solah.data import Kind
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.explain import ChangeFinder
from solah.explain.paths import has_whole_numbers, rounded_outward
from solah.model import (
    AdditiveNode,
    Branch,
    Feature,
    Model,
    Target,
    Term,
    TermInput,
    TreeNode,
)
from solah.model.evaluate import run
from solah.model.features import cored_feature

WEIGHED = ("words and pairs", "groups")


def decide(model, rows):
    return model.target.decide(run(model.program, rows))


def with_moves(model, row, moves, which="after"):
    places = {feature.name: j for j, feature in enumerate(model.features)}
    changed = row.copy()
    for move in moves:
        feature = model.features[places[move.feature]]
        value = getattr(move, which)
        if not feature.is_continuous:
            value = feature.peaks[feature.categories.index(value)]
        changed[places[move.feature]] = value
    return changed


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 3))
@settings(max_examples=25)
def test_every_change_fed_back_changes_the_decision(shape, seed, n_classes):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    row = random_rows(rng, model, 1)[0]
    decided = decide(model, row[None, :])[0]
    found = ChangeFinder(model).of_row(row)
    assert found.decision == model.target.classes[decided]
    for change in (*found.one, *([found.two] if found.two else [])):
        for which in ("after", "rounded"):
            changed = with_moves(model, row, change.moves, which)
            states = model.target.classes[decide(model, changed[None, :])[0]]
            assert states == change.decision != found.decision
            low_high = [(a.low, a.high) for a in model.features]
            for place in np.flatnonzero(changed != row):
                low, high = low_high[place]
                if low is not None and not np.isnan(row[place]):
                    assert min(low, row[place]) <= changed[place] <= max(high, row[place])


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 3))
@settings(max_examples=15)
def test_no_smaller_change_of_one_reading_exists(shape, seed, n_classes):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, n_classes)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    decided = decide(model, row[None, :])[0]
    found = ChangeFinder(model).of_row(row)
    smallest = {change.moves[0].feature: change for change in found.one}
    for place, feature in enumerate(model.features):
        if feature.is_continuous:
            low, high = min(feature.low, row[place]), max(feature.high, row[place])
            grid = np.linspace(low, high, 2001)
        else:
            grid = np.array(feature.peaks)
        points = np.repeat(row[None, :], len(grid), axis=0)
        points[:, place] = grid
        flips = grid[decide(model, points) != decided]
        if feature.name not in smallest:
            assert not len(flips), f"{feature.name} flips at {flips[:3]}"
        elif feature.is_continuous and len(flips):
            after = smallest[feature.name].moves[0].after
            nearest = np.abs(flips - row[place]).min()
            assert abs(after - row[place]) <= nearest + 1e-9


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_within_its_safe_range_a_reading_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, "words and pairs", 3)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    decided = decide(model, row[None, :])[0]
    for safe_range in ChangeFinder(model).of_row(row).safe_ranges:
        place = [feature.name for feature in model.features].index(safe_range.feature)
        feature = model.features[place]
        if feature.is_continuous:
            readings = np.linspace(safe_range.low, safe_range.high, 101)
        else:
            readings = np.array(
                [feature.peaks[feature.categories.index(s)] for s in safe_range.categories]
            )
        points = np.repeat(row[None, :], len(readings), axis=0)
        points[:, place] = readings
        assert (decide(model, points) == decided).all()


@pytest.mark.parametrize("shape", WEIGHED)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_two_readings_of_two_trees_are_the_nearest_of_a_grid(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, 2)
    model = Model(Target("y", model.target.classes), model.features, model.nodes)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    fixed = [feature.name for feature in model.features if feature.name not in ("x0", "x3")]
    found = ChangeFinder(model, fixed=fixed).of_row(row)
    decided = decide(model, row[None, :])[0]
    ends = [
        (min(a.low, x), max(a.high, x)) for a, x in ((model.features[j], row[j]) for j in (0, 3))
    ]
    first, second = (np.linspace(*end, 151) for end in ends)
    points = np.repeat(row[None, :], len(first) * len(second), axis=0)
    points[:, 0], points[:, 3] = np.repeat(first, len(second)), np.tile(second, len(first))
    flips = points[decide(model, points) != decided]
    spans = [model.features[j].high - model.features[j].low for j in (0, 3)]
    if len(flips):
        sizes = np.hypot(*((flips[:, [0, 3]] - row[[0, 3]]) / spans).T)
        best = min((change.size for change in (*found.one, found.two) if change), default=np.inf)
        assert best <= sizes.min() + 1e-9


def test_two_states_can_do_together_what_none_does_alone():
    states = [
        Feature(name, Kind.BINARY, ("no", "yes"), (0.0, 1.0), (0.5, 0.5), categories=("no", "yes"))
        for name in "ab"
    ]
    weights, shares = np.array([[1.1, -1.1], [-0.4, 0.4]]), np.array([[0.9, 0.1], [0.3, 0.7]])
    terms = tuple(Term((TermInput.whole(one),), weights, shares, np.ones(2), 0.5) for one in states)
    node = AdditiveNode("y", (0.7, -0.7), terms)
    model = Model(Target("y", ("c0", "c1"), shares=(0.5, 0.5)), tuple(states), (node,))
    found = ChangeFinder(model).of_row(np.zeros(2))
    assert found.one == ()
    assert str(found.two) == "a no → yes and b no → yes: c1"


@pytest.mark.parametrize("shape", [*SHAPES, *ADDITIVE_SHAPES])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_two_readings_do_what_none_of_them_does_alone(shape, seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, shape, 2)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    found = ChangeFinder(model).of_row(row)
    if found.two is None:
        return
    assert all(found.two.size < change.size for change in found.one)
    decided = decide(model, row[None, :])[0]
    for move in found.two.moves:
        for which in ("after", "rounded"):
            alone = with_moves(model, row, [move], which)
            assert decide(model, alone[None, :])[0] == decided


def test_two_readings_of_a_pair_are_found_though_both_are_in_other_terms_too():
    rng = np.random.default_rng(13)
    model = random_model(rng, "words and pairs", 4)
    row = random_rows(rng, model, 6, missing=0.25)[4]
    found = ChangeFinder(model).of_row(row)
    assert [move.feature for move in found.two.moves] == ["x0", "x1"]
    assert found.two.size == pytest.approx(0.175, abs=0.001)


def test_there_is_no_safe_range_between_a_reading_and_a_range_that_excludes_it():
    rng = np.random.default_rng(8)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        model = random_model(rng, "words and pairs", 2)
        row = random_rows(rng, model, 1, missing=0.0)[0]
        low = row[0] + 0.5
        finder = ChangeFinder(model, ranges={"x0": (low, low + 2.0)})
        safe_range = next(one for one in finder.of_row(row).safe_ranges if one.feature == "x0")
        allowed = [one for one in (safe_range.low, safe_range.high) if low <= one <= low + 2.0]
        for reading in allowed:
            point = row.copy()
            point[0] = reading
            assert decide(model, point[None, :])[0] == decide(model, row[None, :])[0]


def test_fixed_features_stay_and_ranges_are_kept():
    rng = np.random.default_rng(3)
    model = random_model(rng, "words and pairs", 2)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    low, high = row[1] - 0.05, row[1] + 0.05
    found = ChangeFinder(model, ranges={"x1": (low, high)}, fixed=["x0"]).of_row(row)
    assert "x0" not in {safe_range.feature for safe_range in found.safe_ranges}
    moves = [move for change in found.one for move in change.moves]
    assert all(low <= move.rounded <= high for move in moves if move.feature == "x1")
    assert all(move.feature != "x0" for move in moves)


def test_a_reading_outside_its_range_moves_into_it():
    rng = np.random.default_rng(5)
    model = random_model(rng, "words and pairs", 2)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    low = row[0] + 1.0
    found = ChangeFinder(model, ranges={"x0": (low, low + 5.0)}).of_row(row)
    assert all(
        move.after >= low for change in found.one for move in change.moves if move.feature == "x0"
    )


@pytest.mark.parametrize(
    ("ranges", "fixed", "error", "message"),
    [
        ({"x0": (2.0, 1.0)}, (), ParameterError, "range of 'x0' must go from a number"),
        ({"x0": (0.0, np.nan)}, (), ParameterError, "range of 'x0' must go from a number"),
        ({"x0": (-1e308, 1e308)}, (), ParameterError, "within 1e.36 up and down"),
        ({"x2": (0.0, 1.0)}, (), ParameterError, "'x2' is categorical"),
        ({"x9": (0.0, 1.0)}, (), ColumnError, "the model has no column 'x9'"),
        ({}, ["ash"], ColumnError, "the model has no column 'ash'"),
    ],
)
def test_what_makes_no_sense_is_refused(ranges, fixed, error, message):
    model = random_model(np.random.default_rng(0), "tree")
    with pytest.raises(error, match=message):
        ChangeFinder(model, ranges, fixed)


def test_a_number_has_no_other_decision():
    model = random_model(np.random.default_rng(0), "tree")
    number = Model(Target("price", centres=(1.0, 2.0)), model.features, model.nodes)
    with pytest.raises(DataError, match="'price' is a number"):
        ChangeFinder(number)


def test_unknown_readings_are_left_alone():
    rng = np.random.default_rng(1)
    model = random_model(rng, "words and pairs", 2)
    found = ChangeFinder(model).of_row(np.full(6, np.nan))
    assert (found.one, found.two, found.safe_ranges) == ((), None, ())


@given(
    value=st.floats(-1e6, 1e6),
    upward=st.booleans(),
    span=st.floats(1e-6, 1e6),
)
def test_rounding_goes_outward_and_comes_closer(value, upward, span):
    rounded = rounded_outward(value, upward=upward, span=span)
    slack = 1e-9 * max(abs(value), span)
    assert all(number >= value - slack if upward else number <= value + slack for number in rounded)
    assert abs(rounded[-1] - value) <= abs(rounded[0] - value) + slack


@given(value=st.floats(allow_nan=False, allow_infinity=False), upward=st.booleans())
@pytest.mark.parametrize("span", [0.0, 5e-324, 1e-300, 1e300, 1.7e308, np.inf, np.nan])
def test_rounding_knows_no_span_that_is_too_small_or_too_large(span, value, upward):
    assert np.isfinite(rounded_outward(value, upward=upward, span=span)).all()


@pytest.mark.parametrize("reading", [1e308, -1e308, 5e-324, 3.0])
def test_an_feature_without_a_range_may_change(reading):
    """All training rows had the same reading, and the words are the user's."""
    constant = Feature(
        "x",
        Kind.CONTINUOUS,
        ("low", "high"),
        (0.0, 2.0, 4.0),
        (0.0, 1.0, 0.0),
        low=2.0,
        high=2.0,
    )
    beliefs = (0.9, 0.1), (0.4, 0.6), (0.1, 0.9)
    branches = tuple(Branch(((0, (i,)),), one, 1.0) for i, one in enumerate(beliefs))
    tree = TreeNode("y", (constant,), branches, (0.5, 0.5))
    model = Model(Target("y", ("no", "yes")), (constant,), (tree,))
    found = ChangeFinder(model).of_row(np.array([reading]))
    assert all(np.isfinite(change.size) for change in found.one)
    assert all(str(change) for change in found.one)


def test_columns_that_the_model_does_not_ask_for_may_be_named():
    rng = np.random.default_rng(0)
    model = random_model(rng, "tree")
    row = random_rows(rng, model, 1)[0]
    given = {"ranges": {"age": (0.0, 9.0)}, "fixed": ["age", "x0"], "columns": ["age", "name"]}
    found = ChangeFinder(model, **given).of_row(row)
    assert found.safe_ranges == ChangeFinder(model, fixed=["x0"]).of_row(row).safe_ranges
    with pytest.raises(ColumnError, match="no column 'agee'; did you mean 'age'"):
        ChangeFinder(model, **given | {"fixed": ["agee"]})


def in_whole_numbers(model, names):
    """Stretch features so that they have whole numbers only."""

    def stretched(feature):
        if feature.name not in names or not feature.is_continuous:
            return feature
        low, high = (round(8 * end) for end in (feature.low, feature.high))
        if feature.cores:
            cores = [tuple(np.round(8 * np.array(core))) for core in feature.cores]
            made = cored_feature(feature.name, feature.words, cores, (), low - 2.0, high + 3.0)
            return replace(made, mean_masses=feature.mean_masses[: len(made.peaks)])
        peaks = tuple(np.rint(8 * np.array(feature.peaks)).tolist())
        return replace(feature, peaks=peaks, low=peaks[0] - 2.0, high=peaks[-1] + 3.0)

    def within(node):
        if isinstance(node, TreeNode):
            return replace(node, inputs=tuple(map(stretched, node.inputs)))
        terms = (
            replace(
                term,
                inputs=tuple(replace(one, feature=stretched(one.feature)) for one in term.inputs),
            )
            for term in node.terms
        )
        return replace(node, terms=tuple(terms))

    features, nodes = map(stretched, model.features), map(within, model.nodes)
    return replace(model, features=tuple(features), nodes=tuple(nodes))


def with_whole_numbers(rng, shape, n_classes, names=("x0", "x1", "x3")):
    """Make a model some of whose features have whole numbers only, and a row of them."""
    model = in_whole_numbers(random_model(rng, shape, n_classes), names)
    row = random_rows(rng, model, 1, missing=0.0)[0]
    places = [j for j, feature in enumerate(model.features) if feature.name in names]
    row[places] = np.rint(row[places])
    return model, row, places


@pytest.mark.parametrize("shape", SHAPES)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 3))
@settings(max_examples=40)
def test_whole_numbers_become_whole_numbers_that_change_the_decision(shape, seed, n_classes):
    model, row, places = with_whole_numbers(np.random.default_rng(seed), shape, n_classes)
    found = ChangeFinder(model).of_row(row)
    for change in (*found.one, *([found.two] if found.two else [])):
        for which in ("after", "rounded"):
            changed = with_moves(model, row, change.moves, which)
            assert (changed[places] == np.rint(changed[places])).all()
            assert model.target.classes[decide(model, changed[None, :])[0]] == change.decision
            assert change.decision != found.decision


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_nearest_whole_number_that_changes_the_decision_is_found(seed):
    model, row, places = with_whole_numbers(np.random.default_rng(seed), "words and pairs", 3)
    found = ChangeFinder(model).of_row(row)
    after = {change.moves[0].feature: change.moves[0].after for change in found.one}
    safe_ranges = {safe_range.feature: safe_range for safe_range in found.safe_ranges}
    for place in places:
        feature = model.features[place]
        low, high = min(feature.low, row[place]), max(feature.high, row[place])
        numbers = np.arange(low, high + 1)
        points = np.repeat(row[None, :], len(numbers), axis=0)
        points[:, place] = numbers
        decided = decide(model, points)
        flips = numbers[decided != decide(model, row[None, :])]
        assert (feature.name in after) == bool(len(flips))
        if len(flips):
            nearest = np.abs(flips - row[place]).min()
            assert abs(after[feature.name] - row[place]) == nearest
        safe_range = safe_ranges[feature.name]
        assert safe_range.low == max((one + 1 for one in flips if one < row[place]), default=low)
        assert safe_range.high == min((one - 1 for one in flips if one > row[place]), default=high)


@pytest.mark.parametrize("shape", WEIGHED)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_a_whole_number_and_a_reading_are_the_nearest_of_a_grid(shape, seed):
    model, row, _ = with_whole_numbers(np.random.default_rng(seed), shape, 2, ("x0",))
    fixed = [feature.name for feature in model.features if feature.name not in ("x0", "x3")]
    found = ChangeFinder(model, fixed=fixed).of_row(row)
    whole, other = model.features[0], model.features[3]
    first = np.arange(min(whole.low, row[0]), max(whole.high, row[0]) + 1)
    second = np.linspace(min(other.low, row[3]), max(other.high, row[3]), 151)
    points = np.repeat(row[None, :], len(first) * len(second), axis=0)
    points[:, 0], points[:, 3] = np.repeat(first, len(second)), np.tile(second, len(first))
    flips = points[decide(model, points) != decide(model, row[None, :])]
    spans = [one.high - one.low for one in (whole, other)]
    if len(flips):
        sizes = np.hypot(*((flips[:, [0, 3]] - row[[0, 3]]) / spans).T)
        best = min((change.size for change in (*found.one, found.two) if change), default=np.inf)
        assert best <= sizes.min() + 1e-9


def test_whole_numbers_stay_whole_in_what_is_suggested():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "rooms": rng.integers(0, 6, 400).astype(float),
            "age": rng.integers(18, 90, 400).astype(float),
            "x": rng.normal(size=400),
            "share": np.append(rng.random(398), [0.0, 1.0]),
        }
    )
    score = X.rooms - 2.5 + (X.age - 50) / 20 + X.x + 4 * (X.share - 0.5)
    model = RuleClassifier().fit(X, score + rng.normal(size=400) > 0)
    rounded = {"rooms": [], "age": [], "share": [], "x": []}
    for explanation in model.explain(X[:100], changes=True):
        found = explanation.changes
        for change in (*found.one, *([found.two] if found.two else [])):
            for move in change.moves:
                rounded[move.feature].append(move.rounded)
    assert len(rounded["rooms"]) > 50
    assert all(number.is_integer() for number in rounded["rooms"] + rounded["age"])
    assert not any(all(number.is_integer() for number in rounded[name]) for name in ("x", "share"))


@pytest.mark.parametrize(
    ("peaks", "low", "high", "expected"),
    [
        ((19.0, 77.0), 18.0, 89.0, True),
        ((18.0, 35.75, 53.5, 71.25, 89.0), 18.0, 89.0, True),  # evenly placed, so not values
        ((37.5, 60.0), 0.0, 100.0, False),
        ((0.0, 37.5, 60.0), 0.0, 100.0, False),
        ((0.0, 1.0), 0.0, 1.0, False),  # nothing whole lies between
        ((1.0, 2.0, 5.0), 0.5, 7.0, False),
        ((1.0, 2.0), None, None, False),
    ],
)
def test_whole_numbers_are_known_by_the_range_and_the_words(peaks, low, high, expected):
    words = tuple(f"w{i}" for i in range(len(peaks)))
    cores = zip((-np.inf, *peaks[1:]), (*peaks[:-1], np.inf), strict=True)
    feature = Feature(
        "x", Kind.CONTINUOUS, words, peaks, (), low=low, high=high, cores=tuple(cores)
    )
    assert has_whole_numbers(feature) is expected


def test_a_range_without_a_whole_number_leaves_a_whole_number_alone():
    model, row, _ = with_whole_numbers(np.random.default_rng(0), "words and pairs", 2, ("x0",))
    for ends in ((0.2, 0.8), (row[0] + 0.2, row[0] + 0.8)):
        found = ChangeFinder(model, ranges={"x0": ends}).of_row(row)
        changes = (*found.one, *([found.two] if found.two else []))
        assert all(move.feature != "x0" for change in changes for move in change.moves)


def test_whole_numbers_are_rounded_outward_to_whole_numbers():
    assert set(rounded_outward(47.3, upward=True, span=60.0, whole=True)) == {48.0}
    assert rounded_outward(4711.3, upward=False, span=6e4, whole=True)[:3] == [
        4700.0,
        4710.0,
        4711.0,
    ]
