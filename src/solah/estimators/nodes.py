"""Reads the parameter ``node``: trees, or any classifier, at the nodes of a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from solah.exceptions import ParameterError, did_you_mean
from solah.learn.levels import is_linguistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model.structure import Hierarchy


@dataclass(frozen=True, eq=False)
class SklearnNode:
    """A classifier of scikit-learn that learns the nodes of a hierarchy."""

    estimator: Any

    def fit(self, features: Float, codes: NDArray[Any], weights: Float) -> Any:
        """Return a fitted clone."""
        is_weighted = has_fit_parameter(self.estimator, "sample_weight")
        given = {"sample_weight": weights} if is_weighted else {}
        return clone(self.estimator).fit(features, codes, **given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SklearnNode) and self.estimator is other.estimator

    def __hash__(self) -> int:
        return id(self.estimator)

    def __str__(self) -> str:
        return type(self.estimator).__name__


def node_kinds(node: Any, hierarchy: Hierarchy) -> dict[str, Any]:
    """Settle the kind of every node: one for all, or a mapping of node name to kind."""
    names = [one.name for one in hierarchy.nodes]
    if not isinstance(node, dict):
        return dict.fromkeys(names, _checked_kind(node))
    for name in node:
        if name not in names:
            raise ParameterError(
                f"'node' names {name!r}, which is no node{did_you_mean(name, names)}"
            )
    return {name: _checked_kind(node.get(name, "tree")) for name in names}


def _checked_kind(kind: Any) -> Any:
    methods = ("fit", "predict_proba", "get_params")
    is_estimator = not isinstance(kind, type) and all(hasattr(kind, name) for name in methods)
    if is_linguistic(kind):
        return kind
    if is_estimator:
        return SklearnNode(kind)
    raise ParameterError(
        "'node' must be 'tree', 'cmac', or a scikit-learn classifier with predict_proba. "
        f"Got {kind!r}."
    )
