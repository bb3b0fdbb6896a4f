"""``solah diff``: what differs between two models, and between their decisions."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from solah.cli.options import ReadingOptions, Rows, Truth
from solah.cli.overwriting import READ
from solah.cli.screen import Screen, output_option

if TYPE_CHECKING:
    from solah.data import Column, Table
    from solah.edit.diff_text import ModelDiff
    from solah.model import Model

_DIFFER = 1


def _model(name: str, which: str) -> object:
    return typer.Argument(metavar=name, help=f"The model document {which}.", show_default=False)


Before = Annotated[Path, _model("BEFORE", "that was there"), READ]
After = Annotated[Path, _model("AFTER", "that takes its place"), READ]
All = Annotated[bool, output_option("--all", help="List all differences and all rows that flip.")]


def diff(
    before: Before,
    after: After,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    everything: All = False,
) -> None:
    """Say what differs between two models: words, rules, groups, settings; on DATA, decisions.

    Where words differ, rules are compared as functions of the readings, so that a model that was
    learnt again can be compared, too. The exit code is 1 if the models differ and 0 if they do
    not, whatever was learnt from and wrote them.

    Example: solah diff january.json february.json february.csv
    """
    from solah.edit.diff import diff as compare
    from solah.model import load_document

    models = load_document(before), load_document(after)
    table, truth = None, None
    if data is not None:
        table, truth = _rows(models[1], data, target, reading, screen)
    found = compare(*models, table, truth)
    if screen.json:
        screen.document(found.to_dict())
    _show(screen, found, everything=everything)
    if not found.is_empty:
        raise typer.Exit(_DIFFER)


def _rows(
    model: "Model", data: str, target: str | None, reading: ReadingOptions, screen: Screen
) -> "tuple[Table, Column | None]":
    from solah.cli.problems import known_truth
    from solah.cli.sources import read_source

    table = read_source(data, reading.read_options()).table
    return table, known_truth(model, table, target, screen)


def _show(screen: Screen, found: "ModelDiff", *, everything: bool) -> None:
    from solah.cli.views import heading
    from solah.edit.diff_text import MOST_FLIPS, MOST_LINES, sections

    limits = (None, None) if everything else (MOST_LINES, MOST_FLIPS)
    for number, section in enumerate(sections(found, *limits)):
        blank = [""] if number else []
        screen.result(*blank, heading(section.title), *(f"  {line}" for line in section.lines))
