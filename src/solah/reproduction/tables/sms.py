"""A study of text messages in, its hierarchies side by side and its sweep over k out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.reproduction.models import N_CLUSTERS, VARIANTS, by_hand, single_tree, solah
from solah.reproduction.tables.layout import MEASURES, make_table
from solah.reproduction.tables.lines import Line, printed_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.reproduction.models import Recipe
    from solah.reproduction.published import Printed, Study
    from solah.reproduction.tables.layout import Table
    from solah.reproduction.tables.lines import Results
    from solah.reproduction.tables.wish import Wish


def study_lines(study: Study, wish: Wish) -> Iterator[tuple[str, Printed | None, list[Line]]]:
    """List the models of a study: what each is called, the paper's line, and ours."""

    def lines(recipes: list[Recipe]) -> list[Line]:
        return [Line(study.name, recipe, wish.folds, wish.seeds) for recipe in recipes]

    yield "SOLAH", study.solah, lines([solah(variant) for variant in VARIANTS])
    for hand in study.by_hand:
        recipes = [by_hand(variant, hand.label, hand.wiring) for variant in VARIANTS]
        yield hand.title, hand.printed, lines(recipes)
    if study.unknown is not None:
        yield "the paper's best by hand, not in its text", study.unknown, []
    yield "single tree", study.tree, lines([single_tree(variant) for variant in VARIANTS])


def study_table(study: Study, wish: Wish, results: Results) -> Table:
    """Lay the models of a study side by side."""
    rows = []
    for model, printed, lines in study_lines(study, wish):
        if printed is not None:
            rows.append(printed_row(printed, model=model))
        rows += [line.row(results, model=model) for line in lines]
    return make_table(
        study.name,
        f"{study.title}: self-organised, by hand, and a single tree",
        (("model", "model", "text"), ("settings", "settings", "text"), *MEASURES),
        rows,
        [
            f"{study.title}, {wish.folds} folds. SOLAH's k and theta are chosen on the training "
            "rows of each fold; β, rules, K and levels are those of the model learnt from all "
            "rows.",
        ],
    )


def sweep_lines(study: Study, wish: Wish) -> Iterator[tuple[int, Printed | None, list[Line]]]:
    """List the values of k: the paper's line, and ours."""
    printed = {k: line.printed for line in study.sweep for k in line.k}
    for k in printed or N_CLUSTERS:
        yield k, printed.get(k), [Line(study.name, solah("paper", k), wish.folds, wish.seeds)]


def sweep_table(study: Study, wish: Wish, results: Results) -> Table:
    """Show what k does to a self-organised hierarchy."""
    rows = []
    for k, printed, lines in sweep_lines(study, wish):
        if printed is not None:
            rows.append(printed_row(printed, k=k))
        rows += [line.row(results, k=k) for line in lines]
    return make_table(
        study.name.replace("sms", "sweep"),
        f"{study.title}: the preset number of clusters k",
        (("k", "k", "count"), ("settings", "settings", "text"), *MEASURES),
        rows,
        [
            "Theta is chosen on the training rows of each fold; the paper does not print its own. "
            "By default SOLAH chooses k too, so there is nothing to sweep."
        ],
    )
