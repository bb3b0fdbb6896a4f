"""Estimators and labelled rows in, how well they decide on unseen rows out.

splits.py       rows              -> which are learnt from and which are tested on
scores.py       truth and beliefs -> accuracy, AUC, log-loss; R², mean absolute error
curves.py       truth and beliefs -> ROC curves
calibration.py  truth and beliefs -> how often beliefs come true
groups.py       a column besides  -> error rates of the rows with each value
crossval.py     estimators        -> their scores, fold by fold, and the spread of each
"""

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
from solah.evaluation.scores import (
    ClassScores,
    NumberScores,
    over_all_classes,
    score_beliefs,
    score_numbers,
)
from solah.evaluation.splits import Plan, Split, Splits, groups_for, plan_splits

__all__ = [
    "BeliefBins",
    "ClassGroup",
    "ClassScores",
    "CrossValidation",
    "Fold",
    "Groups",
    "NumberGroup",
    "NumberScores",
    "Plan",
    "Rate",
    "Split",
    "Splits",
    "Spread",
    "Tested",
    "bin_beliefs",
    "calibration_error",
    "cross_validate",
    "groups_for",
    "measure_class_groups",
    "measure_number_groups",
    "over_all_classes",
    "plan_splits",
    "refuse_cut_short",
    "rows_by_value",
    "score_beliefs",
    "score_numbers",
]
