"""``solah card``: write a model card, with rows if there are any."""

from pathlib import Path

import typer

from solah.cli.options import By, ModelFile, OutputFile, Positive, ReadingOptions, Rows, Truth
from solah.cli.screen import Screen


def card(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    by: By = None,
    positive: Positive = None,
    output: OutputFile = Path("card.md"),
) -> None:
    """Write a model card as Markdown: what it decides, from what, how well, and where not to.

    It tells the data that the model was learnt from, the readings that it knows, rules that rest on
    few rows, constraints and edits, and the size on a device. Rows of DATA add scores, and with
    --by error rates of groups. With --json the summary is printed too.

    Example: solah card model.json patients.csv --by sex -o card.md
    """
    from solah.atomic import write_whole
    from solah.cli.problems import columns_by, known_truth
    from solah.cli.sources import read_source
    from solah.model import load_document
    from solah.report import render_card, summarise_card

    document = load_document(model)
    if data is None:
        if by or positive:
            raise typer.BadParameter("--by measures the decisions on rows; give DATA")
        summary = summarise_card(document)
    else:
        source = read_source(data, reading.read_options())
        truth = known_truth(document, source.table, target, screen)
        columns = columns_by(document, source.table, by, positive)
        summary = summarise_card(
            document, source.table, truth, source=source.name, by=columns, positive=positive
        )
    if screen.json:
        screen.document(summary)
    write_whole(output, render_card(summary))
    screen.say(f"written to {output}")
