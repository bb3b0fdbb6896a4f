"""Settings that are chosen on the training rows alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

from solah import SelfOrganisedHierarchyClassifier
from solah.estimators import base
from solah.exceptions import ParameterError
from solah.labels.limits import Limits
from solah.learn import memory, organising
from solah.learn.folds import piecewise_folds
from solah.learn.selection import RULE_COSTS, TREE_SETTING, WEIGH_SETTING
from solah.model.format import to_json


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def chosen(wine):
    return SelfOrganisedHierarchyClassifier(rule_cost="auto", placement="auto").fit(*wine)


def test_the_fewest_rules_of_those_as_good_as_the_best_are_taken(chosen):
    best = min(chosen.selection_, key=lambda trial: trial.log_loss)
    as_good = [t for t in chosen.selection_ if t.log_loss <= best.log_loss + t.error]
    (taken,) = [trial for trial in chosen.selection_ if trial.is_chosen]
    assert taken.setting == chosen.settings_
    assert taken in as_good
    assert taken.n_rules == pytest.approx(min(t.n_rules for t in as_good), abs=0.1)
    assert best.error == 0.0


def test_every_stage_starts_from_the_best_so_far(chosen):
    stages = list(dict.fromkeys(trial.stage for trial in chosen.selection_))
    assert stages == ["structure", "placement", "penalty", "rules"]
    structures = {t.setting.n_clusters for t in chosen.selection_ if t.stage == "structure"}
    assert structures == {"each", "auto", 1}
    before = [t for t in chosen.selection_ if t.stage != "rules"]
    best = min(before, key=lambda trial: trial.log_loss).setting
    varied = [t.setting for t in chosen.selection_ if t.stage == "rules"]
    assert {s.rule_cost for s in varied} == set(RULE_COSTS)
    assert all((s.n_clusters, s.penalty) == (best.n_clusters, best.penalty) for s in varied)


def test_nothing_is_found_twice(wine, monkeypatch):
    grouped, described = [], []
    group, describe = organising.group_attributes, base.describe_table

    def group_once(matrix, n_clusters="auto"):
        grouped.append(n_clusters)
        return group(matrix, n_clusters)

    def describe_once(table, settings, weights, n_threads=1):
        described.append((settings.n_labels, settings.placement, weights.tobytes()))
        return describe(table, settings, weights, n_threads)

    monkeypatch.setattr(organising, "group_attributes", group_once)
    monkeypatch.setattr(base, "describe_table", describe_once)
    model = SelfOrganisedHierarchyClassifier(n_jobs=1).fit(*wine)
    assert len({trial.setting.n_clusters for trial in model.selection_}) > 2
    assert len(grouped) == len(set(grouped))
    stages = [trial.setting for trial in model.selection_ if trial.stage == "structure"]
    assert len({setting.n_labels for setting in stages}) == 1
    of_first = [one for one in described if one[0] == stages[0].n_labels]
    assert len(of_first) <= 2 * len(set(of_first))  # once before the others, once behind them


def test_the_reason_is_given_in_words(chosen):
    assert "within one standard error of the least log-loss" in chosen.selection_reason_
    assert chosen.selection_seconds_ > 0


def test_what_is_given_is_not_varied(wine):
    model = SelfOrganisedHierarchyClassifier("each", n_labels=2, penalty=3.0, min_support=0.05)
    model.fit(*wine)
    assert model.selection_ == ()
    assert model.selection_seconds_ == 0.0
    given = (model.settings_.n_clusters, model.settings_.n_labels, model.settings_.penalty)
    assert given == ("each", 2, 3.0)


def test_settings_that_were_chosen_give_the_same_model_when_given(wine, chosen):
    settings = vars(chosen.settings_)
    again = SelfOrganisedHierarchyClassifier(**settings).fit(*wine)
    assert again.model_ == chosen.model_


def test_several_structures_are_compared(wine):
    model = SelfOrganisedHierarchyClassifier(["each", 2, 3], n_labels=3, penalty=2.0).fit(*wine)
    tried = [trial.setting.n_clusters for trial in model.selection_]
    assert tried[:3] == ["each", 2, 3]


def test_a_tree_on_top_is_compared_too(wine):
    model = SelfOrganisedHierarchyClassifier(fusion="auto", belief_labels="auto").fit(*wine)
    assert {trial.setting.fusion for trial in model.selection_} == {"weigh", "tree"}


def test_trees_choose_their_own_settings(wine):
    model = SelfOrganisedHierarchyClassifier(
        fusion="tree", shrinkage="auto", belief_labels="auto", n_folds=3
    ).fit(*wine)
    stages = {trial.stage for trial in model.selection_}
    assert {"structure", "levels", "support", "beliefs"} <= stages
    assert model.settings_.fusion == "tree"
    assert model.score(*wine) > 0.9


def test_nothing_new_is_tried_when_the_time_is_over(wine):
    model = SelfOrganisedHierarchyClassifier(time_budget=1e-9).fit(*wine)
    assert {trial.setting.n_clusters for trial in model.selection_} == {"each"}
    assert model.selection_reason_.endswith("the time was over")


def test_with_too_few_rows_nothing_is_compared():
    model = SelfOrganisedHierarchyClassifier().fit(np.arange(12.0).reshape(2, 6), [0, 1])
    assert model.selection_ == ()
    assert "too few rows" in model.selection_reason_
    assert model.settings_ == WEIGH_SETTING


def limited(**limits):
    """Return an estimator class with other limits."""
    return type("Limited", (SelfOrganisedHierarchyClassifier,), {"_limits": Limits(**limits)})


@pytest.mark.parametrize("limits", [{"selection_rows": 150}, {"selection_values": 10}])
def test_of_many_rows_some_are_enough(limits):
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))

    def fitted(X, y):
        return limited(selection_least=150, **limits)(n_folds=3).fit(X, y)

    one, other = fitted(X[:, :5], y), fitted(X[order, :5], y[order])
    assert one.selection_ == other.selection_
    assert to_json(one.model_) == to_json(other.model_)


def test_more_words_are_tried_with_more_rows():
    model = limited(bold_rows=100)("each").fit(*load_iris(return_X_y=True))
    tried = {trial.setting.n_labels for trial in model.selection_ if trial.stage == "words"}
    assert tried == {5, 7}


def test_a_table_with_few_different_rows_is_chosen_by_fairly():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 3))
    y = (X[:, 0] ^ X[:, 1]) ^ (rng.random(600) < 0.1)
    model = SelfOrganisedHierarchyClassifier().fit(X, y)
    assert model.settings_.n_clusters != "each"  # which cannot tell what two say together
    assert min(trial.log_loss for trial in model.selection_) < 0.45


def test_levels_are_compared_with_all_their_attributes(wine):
    X, y = wine
    flat = SelfOrganisedHierarchyClassifier("each", n_labels=3).fit(X, y)
    levels = SelfOrganisedHierarchyClassifier("each", n_labels=3, level_gap=0.05).fit(X, y)
    assert levels.n_levels_ > flat.n_levels_
    losses = [[trial.log_loss for trial in model.selection_] for model in (flat, levels)]
    np.testing.assert_allclose(losses[0], losses[1], atol=1e-3)


def test_words_may_differ_by_column(wine):
    model = SelfOrganisedHierarchyClassifier(n_labels={"hue": 5}).fit(*wine)
    assert model.settings_.n_labels == {"hue": 5}


def test_given_settings_hold_for_a_tree_on_top_too(wine):
    given = {"n_clusters": 2, "level_gap": 0.3, "min_support": 0.2, "shrinkage": 7.0}
    model = SelfOrganisedHierarchyClassifier(fusion="auto", belief_labels=3, **given).fit(*wine)
    for trial in model.selection_:
        assert {name: getattr(trial.setting, name) for name in given} == given
        assert trial.setting.belief_labels == 3


def test_nothing_wide_is_tried_where_that_is_not_wanted(wine):
    model = SelfOrganisedHierarchyClassifier(max_inputs=2).fit(*wine)
    assert max(len(tree.inputs) for tree in model.model_.trees) <= 2


def test_other_models_at_the_nodes_are_compared_too():
    X, y = load_wine(return_X_y=True)
    settings = {"fusion": "tree", "node": GaussianNB(), "n_folds": 3}
    model = SelfOrganisedHierarchyClassifier(**settings).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(ParameterError, match="is a GaussianNB; use fusion='tree'"):
        SelfOrganisedHierarchyClassifier(node=GaussianNB()).fit(X, y)


def test_tables_that_would_be_too_large_are_no_choice(wine):
    model = SelfOrganisedHierarchyClassifier(node="cmac").fit(*wine)
    assert 1 not in {trial.setting.n_clusters for trial in model.selection_}
    with pytest.raises(ParameterError, match="a CMAC tabulates at most"):
        SelfOrganisedHierarchyClassifier(1, node="cmac").fit(*wine)


def test_clusters_that_are_given_leave_nothing_to_choose(wine):
    with pytest.raises(ParameterError, match="'clusters' gives the clusters"):
        SelfOrganisedHierarchyClassifier(3, clusters=[["hue", "ash"]]).fit(*wine)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_weight_is_dealt_out_whole_and_evenly(seed, n_folds):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 60))
    labels = rng.integers(0, 3, (n_rows, 2)).astype(np.uint32)
    codes = rng.integers(0, 2, n_rows)
    weights = rng.integers(1, 4, n_rows) * 1000
    plain = np.full(2, 1000.0)
    dealt = piecewise_folds(labels, codes, weights, plain, n_folds)
    if dealt is None:
        return
    np.testing.assert_array_equal(dealt.sum(axis=0), weights)
    order = rng.permutation(n_rows)
    again = piecewise_folds(labels[order], codes[order], weights[order], plain, n_folds)
    np.testing.assert_array_equal(again, dealt[:, order])
    repeated = np.repeat(np.arange(n_rows), weights // 1000)
    ones = np.full(len(repeated), 1000)
    twins = piecewise_folds(labels[repeated], codes[repeated], ones, plain, n_folds)
    sums = np.array([np.bincount(repeated, fold, n_rows) for fold in twins])
    kinds = np.unique(np.column_stack([labels, codes]), axis=0, return_inverse=True)[1].ravel()
    for kind in range(kinds.max() + 1):
        here = kinds == kind
        difference = dealt[:, here].sum(axis=1) - sums[:, here].sum(axis=1)
        assert np.abs(difference).max() <= len(repeated)  # units, from rounding


@pytest.fixture
def drawn_few(monkeypatch):
    """Draw few rows to choose by, and note them."""
    drawn = []
    draw = memory.MemoryRows.draw

    def draw_and_note(self, n_rows=None):
        drawn.append(draw(self, n_rows))
        return drawn[-1]

    few = Limits(selection_rows=30)
    monkeypatch.setattr(SelfOrganisedHierarchyClassifier, "_limits", few)
    monkeypatch.setattr(memory.MemoryRows, "draw", draw_and_note)
    return drawn


def test_rows_to_choose_by_are_different_and_have_the_weight_of_all_that_say_the_same(drawn_few):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (400, 2)).astype(float)
    y = X.sum(axis=1) + rng.normal(size=400) > 8
    SelfOrganisedHierarchyClassifier(n_folds=2).fit(X, y)
    drawn = drawn_few[0]
    values = np.column_stack([column.values for column in drawn.table.columns])
    rows = np.column_stack([values, drawn.goal.codes])
    assert len(rows) == 30
    assert len(np.unique(rows, axis=0)) == 30
    every = np.column_stack([X, y])
    for row, weight in zip(rows, drawn.goal.weights * drawn.goal.weight_unit, strict=True):
        assert weight == (every == row).all(axis=1).sum()


def test_jobs_do_not_change_the_choice(wine, chosen):
    again = SelfOrganisedHierarchyClassifier(rule_cost="auto", placement="auto", n_jobs=2)
    assert again.fit(*wine).selection_ == chosen.selection_


def test_other_scores_are_for_given_settings_only(wine):
    with pytest.raises(ParameterError, match="scoring='auc' chooses between several"):
        SelfOrganisedHierarchyClassifier([2, 3], scoring="auc").fit(*wine)


def test_what_is_tried_is_shown_to_who_wants_to_see_it(wine, capfd):
    SelfOrganisedHierarchyClassifier("each", verbose=True).fit(*wine)
    quiet = capfd.readouterr()
    assert quiet.out == ""


def test_trees_begin_with_the_rules_of_thumb():
    assert (TREE_SETTING.n_clusters, TREE_SETTING.level_gap) == ("auto", "auto")
