"""``solah edit``: change single rules of a model."""

from pathlib import Path
from typing import Annotated, Any

from solah.cli.options import ModelFile, OutputFile
from solah.cli.screen import Screen
from solah.cli.verb import options_in

_edit_option = options_in("Edits, made in this order; each may be given several times")
_about_option = options_in("Kept with each edit")


def _rules(flag: str, text: str, metavar: str = "RULE") -> Any:
    return _edit_option(flag, metavar=metavar, help=text)


Set = Annotated[
    list[str] | None, _rules("--set", "Set what a rule adds: 'if smoke is high then alarm +3'.")
]
Add = Annotated[list[str] | None, _rules("--add", "Add a rule on attributes that share none yet.")]
Remove = Annotated[
    list[str] | None, _rules("--remove", "Switch a rule off: 'if smoke is high'.", "CONDITIONS")
]
Pin = Annotated[
    list[str] | None, _rules("--pin", "Mark a rule that learning again keeps.", "CONDITIONS")
]
Unpin = Annotated[list[str] | None, _rules("--unpin", "Take the mark away.", "CONDITIONS")]
Author = Annotated[str, _about_option("--author", metavar="NAME", help="Who edits.")]
Reason = Annotated[str, _about_option("--reason", metavar="TEXT", help="Why.")]


def edit(
    model: ModelFile,
    screen: Screen,
    set_rules: Set = None,
    add: Add = None,
    remove: Remove = None,
    pin: Pin = None,
    unpin: Unpin = None,
    author: Author = "",
    reason: Reason = "",
    output: OutputFile = Path("edited.json"),
) -> None:
    """Change single rules of a model; the document keeps who did what, when and why.

    For more than a few rules, for words and for names, write the model as a rules file, edit that,
    and build the model again: 'solah rules --format rules' and 'solah build'.

    Example: solah edit model.json --set "if smoke is high then alarm +3" --reason "fire drill"
    """
    from solah.edit import Editor
    from solah.exceptions import ParameterError
    from solah.model import load_document
    from solah.model.provenance import edit_record

    document = load_document(model)
    editor = Editor(document, author=author)
    steps = (
        (editor.set, set_rules),
        (editor.add, add),
        (editor.remove, remove),
        (editor.pin, pin),
        (editor.unpin, unpin),
    )
    if not any(rules for _, rules in steps):
        raise ParameterError(
            "there is nothing to do: give --set, --add, --remove, --pin or --unpin"
        )
    for step, rules in steps:
        for rule in rules or ():
            step(rule, reason=reason)
    editor.save(output)
    made = editor.model.edits[len(document.edits) :]
    if screen.json:
        screen.document({"output": str(output), "edits": [edit_record(one) for one in made]})
    screen.result(*(one.text for one in made))
    screen.say(f"Written to {output}")
