"""Policies that are chosen: by rows held out, by rows out of fold, by costs."""

from dataclasses import replace

import numpy as np
import pytest

from policy_cases import room
from random_models import random_number_model
from small_models import room_rows
from solah import LinguisticTreeClassifier, RuleRegressor
from solah.data import from_array
from solah.estimators import fit_policy
from solah.evaluation import choose_policy, score_events, with_costs, with_policy
from solah.exceptions import DataError, ParameterError
from solah.model import AbstainReason, Policy
from solah.model.format import from_json, to_json
from solah.model.predictor import Predictor


def noisy(seed, n_rows=600):
    """Draw rows of three readings, with a class that the first two tell in part."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_rows, 3))
    score = values[:, 0] + values[:, 1] + 0.7 * rng.normal(size=n_rows)
    return from_array(values, ["a", "b", "c"]), np.where(score > 0.8, "fault", "ok")


@pytest.fixture(scope="module")
def fitted():
    return LinguisticTreeClassifier(max_depth=2, min_support=0.02).fit(*noisy(0))


def test_the_error_of_decided_rows_to_come_is_as_wanted(fitted):
    chosen = fit_policy(fitted, *noisy(0), max_error=0.1)
    assert chosen.limit.bound <= 0.1 < chosen.curve.risk[-1]
    table, target = noisy(1, 4000)
    judged = Predictor(chosen.model).decide(table)
    is_decided = judged.places >= 0
    states = np.array(chosen.model.target.classes)
    assert 0.3 < is_decided.mean() < 0.95
    assert (states[judged.places] != target)[is_decided].mean() <= 0.1
    assert (Predictor(chosen.model).predict(table) != target).mean() > 0.1


def test_rows_held_out_choose_as_well(fitted):
    chosen = choose_policy(fitted.model_, *noisy(2), Policy(votes=2, window=3), max_error=0.1)
    assert chosen.policy.votes == 2
    assert chosen.policy.min_probability[0] == chosen.policy.min_probability[1] > 0.5
    judged = Predictor(with_policy(fitted.model_, Policy(chosen.policy.min_probability))).decide(
        noisy(2)[0]
    )
    assert (judged.places >= 0).mean() == chosen.limit.coverage
    assert from_json(to_json(chosen.model).encode()) == chosen.model


def test_few_rows_out_of_fold_are_unseen(fitted):
    chosen = fit_policy(fitted, *noisy(0), Policy(stays_in_range=True), auto_unseen=True)
    assert chosen.flagged_unseen <= 0.01
    less = chosen.policy.max_unseen - 1
    assert less < 0 or (chosen.rows.n_unseen > less).mean() > 0.01
    judged = Predictor(chosen.model).decide([[0.0, 0.0, 0.0], [0.0, 99.0, 0.0]])
    assert judged.abstain_reasons.tolist()[0] == 0
    assert judged.decisions[0] is not None
    assert judged.decisions[1] is None
    assert judged.abstain_reasons[1] & AbstainReason.OUT_OF_RANGE


def test_groups_are_kept_together(fitted):
    table, target = noisy(0)
    groups = np.arange(600) // 100
    chosen = fit_policy(fitted, table, target, max_error=0.2, groups=groups, folds=3)
    assert chosen.rows.method == "by cross-validation: 3 folds, stratified, 6 groups kept together"
    with pytest.raises(DataError, match="only 1 group"):
        fit_policy(fitted, table, target, max_error=0.2, groups=np.zeros(600))


def test_a_wanted_error_that_cannot_be_had_is_an_error(fitted):
    with pytest.raises(ParameterError, match="no limit keeps the error of decided rows at 0.001"):
        fit_policy(fitted, *noisy(0), max_error=0.001)
    with pytest.raises(
        ParameterError, match="'max_unseen' requires a model with a training domain"
    ):
        with_policy(replace(room(), domain=None), Policy(max_unseen=0))
    for costs, message in (
        ({"falt": 2}, "there is no class 'falt' to have a cost; did you mean 'fault'"),
        ({"fault": 0}, "the cost of 'fault' must be above 0"),
        ({"fault": float("nan")}, "the cost of 'fault' must be above 0"),
        ({"fault": 1e30}, "costs may differ by a factor"),
    ):
        with pytest.raises(ParameterError, match=message):
            with_costs(fitted.model_, costs)


def test_costs_move_decisions(fitted):
    table, target = noisy(3)
    costly = with_costs(fitted.model_, {"fault": 10})
    assert costly.target.thresholds == pytest.approx((1 / 11, 10 / 11))
    beliefs = Predictor(costly).predict_proba(table)
    by_cost = np.where(beliefs[:, 0] * 10 > beliefs[:, 1], "fault", "ok")
    assert Predictor(costly).predict(table).tolist() == by_cost.tolist()
    missed = [
        ((Predictor(one).predict(table) == "ok") & (target == "fault")).sum()
        for one in (costly, fitted.model_)
    ]
    assert missed[0] < missed[1]
    assert with_costs(costly, {"fault": 3, "ok": 3}).target.thresholds == ()


def test_limits_of_belief_follow_costs_and_classes(fitted):
    table, target = noisy(0)
    chosen = fit_policy(fitted, table, target, max_error=0.18, costs={"fault": 2})
    fault, ok = chosen.policy.min_probability
    assert ok == pytest.approx(2 * fault)
    assert {"fault", "ok"} <= set(Predictor(chosen.model).decide(table).decisions)
    rare = np.append(["rare"] * 3, target[3:])
    values = np.column_stack([one.values for one in table.columns])
    tree = LinguisticTreeClassifier(max_depth=2, min_support=0.02).fit(values, rare)
    assert len(fit_policy(tree, values, rare, max_error=0.1).policy.min_probability) == 3


def test_numbers_and_unknown_classes_have_no_policy():
    model = random_number_model(np.random.default_rng(0))
    table, _ = noisy(0, 60)
    number = RuleRegressor(max_rules=4).fit(table, table.columns[0].values)
    for choose in (
        lambda: with_policy(model, Policy(min_hold=2)),
        lambda: with_costs(model, {"a": 2}),
        lambda: fit_policy(number, table, table.columns[0].values, max_error=0.1),
    ):
        with pytest.raises(ParameterError, match="predicts a number"):
            choose()
    with pytest.raises(DataError, match="no row has a class of 'occupied'"):
        choose_policy(room(), room_rows().drop(["occupied"]), max_error=0.1)


def test_events_are_counted_run_by_run():
    truth = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, -1])
    decided = np.array([0, 1, 1, 0, 0, 1, -1, 1, 0, 0, 0, 1])
    scores = score_events(truth, decided, ["ok", "fault"])
    assert vars(scores.classes[1]) == {
        "name": "fault",
        "n_events": 2,
        "n_missed": 1,
        "delay": 1.0,
        "n_false_alarms": 2,
    }
    assert scores.n_changes == 7
    assert scores.decided == 10 / 11
    assert scores.accuracy == 4 / 10


def test_a_run_ends_with_its_recording():
    truth, decided = np.array([1, 1, 1, 1]), np.array([1, 1, 0, 1])
    scores = score_events(truth, decided, ["ok", "fault"], ["a", "b", "a", "b"])
    assert scores.classes[1].n_events == 2
    assert scores.classes[1].delay == 0
    assert scores.classes[0].n_false_alarms == 1
    nothing = score_events(np.array([0, 1]), np.array([-1, -1]), ["ok", "fault"])
    assert nothing.accuracy is None
    assert [one.n_missed for one in nothing.classes] == [1, 1]
