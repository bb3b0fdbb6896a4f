"""The databases in, SOLAH against the single tree out; those with many attributes also apart."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from solah.reproduction.models import (
    LEAST_ROWS,
    MAX_INPUTS,
    VARIANTS,
    Variant,
    single_tree,
    solah_of_database,
)
from solah.reproduction.tables.layout import MEASURES, PRINTED, SETTINGS, make_table
from solah.reproduction.tables.lines import Line, printed_row

if TYPE_CHECKING:
    from solah.reproduction.published import Database
    from solah.reproduction.tables.layout import Row, Table
    from solah.reproduction.tables.lines import Results
    from solah.reproduction.tables.wish import Wish

PAPERS_FOLDS = 10
FEW_FOLDS = 2
MEAN = "mean of the paper's databases"
_COLUMNS = (
    ("data", "data", "text"),
    ("model", "model", "text"),
    ("folds", "folds", "count"),
    ("settings", "settings", "text"),
    *MEASURES,
)


def solah_line(database: Database, variant: Variant, folds: int, wish: Wish) -> Line:
    """Return the line of SOLAH on a database."""
    recipe = solah_of_database(variant)
    return Line(database.name, recipe, folds, wish.seeds)


def tree_line(database: Database, variant: Variant, folds: int, wish: Wish) -> Line:
    """Return the line of the single tree on a database."""
    recipe = single_tree(variant, is_wide=database.is_wide)
    return Line(database.name, recipe, folds, wish.seeds)


def all_lines(wish: Wish) -> list[Line]:
    """List the lines of the comparison with the single tree, those of its means among them."""
    lines = []
    for database in wish.databases:
        folds = _folds(database, wish)
        for variant in VARIANTS:
            lines.append(solah_line(database, variant, folds, wish))
            lines.append(tree_line(database, variant, folds, wish))
            if database.is_high:
                lines.append(solah_line(database, variant, wish.folds, wish))
    return lines


def table(wish: Wish, results: Results) -> Table:
    """Lay SOLAH and the single tree side by side."""
    rows: list[Row] = []
    for database in wish.databases:
        folds = _folds(database, wish)
        words = {
            "data": database.title,
            "name": database.name,
            "is_counted": database.is_counted,
        }
        solah_words, tree_words = {**words, "model": "SOLAH"}, {**words, "model": "single tree"}
        printed_folds = FEW_FOLDS if database.is_high else PAPERS_FOLDS
        rows.append(printed_row(database.solah, **solah_words, folds=printed_folds))
        rows += [
            solah_line(database, variant, folds, wish).row(results, **solah_words)
            for variant in VARIANTS
        ]
        rows.append(printed_row(database.tree, **tree_words, folds=printed_folds))
        rows += [
            tree_line(database, variant, folds, wish).row(results, **tree_words)
            for variant in VARIANTS
        ]
    notes = [
        "T is the time to learn and test all folds, on one processor and without the choosing of "
        "k and theta; the paper's T is what it prints.",
        f"The means are over the databases that the paper has, {wish.folds} folds throughout for "
        "SOLAH; Wisconsin's and Heart-C's other readings are not in them.",
    ]
    return make_table(
        "ldt",
        "SOLAH against a single tree",
        _COLUMNS,
        rows + _means(wish, results),
        notes + wide_notes(wish),
    )


def high_lines(wish: Wish) -> list[tuple[Database, str, Line]]:
    """List the lines of the databases with many attributes, with few folds and with all."""
    return [
        (database, model, line(database, variant, folds, wish))
        for database in wish.databases
        if database.is_high
        for model, line in (("SOLAH", solah_line), ("single tree", tree_line))
        for folds in dict.fromkeys((FEW_FOLDS, wish.folds))
        for variant in VARIANTS
    ]


def high_table(wish: Wish, results: Results) -> Table:
    """Show the databases with many attributes."""
    rows: list[Row] = []
    for database in wish.databases:
        if database.solah_ten_folds is None:
            continue
        words = {"data": database.title, "name": database.name}
        printed = (
            ("SOLAH", FEW_FOLDS, database.solah),
            ("SOLAH", PAPERS_FOLDS, database.solah_ten_folds),
            ("single tree", FEW_FOLDS, database.tree),
        )
        rows += [
            printed_row(line, **words, model=model, folds=folds) for model, folds, line in printed
        ]
        rows += [
            line.row(results, **words, model=model, folds=line.folds)
            for each, model, line in high_lines(wish)
            if each is database
        ]
    return make_table(
        "high", "The databases with many attributes", _COLUMNS, rows, wide_notes(wish)
    )


def _folds(database: Database, wish: Wish) -> int:
    return FEW_FOLDS if database.is_high else wish.folds


def _means(wish: Wish, results: Results) -> list[Row]:
    """Average accuracy and AUC over the databases, as far as they are all there."""
    rows = [
        _mean_row("SOLAH", PRINTED, [vars(one.solah_at_ten_folds) for one in wish.counted]),
        *(
            _mean_row(
                "SOLAH",
                SETTINGS[variant],
                [solah_line(one, variant, wish.folds, wish).row(results) for one in wish.counted],
            )
            for variant in VARIANTS
        ),
        _mean_row("single tree", PRINTED, [vars(one.tree) for one in wish.counted]),
        *(
            _mean_row(
                "single tree",
                SETTINGS[variant],
                [
                    tree_line(one, variant, _folds(one, wish), wish).row(results)
                    for one in wish.counted
                ],
            )
            for variant in VARIANTS
        ),
    ]
    return [row for row in rows if row]


def _mean_row(model: str, settings: str, rows: list[Row]) -> Row:
    if not rows or any(row.get("accuracy") is None for row in rows):
        return {}
    means = {key: fmean(float(row[key]) for row in rows) for key in ("accuracy", "auc")}
    return {"data": MEAN, "model": model, "settings": settings, **means}


def choice_note() -> str:
    """Say which hierarchies SOLAH does not choose from."""
    return (
        f"With PAPER, SOLAH does not choose from hierarchies with a tree of more than {MAX_INPUTS} "
        "inputs, unless all have one: such trees take minutes. By default it weighs what trees say "
        "and chooses its settings by itself."
    )


def wide_notes(wish: Wish) -> list[str]:
    """Say what is bounded so that the trees end in time."""
    notes = [choice_note()]
    wide = [one.title for one in wish.databases if one.is_wide]
    if wide:
        notes.append(
            f"{', '.join(wide)}: with PAPER, branches of the single tree that hold less than "
            f"{LEAST_ROWS} rows are not split further. Otherwise the tree does not end in "
            "minutes, since every row is a little in every branch."
        )
    return notes
