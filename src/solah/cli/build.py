"""``solah build``: make a model document of a rules file."""

from pathlib import Path
from typing import Annotated

import typer

from solah.cli.options import OutputFile
from solah.cli.overwriting import READ
from solah.cli.screen import Screen

RulesFile = Annotated[
    Path,
    typer.Argument(
        metavar="RULES",
        help="A rules file, as 'solah rules --format rules' writes it.",
        show_default=False,
    ),
    READ,
]


def build(rules: RulesFile, screen: Screen, output: OutputFile = Path("model.json")) -> None:
    """Make a model document of a rules file that people wrote or edited.

    An error says in which line and column it is. Comments are kept in the document, and are written
    again with its rules.

    Example: solah build model.rules -o model.json
    """
    from solah.cli.wording import plural
    from solah.edit import load_rules
    from solah.explain.legend import count_rules
    from solah.model import save_document

    model = load_rules(rules)
    save_document(model, output)
    n_rules = count_rules(model)
    if screen.json:
        screen.document({"output": str(output), "goal": model.goal.name, "rules": n_rules})
    screen.say(f"{plural(n_rules, 'rule')} written to {output}")
