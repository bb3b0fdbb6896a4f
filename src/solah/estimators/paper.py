"""The settings of the paper."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from solah.estimators.tree_classifier import LinguisticTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Mapping

PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "tree": LinguisticTreeClassifier(
            n_labels=3,
            placement="uniform",
            criterion="information_gain",
            purity=1.0,
            min_support=0.0,
            min_gain=None,
            max_depth=None,
            null_branch="uniform",
            leaves="counted",
            shrinkage=0.0,
            max_rules=None,
            rule_cost=0.0,
        )
    }
)
"""The settings of the paper: ``SelfOrganisedHierarchyClassifier(**PAPER)``, and so the other two.

How trees become a hierarchy is the paper's by default. ``LinguisticTreeClassifier`` and the
regressor take what they have of it by ``with_settings(PAPER)``.
"""
