"""The settings of the paper, to compare with it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PAPER: Mapping[str, Any] = MappingProxyType(
    {
        "n_labels": 3,
        "placement": "uniform",
        "criterion": "information_gain",
        "purity": 1.0,
        "min_support": 0.0,
        "min_gain": None,
        "max_depth": None,
        "null_branch": "uniform",
        "leaves": "counted",
        "shrinkage": 0.0,
        "max_rules": None,
        "rule_cost": 0.0,
        "fusion": "tree",
        "top": "fuse",
        "bias_corrected": False,
        "node": "tree",
        "belief_labels": None,
        "cross_fit": None,
    }
)
"""Parameters and the paper's values; ``Estimator.with_settings(PAPER)`` takes those that it has."""
