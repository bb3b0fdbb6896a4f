"""Groups of rows: what is settled out of fold is settled on groups not learned from."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from solah import (
    GeneticHierarchyClassifier,
    GeneticSearch,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    RuleClassifier,
    RuleRegressor,
    SelfOrganisedHierarchyClassifier,
)
from solah.estimators.base import LinguisticEstimator
from solah.exceptions import ColumnError, DataError, ParameterError
from solah.labels.drawing import Limits
from solah.model.format import to_json

WIRING = "z <- x0, x1; y <- z, x2"


@pytest.fixture(scope="module")
def people():
    """Return rows that tell who they are of, the class of each person, and the person.

    One column tells something about the class; the others are nearly constant for a person, so
    that whoever knows the person knows the class.
    """
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(24), 12)
    classes = rng.permutation(np.arange(24) % 2)[person]
    traits = rng.normal(size=(24, 3))[person] + rng.normal(0, 0.02, (len(person), 3))
    sign = classes + rng.normal(0, 0.9, len(person))
    return np.column_stack([traits, sign]).round(3), classes, person


def chosen(model):
    return next(step for step in model.path_ if step.is_chosen)


@pytest.fixture(scope="module")
def grouped(people):
    X, y, person = people
    return RuleClassifier().fit(X, y, groups=person)


def test_scores_out_of_fold_are_those_of_new_people(people, grouped):
    X, y, _ = people
    plain = RuleClassifier().fit(X, y)
    assert chosen(plain).accuracy > 0.9  # it knows these people
    assert chosen(grouped).accuracy < 0.8
    assert "group cross-validated" in grouped.selection_reason_
    assert "whose cross-validated" in plain.selection_reason_


def test_neither_order_nor_type_leaves_a_trace(people, grouped):
    X, y, person = people
    order = np.random.default_rng(1).permutation(len(y))
    names = pd.Series(person.astype(str), name="person")[order]
    other = RuleClassifier().fit(X[order], y[order], groups=names)
    assert to_json(other.model_) == to_json(grouped.model_)


def test_numbers_know_groups(people):
    X, y, person = people
    amounts = y + 0.1 * X[:, 3]
    plain = RuleRegressor().fit(X, amounts)
    grouped = RuleRegressor().fit(X, amounts, groups=person)
    assert chosen(plain).r2 > 0.9
    assert chosen(grouped).r2 < 0.5


def test_trees_know_groups(people):
    X, y, person = people
    tree = LinguisticTreeClassifier(max_depth=2)
    search = GeneticSearch(population_size=4, n_generations=1)
    for model in (
        LinguisticHierarchyClassifier(WIRING, tree=tree, cross_fit=3),
        GeneticHierarchyClassifier(search, tree=tree, random_state=0),
        SelfOrganisedHierarchyClassifier([1, 2], tree=tree, cross_fit=3),
    ):
        plain = to_json(model.fit(X, y).model_), _score(model)
        grouped = to_json(model.fit(X, y, groups=person).model_), _score(model)
        assert plain != grouped


def _score(model):
    return getattr(model, "best_score_", [one.score for one in getattr(model, "candidates_", ())])


@pytest.mark.parametrize("many_rows", [100, 10_000])
def test_a_column_of_files_names_groups(people, grouped, tmp_path, monkeypatch, many_rows):
    X, y, person = people
    monkeypatch.setattr(LinguisticEstimator, "_limits", Limits(many_rows=many_rows))
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"]).assign(y=y, person=person)
    for part in range(3):
        frame.iloc[part::3].to_csv(tmp_path / f"{part}.csv", index=False)
    learner = RuleClassifier(max_rules=8)
    from_files = learner.fit(str(tmp_path / "*.csv"), "y", groups="person").model_
    target = pd.Series(y, name="y")
    in_memory = learner.fit(frame.drop(columns=["y", "person"]), target, groups=person).model_
    assert to_json(from_files) == to_json(in_memory)
    with pytest.raises(ColumnError, match="nobody"):
        learner.fit(str(tmp_path / "*.csv"), "y", groups="nobody")
    with pytest.raises(ParameterError, match="groups of rows in files, frames or"):
        learner.fit(str(tmp_path / "*.csv"), "y", groups=person)
    frame.assign(person=7).to_csv(tmp_path / "0.csv", index=False)
    with pytest.raises(DataError, match="only one group"):
        learner.fit([str(tmp_path / "0.csv")] * 2, "y", groups="person")
    frame.assign(person=[None, *person[1:]]).to_csv(tmp_path / "0.csv", index=False)
    with pytest.raises(DataError, match="person' has no value in row 1|no value in 2 rows"):
        learner.fit([str(tmp_path / "0.csv")] * 2, "y", groups="person")


def test_groups_that_cannot_be_are_refused(people):
    X, y, person = people
    for groups, message in (
        (np.zeros(len(y)), "only one group"),
        ([1, 2, 3], "X has 288 rows, but 'groups' has 3 values"),
        ([1.0, 2.0, np.nan, *person[3:]], r"no value in 1 rows \(first: row 3\)"),
    ):
        for learner in (RuleClassifier(), RuleRegressor(), LinguisticTreeClassifier()):
            with pytest.raises(DataError, match=message):
                learner.fit(X, y, groups=groups)


def test_groups_reach_the_model_through_others(people):
    X, y, person = people
    with config_context(enable_metadata_routing=True):
        learner = RuleClassifier(max_rules=4, interactions=0)
        learner.set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), learner)
        found = cross_validate(
            pipeline, X, y, cv=GroupKFold(2), params={"groups": person}, return_estimator=True
        )
        train, _ = next(GroupKFold(2).split(X, y, person))
        alone = learner.fit(
            StandardScaler().fit_transform(X[train]), y[train], groups=person[train]
        )
        assert to_json(found["estimator"][0][-1].model_) == to_json(alone.model_)
        search = GridSearchCV(learner, {"max_rules": [3, 6]}, cv=GroupKFold(2))
        assert search.fit(X, y, groups=person).best_params_["max_rules"] in (3, 6)
