"""However rows come, in whatever parts and order: the model is that of all rows in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_rows import WIRING, cut, document, document_in_memory, frames, partitions, plant
from sklearn.base import clone
from smaller_sizes import SMALLER

from solah import (
    GeneticHierarchyClassifier,
    GeneticSearch,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    RuleClassifier,
    SelfOrganisedHierarchyClassifier,
    scan,
)
from solah.estimators.base import LinguisticEstimator
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.kernels import native

TREES = {
    "tree": LinguisticTreeClassifier(max_depth=3),
    "refitted": LinguisticTreeClassifier(
        max_depth=2, leaves="refitted", class_weight="balanced", n_words={"s0": 5, "s1": 2}
    ),
    "few rules": LinguisticTreeClassifier(
        max_depth=3, max_rules=8, shrinkage=3.0, criterion="gain_ratio", null_branch="uniform"
    ),
    "own words": LinguisticTreeClassifier(
        max_depth=2,
        placement="uniform",
        words={"s1": {"low": -1.0, "high": 1.5}},
        feature_types={"s4": "categorical", "place": ["roof", "hall", "Käfer"]},
    ),
}
HIERARCHIES = {
    "hearing": LinguisticHierarchyClassifier(WIRING, tree=LinguisticTreeClassifier(max_depth=3)),
    "words of belief": LinguisticHierarchyClassifier(
        WIRING,
        tree=LinguisticTreeClassifier(max_depth=3, leaves="refitted", rule_cost=0.5),
        belief_words=3,
    ),
    "tables": LinguisticHierarchyClassifier("z1 <- s0, s4; y <- z1, s2", node="cmac"),
    "adding": RuleClassifier(max_rules=30, interactions=3),
    "fewer rules": RuleClassifier(
        max_rules=12, max_features=3, class_weight={"hot": 3.0, "cold": 1.0}, feature_groups=None
    ),
    "losing": RuleClassifier(
        max_rules=30,
        interactions=0,
        feature_groups=[["s0", "s1"], ["s2", "s4"]],
        robust_to="groups",
    ),
    "clusters": SelfOrganisedHierarchyClassifier.with_settings(
        {},
        n_clusters=2,
        n_words=3,
        min_support=0.05,
        level_gap=0.1,
        class_weight="balanced",
    ),
}
CHOOSING = {
    "by itself": RuleClassifier(),
    "own words and pairs": RuleClassifier(
        {"s1": {"low": -1.0, "high": 1.5}}, interactions=[("s1", "s2"), ("place", "s4")]
    ),
    "evolved": GeneticHierarchyClassifier(
        GeneticSearch(population_size=4, n_generations=2, n_folds=2),
        tree=LinguisticTreeClassifier(max_depth=2),
        random_state=0,
    ),
}
EVERY = {**TREES, **HIERARCHIES, **CHOOSING}

pytestmark = pytest.mark.usefixtures("few_are_many")


@pytest.fixture(scope="module")
def rows():
    return plant(300)


@pytest.fixture(scope="module")
def expected(rows):
    return document_in_memory(HIERARCHIES["adding"], rows)


@pytest.mark.parametrize("name", EVERY)
def test_neither_the_parts_nor_their_order_leave_a_trace(rows, name):
    estimator = clone(EVERY[name])
    in_memory = document_in_memory(estimator, rows)
    for parts in (cut(rows, 3)[::-1], [rows.iloc[first::7] for first in range(7)]):
        assert document(estimator, parts, "y") == in_memory


def test_sixty_four_parts_are_as_good_as_one(rows, expected):
    parts = cut(rows, 64)
    order = np.random.default_rng(0).permutation(len(parts))
    assert document(HIERARCHIES["adding"], [parts[j] for j in order], "y") == expected


@pytest.mark.parametrize("way", ["parquet", "folder", "csv", "callable", "iterator", "scan"])
def test_rows_may_come_in_any_way(rows, expected, tmp_path, way):
    parts = cut(rows, 3)
    for number, part in enumerate(parts):
        part.to_parquet(tmp_path / f"{number}.parquet", index=False)
        part.to_csv(tmp_path / f"{number}.csv", index=False)
    given = {
        "parquet": sorted(tmp_path.glob("*.parquet")),
        "folder": tmp_path,
        "csv": str(tmp_path / "*.csv"),
        "callable": lambda: iter(parts),
        "iterator": iter(parts),
        "scan": scan(parts, memory="4GB", checkpoint=tmp_path / "kept"),
    }[way]
    assert document(HIERARCHIES["adding"], given, "y") == expected


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_leave_no_trace(rows, expected, n_jobs):
    estimator = clone(HIERARCHIES["adding"]).set_params(n_jobs=n_jobs)
    assert document(estimator, cut(rows, 5), "y") == expected


@pytest.mark.skipif(native.load() is None, reason="solah was built without a compiler")
@pytest.mark.parametrize("name", ["refitted", "words of belief", "adding"])
def test_kernels_leave_no_trace(rows, monkeypatch, name):
    monkeypatch.setenv("SOLAH_KERNEL", "native")
    found = document(EVERY[name], cut(rows, 3), "y")
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    assert document(EVERY[name], cut(rows, 3), "y") == found
    assert document_in_memory(EVERY[name], rows) == found


def made(name, class_weight):
    if name == "tree":
        return LinguisticTreeClassifier(max_depth=3, class_weight=class_weight)
    if name == "refitted":
        leaves = {"leaves": "refitted", "rule_cost": 0.2, "n_jobs": 2}
        return LinguisticTreeClassifier(2, max_depth=2, class_weight=class_weight, **leaves)
    if name == "adding":
        return RuleClassifier(interactions=2, max_rules=40, class_weight=class_weight)
    wiring = {"n_clusters": 2, "min_support": 0.05, "level_gap": 0.1}
    made_with = SelfOrganisedHierarchyClassifier.with_settings
    return made_with({}, n_words=3, class_weight=class_weight, **wiring)


@settings(max_examples=40)
@given(
    case=frames().flatmap(lambda case: st.tuples(st.just(case), partitions(len(case[0])))),
    name=st.sampled_from(["tree", "refitted", "adding", "clusters"]),
    class_weight=st.sampled_from([None, "balanced", "one is nothing", "some"]),
)
def test_any_columns_in_any_parts_give_the_same(case, name, class_weight):
    (frame, weight), parts = case
    classes = np.unique(frame["y"]).tolist()
    if class_weight == "one is nothing":
        class_weight = {each: float(place) for place, each in enumerate(classes)}
    elif class_weight == "some":
        class_weight = {classes[-1]: 2.5}
    estimator = made(name, class_weight)
    in_memory = document_in_memory(estimator, frame, weight=weight)
    of_memory = estimator.classes_
    assert document(estimator, [frame.iloc[part] for part in parts], "y", weight) == in_memory
    assert estimator.classes_.tolist() == of_memory.tolist()


def test_a_class_whose_rows_weigh_nothing_is_a_class(rows):
    frame = rows.assign(often=np.where(rows["y"] == "hot", 0, 1))
    frame.loc[frame.index[:3], "y"] = "lukewarm"
    in_memory = document_in_memory(TREES["refitted"], frame, weight="often")
    assert document(TREES["refitted"], cut(frame, 3), "y", "often") == in_memory


def test_a_class_weight_may_name_classes_that_no_row_has(rows):
    estimator = LinguisticTreeClassifier(max_depth=2, class_weight={"hot": 1, "cold": 2, "icy": 3})
    assert document(estimator, cut(rows, 2), "y") == document_in_memory(estimator, rows)


def test_an_estimator_is_as_good_as_fitted_in_memory(rows):
    X, y = rows.drop(columns="y"), rows["y"]
    estimator = RuleClassifier(max_rules=30)
    parameters = estimator.get_params()
    here, there = clone(estimator).fit(X, y), estimator.fit(cut(rows, 4), "y")
    assert there is estimator
    assert there.get_params() == parameters
    assert there.feature_names_in_.tolist() == X.columns.tolist()
    assert there.n_features_in_ == X.shape[1]
    assert there.classes_.tolist() == here.classes_.tolist() == ["cold", "hot"]
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    assert there.score(X, y) > 0.65  # a hundred rows settle the words
    assert [str(rule) for rule in there.rules()] == [str(rule) for rule in here.rules()]
    assert to_the_same_choice(there, here)
    again = clone(there)
    assert not hasattr(again, "model_")
    assert again.get_params() == parameters


def to_the_same_choice(one, other):
    names = ("path_", "selection_", "hierarchy_", "selection_reason_")
    return all(getattr(one, name) == getattr(other, name) for name in names)


@pytest.mark.parametrize("name", CHOOSING)
def test_what_was_chosen_and_why_is_the_same(rows, name):
    here, there = clone(CHOOSING[name]), clone(CHOOSING[name])
    here.fit(rows.drop(columns="y"), rows["y"])
    there.fit(cut(rows, 3), "y")
    assert here.hierarchy_ == there.hierarchy_
    if name != "evolved":
        assert to_the_same_choice(here, there)
        np.testing.assert_array_equal(here.dependence_, there.dependence_)
        np.testing.assert_array_equal(here.relevance_, there.relevance_)
    else:
        assert here.best_score_ == there.best_score_


@pytest.mark.parametrize(
    ("values", "kind"), [((False, True), "b"), ((4, -1), "i"), (("ja", "nein"), "U")]
)
def test_classes_keep_their_type(rows, values, kind):
    frame = rows.assign(y=np.where(rows["y"] == "hot", values[1], values[0]))
    tree = LinguisticTreeClassifier(max_depth=1).fit(cut(frame, 3), "y")
    assert tree.classes_.dtype.kind == kind
    assert tree.classes_.tolist() == sorted(values)
    assert set(tree.predict(frame.drop(columns="y")).tolist()) <= set(values)


def test_few_rows_are_read_into_memory_and_fitted_there(rows, monkeypatch):
    limits = replace(SMALLER, many_rows=10_000)
    monkeypatch.setattr(LinguisticEstimator, "_limits", limits)
    for name in ("refitted", "adding"):
        assert document(EVERY[name], cut(rows, 3), "y") == document_in_memory(EVERY[name], rows)


def test_rows_that_are_not_at_hand_are_named_by_columns(rows):
    tree = LinguisticTreeClassifier()
    with pytest.raises(ParameterError, match="y as the name of the column of classes. Got Series"):
        tree.fit([rows.drop(columns="y")], rows["y"])
    with pytest.raises(ParameterError, match="weights of rows .* give its name. Got ndarray"):
        tree.fit([rows], "y", sample_weight=np.ones(len(rows)))
    with pytest.raises(ColumnError, match="no column 'Y'; did you mean 'y'"):
        tree.fit([rows], "Y")
    with pytest.raises(ColumnError, match="no column 'often'"):
        tree.fit([rows], "y", sample_weight="often")
    with pytest.raises(DataError, match="no column is left to decide 'y' with"):
        tree.fit([rows[["y"]]], "y")


def test_what_needs_its_rows_in_memory_says_so(rows):
    wired = LinguisticHierarchyClassifier(WIRING, cross_fit=3)
    with pytest.raises(ParameterError, match="'cross_fit' is for rows in memory"):
        wired.fit([rows], "y")


def test_a_class_weight_of_no_class_is_refused(rows):
    tree = LinguisticTreeClassifier(class_weight={"warm": 2.0})
    with pytest.raises(ParameterError, match="names the class 'warm', which the rows do not have"):
        tree.fit([rows], "y")
