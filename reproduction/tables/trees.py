"""SOLAH against a single tree on the databases; those with many features also on their own."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from reproduction.models import LEAST_ROWS, MAX_INPUTS, VARIANTS, single_tree, solah_of_database
from reproduction.tables.layout import (
    MEASURES,
    PRINTED,
    SETTINGS,
    Line,
    TablePlan,
    cells_of,
    make_table,
    printed_row,
    rows_of,
)

if TYPE_CHECKING:
    from reproduction.published import Database
    from reproduction.scope import Scope
    from reproduction.tables.layout import Results, Row

PAPERS_FOLDS = 10
FEW_FOLDS = 2
MEAN = "mean of the paper's databases"
SOLAH, TREE = "SOLAH", "single tree"
_COLUMNS = (
    ("data", "data", "text"),
    ("model", "model", "text"),
    ("folds", "folds", "count"),
    ("settings", "settings", "text"),
    *MEASURES,
)


def against_tree(scope: Scope) -> TablePlan:
    """Compare SOLAH with the single tree on every database."""
    lines: list[Line | Row] = []
    for one in scope.databases:
        words = {"data": one.title, "name": one.name, "is_counted": one.is_counted}
        folds = FEW_FOLDS if one.is_high else PAPERS_FOLDS
        for model, printed in ((SOLAH, one.solah), (TREE, one.tree)):
            lines.append(printed_row(printed, **words, model=model, folds=folds))
            lines += _lines(one, model, FEW_FOLDS if one.is_high else scope.folds, scope, words)
    notes = [
        "T is the time to train and test on all folds, on one processor, without choosing k and "
        "theta; the paper's T is as printed.",
        f"The means are over the paper's twelve databases, with {scope.folds} folds throughout "
        "for SOLAH; the other versions of Wisconsin and Heart-C are dropped.",
        *wide_notes(scope),
    ]
    title = "SOLAH against a single tree"
    return TablePlan(
        cells_of([*lines, *(line for one in scope.counted for line in _mean_lines(one, scope))]),
        lambda results: [
            make_table(
                "ldt", title, _COLUMNS, rows_of(lines, results) + _means(scope, results), notes
            )
        ],
    )


def many_features(scope: Scope) -> TablePlan:
    """Show the databases with many features, with few folds and with all."""
    lines: list[Line | Row] = []
    for one in scope.databases:
        if one.solah_ten_folds is None:
            continue
        words = {"data": one.title, "name": one.name}
        lines += [
            printed_row(printed, **words, model=model, folds=folds)
            for model, folds, printed in (
                (SOLAH, FEW_FOLDS, one.solah),
                (SOLAH, PAPERS_FOLDS, one.solah_ten_folds),
                (TREE, FEW_FOLDS, one.tree),
            )
        ]
        for model in (SOLAH, TREE):
            for folds in dict.fromkeys((FEW_FOLDS, scope.folds)):
                lines += _lines(one, model, folds, scope, {**words, "folds": folds})
    title = "The databases with many features"
    return TablePlan(
        cells_of(lines),
        lambda results: [
            make_table("high", title, _COLUMNS, rows_of(lines, results), wide_notes(scope))
        ],
    )


def _lines(database: Database, model: str, folds: int, scope: Scope, words: Row) -> list[Line]:
    """Return the lines of a model on a database, one for each setting."""
    recipes = [
        solah_of_database(variant)
        if model == SOLAH
        else single_tree(variant, is_wide=database.is_wide)
        for variant in VARIANTS
    ]
    return [
        Line({**words, "model": model}, database.name, recipe, folds, scope.seeds)
        for recipe in recipes
    ]


def _mean_lines(database: Database, scope: Scope) -> list[Line]:
    """Return the lines that the means are over: SOLAH with all folds, the tree as in the table."""
    folds = FEW_FOLDS if database.is_high else scope.folds
    return [
        *_lines(database, SOLAH, scope.folds, scope, {}),
        *_lines(database, TREE, folds, scope, {}),
    ]


def _means(scope: Scope, results: Results) -> list[Row]:
    """Average accuracy and AUC over the databases, where all of them have been computed."""
    rows = [
        row
        for one in scope.counted
        for row in (
            printed_row(one.solah_at_ten_folds, model=SOLAH),
            printed_row(one.tree, model=TREE),
            *rows_of(_mean_lines(one, scope), results),
        )
    ]
    means = []
    for model in (SOLAH, TREE):
        for settings in (PRINTED, *(SETTINGS[variant] for variant in VARIANTS)):
            over = [row for row in rows if (row["model"], row["settings"]) == (model, settings)]
            if over and len(over) == len(scope.counted):
                figures = {key: fmean(row[key] for row in over) for key in ("accuracy", "auc")}
                means.append({"data": MEAN, "model": model, "settings": settings, **figures})
    return means


def choice_note() -> str:
    """Return the note on hierarchies that SOLAH skips."""
    return (
        f"With PAPER, SOLAH skips hierarchies that have a tree of more than {MAX_INPUTS} "
        "inputs, unless all do: such trees take minutes. With default settings it stacks "
        "its trees with learned weights and chooses its settings by itself."
    )


def wide_notes(scope: Scope) -> list[str]:
    """Return the note on limits that let the trees finish in time."""
    notes = [choice_note()]
    wide = [one.title for one in scope.databases if one.is_wide]
    if wide:
        notes.append(
            f"{', '.join(wide)}: with PAPER, branches of the single tree that hold less than "
            f"{LEAST_ROWS} rows are not split further. Otherwise the tree would take far longer, "
            "since every row belongs a little to every branch."
        )
    return notes
