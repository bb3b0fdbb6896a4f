"""Selection of a policy by cross-validation: when a fitted classifier predicts or abstains."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column, as_array
from solah.estimators.inputs import read_features
from solah.evaluation.cross_validation import Plan, cross_validate
from solah.evaluation.policies import ChosenPolicy, RowsApart, select_policy, with_costs
from solah.exceptions import ParameterError
from solah.explain.novelty import novelty_of
from solah.learn.domain import learn_domain
from solah.model.policy import check_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from solah.evaluation.cross_validation import Fold
    from solah.model.document import Model
    from solah.model.policy import Policy


def fit_policy(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    policy: Policy | None = None,
    *,
    max_error: float | None = None,
    auto_unseen: bool = False,
    costs: Mapping[Any, float] | None = None,
    groups: ArrayLike | None = None,
    folds: int = 5,
    confidence: float | None = 0.95,
    on_fold: Callable[[Fold], None] | None = None,
) -> ChosenPolicy:
    """Select when a fitted classifier predicts, by cross-validation on its training rows.

    The values of the training rows become the model's training domain.

    Parameters
    ----------
    estimator : classifier
        Fitted to X and y; it does not change.
    X : array, frame or table of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
        The classes.
    policy : Policy, default=Policy()
        The settings that are not selected.
    max_error : float, default=None
        The wanted error among decided rows, by which ``min_probability`` is selected.
    auto_unseen : bool, default=False
        Whether to select ``max_unseen``, so that it makes the model abstain on at most 1% of the
        rows.
    costs : mapping of class to number, default=None
        The cost of missing each class; 1 for classes that are not named.
    groups : array of shape (n_rows,), default=None
        Rows of one group, such as a recording, are never split between training and test.
    folds : int, default=5
    confidence : float, default=0.95
        As for :func:`solah.evaluation.minimum_limit`.
    on_fold : callable, default=None
        Called when a fold is done.

    Returns
    -------
    chosen : ChosenPolicy
        Its ``model`` has the policy.

    Raises
    ------
    ParameterError
        If no limit reaches the wanted error, or the estimator is not a classifier.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.model.predictor import Predictor
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_depth=2).fit(iris.table, iris.target)
    >>> chosen = fit_policy(tree, iris.table, iris.target, max_error=0.01, confidence=None)
    >>> chosen.limit.risk <= 0.01
    True
    >>> Predictor(chosen.model).decide([[6.0, 3.0, 4.9, 1.7]]).decisions
    [None]
    """
    model: Model = estimator.model_
    if not model.target.classes:
        raise ParameterError("a policy requires a classifier; this model predicts a number")
    table = read_features(estimator, X, reset=False)
    target = as_array(y.values if isinstance(y, Column) else y)
    known_groups = None if groups is None else as_array(groups)
    model = with_costs(model, costs) if costs else model
    model = replace(model, domain=learn_domain(model, table), policy=None)
    if policy is not None:
        check_policy(policy, model.domain, model.target)
    found = cross_validate(
        {"": estimator}, table, target, Plan(folds), groups=known_groups, on_fold=on_fold
    )
    classes, truth = np.unique(target, return_inverse=True)
    rows = RowsApart(
        truth,
        probabilities=np.zeros((table.n_rows, len(classes))),
        n_unseen=np.zeros(table.n_rows, dtype=np.intp),
        out_of_range=np.zeros(table.n_rows, dtype=bool),
        method=f"by cross-validation: {found.plan.folds} folds, {found.method}",
    )
    for fold in found.folds:
        test = fold.tested.rows
        train = np.setdiff1d(np.arange(table.n_rows), test)
        without = replace(model, domain=learn_domain(model, table.take(train)))
        novelty = novelty_of(without, table.take(test))
        rows.probabilities[test] = fold.tested.probabilities
        rows.n_unseen[test] = novelty.n_unseen
        rows.out_of_range[test] = novelty.is_out_of_range
    return select_policy(model, rows, policy, max_error, auto_unseen, confidence)
