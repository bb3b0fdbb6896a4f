"""The two studies of text messages: models side by side, and a sweep over k."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reproduction.models import VARIANTS, by_hand, single_tree, solah
from reproduction.tables.layout import (
    MEASURES,
    Line,
    TablePlan,
    cells_of,
    make_table,
    printed_row,
    rows_of,
)

if TYPE_CHECKING:
    from reproduction.published import Study
    from reproduction.scope import Scope
    from reproduction.tables.layout import Row


def study(study: Study, scope: Scope) -> TablePlan:
    """Compare self-organised hierarchies, hierarchies wired by hand and a single tree."""
    models = [
        ("SOLAH", study.solah, [solah(variant) for variant in VARIANTS]),
        *(
            (hand.title, hand.printed, [by_hand(v, hand.label, hand.wiring) for v in VARIANTS])
            for hand in study.by_hand
        ),
        ("the paper's best by hand, not given in its text", study.unknown, []),
        ("single tree", study.tree, [single_tree(variant) for variant in VARIANTS]),
    ]
    lines: list[Line | Row] = []
    for model, printed, recipes in models:
        lines.append(printed_row(printed, model=model))
        lines += [Line({"model": model}, study.name, r, scope.folds, scope.seeds) for r in recipes]
    return TablePlan(
        cells_of(lines),
        lambda results: [
            make_table(
                study.name,
                f"{study.title}: self-organised, by hand, and a single tree",
                (("model", "model", "text"), ("settings", "settings", "text"), *MEASURES),
                rows_of(lines, results),
                [
                    f"{study.title}, {scope.folds} folds. SOLAH's k and theta are chosen on the "
                    "training rows of each fold; β, rules, K and levels describe the model "
                    "trained on all rows.",
                ],
            )
        ],
    )


def sweep(study: Study, scope: Scope) -> TablePlan:
    """Show what the preset number of clusters k does to a self-organised hierarchy."""
    lines: list[Line | Row] = []
    for k, printed in ((k, line.printed) for line in study.sweep for k in line.k):
        lines.append(printed_row(printed, k=k))
        lines.append(Line({"k": k}, study.name, solah("paper", k), scope.folds, scope.seeds))
    return TablePlan(
        cells_of(lines),
        lambda results: [
            make_table(
                study.name.replace("sms", "sweep"),
                f"{study.title}: the preset number of clusters k",
                (("k", "k", "count"), ("settings", "settings", "text"), *MEASURES),
                rows_of(lines, results),
                [
                    "Theta is chosen on the training rows of each fold; the paper does not give "
                    "its own. With default settings SOLAH chooses k too, so there is nothing to "
                    "sweep."
                ],
            )
        ],
    )
