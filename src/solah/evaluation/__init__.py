"""Evaluation on held-out rows.

scores.py            classes and probabilities -> metrics and calibration
cross_validation.py  estimators and rows     -> their metrics, fold by fold
groups.py            a column besides        -> error rates of the rows with each value
abstention.py        classes and probabilities -> risk against coverage
policies.py          a model and rows        -> the model with a policy
events.py            decisions in time       -> false alarms, delays
"""

from solah.evaluation.abstention import ProbabilityLimit, RiskCoverage, minimum_limit, risk_coverage
from solah.evaluation.cross_validation import (
    CrossValidation,
    Plan,
    Split,
    cross_validate,
    groups_for,
    plan_splits,
    refuse_cut_short,
)
from solah.evaluation.events import score_events
from solah.evaluation.groups import Groups, measure_groups
from solah.evaluation.policies import ChosenPolicy, choose_policy, with_costs, with_policy
from solah.evaluation.scores import (
    bin_probabilities,
    brier_score,
    calibration_error,
    log_loss,
    over_all_classes,
    score_numbers,
    score_probabilities,
)

__all__ = [
    "ChosenPolicy",
    "CrossValidation",
    "Groups",
    "Plan",
    "ProbabilityLimit",
    "RiskCoverage",
    "Split",
    "bin_probabilities",
    "brier_score",
    "calibration_error",
    "choose_policy",
    "cross_validate",
    "groups_for",
    "log_loss",
    "measure_groups",
    "minimum_limit",
    "over_all_classes",
    "plan_splits",
    "refuse_cut_short",
    "risk_coverage",
    "score_events",
    "score_numbers",
    "score_probabilities",
    "with_costs",
    "with_policy",
]
