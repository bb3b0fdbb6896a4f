"""Estimators and labelled rows in, how well they decide on unseen rows out.

splits.py       rows              -> which are learnt from and which are tested on
scores.py       truth and beliefs -> accuracy, AUC, log-loss; R², mean absolute error
calibration.py  truth and beliefs -> how often beliefs come true
groups.py       a column besides  -> error rates of the rows with each value
crossval.py     estimators        -> their scores, fold by fold, and the spread of each

abstaining.py   truth and beliefs -> risk against coverage, and the limit for a wanted error
policies.py     a model, rows     -> the model with a policy
settling.py     decisions in time -> false alarms, delay
"""

from solah.evaluation.abstaining import BeliefLimit, RiskCoverage, least_limit, risk_coverage
from solah.evaluation.calibration import BeliefBins, bin_beliefs, calibration_error
from solah.evaluation.crossval import (
    CrossValidation,
    Fold,
    Spread,
    Tested,
    cross_validate,
    refuse_cut_short,
)
from solah.evaluation.groups import (
    ClassGroup,
    Groups,
    NumberGroup,
    Rate,
    measure_class_groups,
    measure_number_groups,
    rows_by_value,
)
from solah.evaluation.policies import ChosenPolicy, choose_policy, with_costs, with_policy
from solah.evaluation.scores import (
    ClassScores,
    NumberScores,
    over_all_classes,
    score_beliefs,
    score_numbers,
)
from solah.evaluation.settling import ClassEvents, EventScores, score_events
from solah.evaluation.splits import Plan, Split, Splits, groups_for, plan_splits

__all__ = [
    "BeliefBins",
    "BeliefLimit",
    "ChosenPolicy",
    "ClassEvents",
    "ClassGroup",
    "ClassScores",
    "CrossValidation",
    "EventScores",
    "Fold",
    "Groups",
    "NumberGroup",
    "NumberScores",
    "Plan",
    "Rate",
    "RiskCoverage",
    "Split",
    "Splits",
    "Spread",
    "Tested",
    "bin_beliefs",
    "calibration_error",
    "choose_policy",
    "cross_validate",
    "groups_for",
    "least_limit",
    "measure_class_groups",
    "measure_number_groups",
    "over_all_classes",
    "plan_splits",
    "refuse_cut_short",
    "risk_coverage",
    "rows_by_value",
    "score_beliefs",
    "score_events",
    "score_numbers",
    "with_costs",
    "with_policy",
]
