"""``solah diff``: compare two models, and their predictions."""

from pathlib import Path
from typing import Annotated

import typer

from solah.cli.command import READ, argument, option
from solah.cli.options import ReadingOptions, Rows, Truth
from solah.cli.screen import Screen

_DIFFER = 1

Before = Annotated[Path, argument("BEFORE", "The old model file."), READ]
After = Annotated[Path, argument("AFTER", "The new model file."), READ]
All = Annotated[bool, option("--all", "List all differences and all rows that flip.")]


def diff(
    before: Before,
    after: After,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    everything: All = False,
) -> None:
    """Compare two models: words, rules, groups, settings; and on DATA their predictions.

    Where words differ, rules are compared as functions of the values, so a refitted model can be
    compared too. The exit code is 1 if the models differ, and 0 if not.

    Example: solah diff january.json february.json february.csv
    """
    from solah.cli.problem import known_truth, read_source
    from solah.cli.views import heading
    from solah.edit.diff import diff as compare
    from solah.edit.diff_text import MOST_FLIPS, MOST_LINES, sections
    from solah.model import load_document

    models = load_document(before), load_document(after)
    table, truth = None, None
    if data is not None:
        table = read_source(data, reading).table
        truth = known_truth(models[1], table, target, screen)
    found = compare(*models, table, truth)
    if screen.json:
        screen.document(found.to_dict())
    limits = (None, None) if everything else (MOST_LINES, MOST_FLIPS)
    for number, section in enumerate(sections(found, *limits)):
        blank = [""] if number else []
        screen.result(*blank, heading(section.title), *(f"  {line}" for line in section.lines))
    if not found.is_empty:
        raise typer.Exit(_DIFFER)
