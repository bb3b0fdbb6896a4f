"""Estimators and labelled rows in, how well they decide on unseen rows out.

splits.py    rows              -> which are learnt from and which are tested on
scores.py    truth and beliefs -> accuracy, AUC, log-loss; R², mean absolute error
crossval.py  estimators        -> their scores, fold by fold, and the spread of each
"""

from solah.evaluation.crossval import (
    CrossValidation,
    Fold,
    Spread,
    cross_validate,
    refuse_cut_short,
)
from solah.evaluation.scores import (
    ClassScores,
    NumberScores,
    over_all_classes,
    score_beliefs,
    score_numbers,
)
from solah.evaluation.splits import Plan, Split, Splits, plan_splits

__all__ = [
    "ClassScores",
    "CrossValidation",
    "Fold",
    "NumberScores",
    "Plan",
    "Split",
    "Splits",
    "Spread",
    "cross_validate",
    "over_all_classes",
    "plan_splits",
    "refuse_cut_short",
    "score_beliefs",
    "score_numbers",
]
