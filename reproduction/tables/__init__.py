"""The paper's tables by name: what has to be computed for each, and how it is laid out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.tables import comparison, databases, sms, trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from reproduction.scope import Scope
    from reproduction.tables.layout import TablePlan

__all__ = ["TABLES"]

TABLES: dict[str, Callable[[Scope], TablePlan]] = {
    "sms20": lambda scope: sms.study(scope.sms20, scope),
    "sweep20": lambda scope: sms.sweep(scope.sms20, scope),
    "sms14": lambda scope: sms.study(scope.sms14, scope),
    "sweep14": lambda scope: sms.sweep(scope.sms14, scope),
    "databases": databases.plan,
    "ldt": trees.against_tree,
    "high": trees.many_features,
    "comparison": comparison.plan,
}
