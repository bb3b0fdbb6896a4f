"""However rows come, in whatever parts and order: the model is that of all rows in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_rows import cut, document, document_in_memory, frames, partitions, plant
from sklearn.base import clone
from smaller_sizes import SMALLER

from solah import (
    LinguisticTreeClassifier,
    RuleClassifier,
    SelfOrganisedHierarchyClassifier,
    scan,
)
from solah.estimators.base import LinguisticEstimator
from solah.exceptions import ColumnError, DataError, ParameterError, RareCategoriesWarning
from solah.kernels import native
from solah.labels.drawing import LIMITS

ESTIMATORS = {
    "default": RuleClassifier(),
    "given": RuleClassifier(max_rules=30, interactions=3),
    "few rules": RuleClassifier(
        max_rules=12, max_features=3, class_weight={"hot": 3.0, "cold": 1.0}, feature_groups=None
    ),
    "robust": RuleClassifier(
        max_rules=30,
        interactions=0,
        feature_groups=[["s0", "s1"], ["s2", "s4"]],
        robust_to="groups",
    ),
    "own words and pairs": RuleClassifier(
        {"s1": {"low": -1.0, "high": 1.5}},
        interactions=[("s1", "s2"), ("place", "s4")],
        feature_types={"s4": "categorical", "place": ["roof", "hall", "Käfer"]},
    ),
}
pytestmark = pytest.mark.usefixtures("few_are_many")


@pytest.fixture(scope="module")
def rows():
    return plant(300)


@pytest.fixture(scope="module")
def expected(rows):
    return document_in_memory(clone(ESTIMATORS["given"]), rows)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_neither_the_parts_nor_their_order_leave_a_trace(rows, name):
    here, there = clone(ESTIMATORS[name]), clone(ESTIMATORS[name])
    in_memory = document_in_memory(here, rows)
    for parts in (cut(rows, 3)[::-1], [rows.iloc[first::7] for first in range(7)]):
        assert document(there, parts, "y") == in_memory
        for fitted in ("path_", "selection_", "hierarchy_", "selection_reason_"):
            assert getattr(here, fitted) == getattr(there, fitted)
        np.testing.assert_array_equal(here.dependence_, there.dependence_)
        np.testing.assert_array_equal(here.relevance_, there.relevance_)


def test_rare_categories_are_missing_in_files_as_in_memory():
    rows, rng = plant(1_500), np.random.default_rng(0)
    rows["town"] = [f"town {number:.0f}" for number in rng.exponential(90, 1_500)]
    model = RuleClassifier(max_rules=12)
    with pytest.warns(RareCategoriesWarning, match="the 254 most frequent"):
        in_memory = document_in_memory(clone(model), rows)
    with pytest.warns(RareCategoriesWarning) as warned:
        assert document(clone(model), cut(rows, 4), "y") == in_memory
    assert len(warned) == 1


@pytest.mark.parametrize("way", ["parquet", "folder", "csv", "arrow", "scan"])
def test_rows_may_come_in_any_way(rows, expected, tmp_path, way):
    parts = cut(rows, 3)
    for number, part in enumerate(parts):
        part.to_parquet(tmp_path / f"{number}.parquet", index=False, row_group_size=20)
        part.to_csv(tmp_path / f"{number}.csv", index=False)
        (tmp_path / "_").mkdir(exist_ok=True)
        part.to_feather(tmp_path / "_" / f"{number}.arrow")
    given = {
        "parquet": sorted(tmp_path.glob("*.parquet")),
        "folder": tmp_path,
        "csv": str(tmp_path / "*.csv"),
        "arrow": str(tmp_path / "_" / "*.arrow"),
        "scan": scan(parts, memory="4GB"),
    }[way]
    for n_jobs in (1, 3):
        estimator = clone(ESTIMATORS["given"]).set_params(n_jobs=n_jobs)
        assert document(estimator, given, "y") == expected


def test_text_behind_numbers_in_a_file_keeps_its_zeros(rows, tmp_path, monkeypatch):
    codes = [f"{row % 5:03}" if row < 100 else "abc"[row % 3] for row in range(len(rows))]
    frame = rows.assign(code=codes)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    expected = document_in_memory(clone(ESTIMATORS["given"]), frame)
    for size in (500, 1 << 20):
        monkeypatch.setattr("solah.data.delimited._CHUNK", size)
        with monkeypatch.context() as patch:
            patch.setattr("solah.scale.sources._FIRST_ROWS", 50)
            assert document(clone(ESTIMATORS["given"]), tmp_path / "rows.csv", "y") == expected


@pytest.mark.skipif(native.load() is None, reason="solah was built without a compiler")
def test_kernels_leave_no_trace(rows, expected, monkeypatch):
    for name in ("native", "reference"):
        monkeypatch.setenv("SOLAH_KERNEL", name)
        assert document(clone(ESTIMATORS["given"]), cut(rows, 3), "y") == expected


@settings(max_examples=8)
@given(
    case=frames().flatmap(lambda case: st.tuples(st.just(case), partitions(len(case[0])))),
    class_weight=st.sampled_from([None, "balanced", "one is nothing", "some"]),
)
def test_any_columns_in_any_parts_give_the_same(case, class_weight):
    (frame, weight), parts = case
    classes = np.unique(frame["y"]).tolist()
    if class_weight == "one is nothing":
        class_weight = {each: float(place) for place, each in enumerate(classes)}
    elif class_weight == "some":
        class_weight = {classes[-1]: 2.5}
    estimator = RuleClassifier(interactions=2, max_rules=40, class_weight=class_weight)
    in_memory = document_in_memory(estimator, frame, weight=weight)
    of_memory = estimator.classes_
    assert document(estimator, [frame.iloc[part] for part in parts], "y", weight) == in_memory
    assert estimator.classes_.tolist() == of_memory.tolist()


def test_groups_are_kept_together(rows):
    X, y = rows.drop(columns="y"), rows["y"]
    machines = np.arange(300) % 30
    here = clone(ESTIMATORS["given"]).fit(X, y, groups=machines)
    parts = cut(rows.assign(machine=machines), 4)
    there = clone(ESTIMATORS["given"]).fit(parts, "y", groups="machine")
    assert there.model_ == here.model_


def test_a_class_whose_rows_weigh_nothing_is_a_class(rows):
    frame = rows.assign(often=np.where(rows["y"] == "hot", 0, 1))
    frame.loc[frame.index[:3], "y"] = "lukewarm"
    in_memory = document_in_memory(clone(ESTIMATORS["given"]), frame, weight="often")
    assert document(clone(ESTIMATORS["given"]), cut(frame, 3), "y", "often") == in_memory


def test_an_estimator_is_as_good_as_fitted_in_memory(rows):
    X, y = rows.drop(columns="y"), rows["y"]
    estimator = RuleClassifier(max_rules=30)
    here, there = clone(estimator).fit(X, y), estimator.fit(cut(rows, 4), "y")
    assert there is estimator
    assert there.feature_names_in_.tolist() == X.columns.tolist()
    assert there.classes_.tolist() == here.classes_.tolist() == ["cold", "hot"]
    np.testing.assert_array_equal(there.predict_proba(X), here.predict_proba(X))
    assert [str(rule) for rule in there.rules()] == [str(rule) for rule in here.rules()]


@pytest.mark.parametrize(
    ("values", "kind"), [((False, True), "b"), ((4, -1), "i"), (("ja", "nein"), "U")]
)
def test_classes_keep_their_type(rows, values, kind):
    frame = rows.assign(y=np.where(rows["y"] == "hot", values[1], values[0]))
    model = clone(ESTIMATORS["given"]).fit(cut(frame, 3), "y")
    assert model.classes_.dtype.kind == kind
    assert model.classes_.tolist() == sorted(values)


def test_few_rows_are_read_into_memory_and_fitted_there(rows, expected, monkeypatch):
    limits = replace(SMALLER, many_rows=10_000)
    monkeypatch.setattr(LinguisticEstimator, "_limits", limits)
    in_memory = document_in_memory(clone(ESTIMATORS["given"]), rows)
    assert document(clone(ESTIMATORS["given"]), cut(rows, 3), "y") == in_memory != expected


def test_rows_that_truly_are_many(monkeypatch):
    monkeypatch.setattr(LinguisticEstimator, "_limits", LIMITS)
    rows = plant(LIMITS.many_rows + 1_000)
    estimator = RuleClassifier(max_rules=30, interactions=2, n_jobs=2)
    assert document(estimator, cut(rows, 3), "y") == document_in_memory(estimator, rows)


def test_rows_that_are_not_at_hand_are_named_by_columns(rows):
    model = RuleClassifier()
    with pytest.raises(
        ParameterError, match="y must be the name of the column of classes .* Got Series"
    ):
        model.fit([rows.drop(columns="y")], rows["y"])
    with pytest.raises(ParameterError, match="weights of rows .* give its name. Got ndarray"):
        model.fit([rows], "y", sample_weight=np.ones(len(rows)))
    with pytest.raises(ColumnError, match="no column 'Y'; did you mean 'y'"):
        model.fit([rows], "Y")
    with pytest.raises(DataError, match="no column is left to predict 'y' with"):
        model.fit([rows[["y"]]], "y")
    with pytest.raises(ParameterError, match="names the class 'warm', which the rows do not have"):
        RuleClassifier(class_weight={"warm": 2.0}).fit([rows], "y")


def test_trees_learn_from_rows_in_memory(rows, tmp_path):
    tree = LinguisticTreeClassifier(max_depth=2)
    for estimator in (tree, SelfOrganisedHierarchyClassifier()):
        with pytest.raises(DataError, match="learns from rows in memory: read them first, such as"):
            estimator.fit([rows], "y")
    rows.to_parquet(tmp_path / "rows.parquet")
    expected = document_in_memory(clone(tree), rows)
    assert document(tree, tmp_path / "rows.parquet", "y") == expected
