"""Selects the policy of a model, when it predicts and when it abstains, on held-out rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell
from solah.evaluation.abstention import ProbabilityLimit, RiskCoverage, minimum_limit, risk_coverage
from solah.exceptions import DataError, ParameterError, did_you_mean, shorten
from solah.explain.novelty import novelty_of
from solah.model.encode import read_named, read_truth
from solah.model.limits import LEAST_THRESHOLD
from solah.model.policy import Policy, check_domain, check_policy
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.policy import Domain

MAX_FLAGGED = 0.01
"""The share of held-out rows that may count as unseen, where the limit is selected."""


@dataclass(frozen=True, eq=False)
class RowsApart:
    """Held-out rows.

    Attributes
    ----------
    y_true : (n_rows,) the indices of the true classes
    probabilities : (n_rows, n_classes)
    n_unseen : (n_rows,) how many pairs of cells never occurred together
    out_of_range : (n_rows,) whether a value is beyond those of the training rows
    method : how the rows were held out, in words
    """

    y_true: NDArray[np.intp]
    probabilities: Float
    n_unseen: NDArray[np.intp]
    out_of_range: NDArray[np.bool_]
    method: str


@dataclass(frozen=True, eq=False)
class ChosenPolicy:
    """A model with a policy, and how the policy was selected.

    Attributes
    ----------
    model : the model with its policy
    curve : risk against coverage, on held-out rows
    limit : the limit of probability for the wanted error; None if none was wanted
    rows : those rows
    """

    model: Model
    curve: RiskCoverage
    limit: ProbabilityLimit | None
    rows: RowsApart

    @property
    def policy(self) -> Policy:
        """When the model decides."""
        return self.model.policy or Policy()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        from solah.model.json_fields import record_of

        return {
            "policy": record_of(self.policy),
            "rows": self.curve.n_rows,
            "method": self.rows.method,
            "error": float(self.curve.risk[-1]),
            "limit": self.limit and dict(vars(self.limit)),
            "flagged_out_of_range": float(self.rows.out_of_range.mean()),
            "flagged_unseen": self.flagged_unseen,
        }

    @property
    def flagged_unseen(self) -> float:
        """The share of those rows with more pairs that never occurred together than allowed."""
        return float((self.rows.n_unseen > (self.policy.max_unseen or 0)).mean())


def with_policy(model: Model, policy: Policy, domain: Domain | None = None) -> Model:
    """Give a model a policy.

    Parameters
    ----------
    model : Model
    policy : Policy
    domain : Domain, default=None
        The training domain; by default that of the model, if it has one.

    Raises
    ------
    ParameterError
        If they are not for such a model.
    """
    known = model.domain if domain is None else domain
    if known is not None:
        check_domain(known, model.features)
    check_policy(policy, known, model.target)
    return replace(model, domain=known, policy=policy)


def with_costs(model: Model, costs: Mapping[Any, float]) -> Model:
    """Let a model predict by what it costs to miss each class.

    Parameters
    ----------
    model : Model
    costs : mapping of class to number
        The cost of missing a class; 1 for those that are not named. The class with the largest
        probability times cost is predicted.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = LinguisticTreeClassifier(max_depth=1).fit(iris.table, iris.target).model_
    >>> with_costs(model, {"virginica": 2}).target.thresholds
    (0.4, 0.4, 0.2)
    """
    names = [spell(state) for state in model.target.classes]
    if not names:
        raise ParameterError("costs are for classes, and this model predicts a number")
    by_place = [1.0] * len(names)
    for name, cost in costs.items():
        if spell(name) not in names:
            near = did_you_mean(spell(name), names)
            raise ParameterError(f"there is no class {shorten(name)} to have a cost{near}")
        if not (math.isfinite(cost) and cost > 0):
            raise ParameterError(f"the cost of {shorten(name)} must be above 0. Got {cost!r}.")
        by_place[names.index(spell(name))] = float(cost)
    target = replace(model.target, thresholds=thresholds_of(np.array(by_place)))
    return replace(model, target=target)


def thresholds_of(costs: Float) -> tuple[float, ...]:
    """Return the thresholds for what it costs to miss each class; none if all cost the same."""
    thresholds = (1 / costs) / (1 / costs).sum()
    if thresholds.min() < LEAST_THRESHOLD:
        raise ParameterError(f"costs may differ by a factor of up to {1 / LEAST_THRESHOLD:g}")
    return () if np.ptp(costs) == 0 else tuple(thresholds.tolist())


def choose_policy(
    model: Model,
    X: Any,
    y: Any = None,
    policy: Policy | None = None,
    *,
    max_error: float | None = None,
    auto_unseen: bool = False,
    confidence: float | None = 0.95,
) -> ChosenPolicy:
    """Select limits on rows that a model was not trained on.

    Parameters
    ----------
    model : Model
    X : data frame, Table or path
        Rows that the model was not trained on.
    y : array-like of shape (n_rows,), default=None
        Their classes; by default the column of X with the target's name. Rows without one are
        ignored.
    policy, max_error, auto_unseen, confidence
        As for :func:`solah.estimators.fit_policy`.

    Returns
    -------
    chosen : ChosenPolicy

    Raises
    ------
    ParameterError
        If no limit reaches the wanted error, or the model predicts a number.
    DataError
        If no row has a known class.
    """
    check_policy(policy or Policy(), model.domain, model.target)
    table = read_named(X)
    y_true = read_truth(model.target, table, y)
    known = np.flatnonzero(~np.isnan(y_true))
    if not len(known):
        raise DataError(
            f"no row has a class of {model.target.name!r} that the model knows; a policy is chosen "
            "by rows whose class is known"
        )
    rows = table.take(known)
    novelty = novelty_of(model, rows)
    apart = RowsApart(
        y_true=y_true[known].astype(np.intp),
        probabilities=Predictor(model).outputs(rows),
        n_unseen=novelty.n_unseen,
        out_of_range=novelty.is_out_of_range,
        method="rows held out",
    )
    return select_policy(model, apart, policy, max_error, auto_unseen, confidence)


def select_policy(
    model: Model,
    rows: RowsApart,
    policy: Policy | None,
    max_error: float | None,
    auto_unseen: bool,
    confidence: float | None,
) -> ChosenPolicy:
    """Select limits on held-out rows."""
    target, found = model.target, policy or Policy()
    curve = risk_coverage(
        rows.y_true, rows.probabilities, target.decide(rows.probabilities), target.thresholds
    )
    limit = None
    if max_error is not None:
        limit = minimum_limit(curve, max_error, confidence)
        shares = target.thresholds or (1 / target.size,) * target.size
        per_class = tuple(min(limit.limit * share * target.size, 1.0) for share in shares)
        found = replace(found, min_probability=per_class if limit.limit > 0 else ())
    if auto_unseen:
        rising = np.sort(rows.n_unseen)
        n_flagged = int(MAX_FLAGGED * len(rising))
        found = replace(found, max_unseen=min(int(rising[len(rising) - 1 - n_flagged]), 255))
    return ChosenPolicy(with_policy(model, found), curve, limit, rows)
