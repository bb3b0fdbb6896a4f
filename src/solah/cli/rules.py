"""``solah rules``: print, edit and build the rules of a model."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from solah.cli.command import READ, argument, option
from solah.cli.options import ModelFile, OutputFile, OutputFileOrStdout
from solah.cli.screen import STDOUT, Screen, choose_format, plural, printed_to

if TYPE_CHECKING:
    from solah.explain.rules import Rules

_FORMAT_OF_SUFFIX = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".rules": "rules",
}

ClassName = Annotated[str | None, option("--class", "Only rules for this class.", metavar="CLASS")]
FeatureName = Annotated[str | None, option("Only rules with this feature.", metavar="COL")]
PartName = Annotated[
    str | None, option("Only rules of this tree or term ('rules on hue').", metavar="NAME")
]
Limit = Annotated[
    int | None, option("-n --limit", "Only the first N of each tree or term.", min=1, metavar="N")
]
Sort = Annotated[
    Literal["effect", "support"],
    option("Order in each tree or term: largest effect, or most rows, first."),
]
Format = Annotated[
    Literal["text", "markdown", "csv", "json", "rules"] | None,
    option(
        "--format",
        "Output format; 'rules' is the whole model, for 'solah rules build'. Default: by the "
        "file's suffix, else text.",
    ),
]
RulesFile = Annotated[
    Path, argument("RULES", "A rules file, as 'solah rules -o model.rules' writes it."), READ
]
_Rules = list[str] | None


def print_rules(
    model: ModelFile,
    screen: Screen,
    class_name: ClassName = None,
    feature: FeatureName = None,
    part: PartName = None,
    limit: Limit = None,
    sort: Sort = "effect",
    form: Format = None,
    output: OutputFileOrStdout = STDOUT,
) -> None:
    """Print the rules of a model, feature by feature, the strongest first.

    Left of the bar is the effect of a rule: the weights that it adds to the scores, starting from
    the baseline. Right of it are counts from the training rows.

    To change rules: 'solah rules edit --help'. To build a model from a rules file:
    'solah rules build --help'.

    Example: solah rules model.json --class yes --sort support -o rules.md
    """
    from solah.edit import write_rules
    from solah.exceptions import ParameterError
    from solah.explain import rules_of
    from solah.explain.rules import Rules
    from solah.model import load_document
    from solah.report import strongest

    written_as = choose_format(form, output, _FORMAT_OF_SUFFIX, as_json=screen.json)
    document = load_document(model)
    if written_as == "rules":
        if any(one is not None for one in (class_name, feature, part, limit)):
            raise ParameterError(
                "a rules file holds the whole model; drop --class, --feature, --part and --limit"
            )
        with printed_to(output):
            sys.stdout.write(write_rules(document))
        if output != STDOUT:
            screen.say(f"Model written to {output}; 'solah rules build' reads it")
        return
    every = rules_of(document).filter(class_name, feature, part).sort(sort)
    places = {one.name: place for place, one in enumerate(document.parts)}
    in_parts = every.sort(key=lambda rule: places[rule.part])
    chosen = Rules(strongest(in_parts, limit), document)
    with printed_to(output):
        if written_as == "json":
            screen.document(_as_json(chosen))
        elif written_as == "csv":
            sys.stdout.write(chosen.to_csv())
        elif written_as == "markdown":
            sys.stdout.write(chosen.to_markdown())
        else:
            _show(screen, chosen)
    if output != STDOUT:
        screen.say(f"{plural(len(chosen), 'rule')} written to {output}")


def _as_json(rules: "Rules") -> dict[str, object]:
    from solah.explain.legend import count_rules
    from solah.report import describe_feature, describe_parts, describe_target

    model = rules.model
    return {
        "target": describe_target(model.target),
        "n_rules": count_rules(model),
        "baseline": rules.baseline or None,
        "parts": describe_parts(model),
        "rules": rules.to_dicts(),
        "features": [describe_feature(feature) for feature in rules.features],
    }


def _show(screen: Screen, rules: "Rules") -> None:
    from solah.cli.views import heading, rule_sentence, words_of
    from solah.explain.legend import explain_number, explain_rules, words_used
    from solah.explain.rules import Rules
    from solah.report import describe_parts

    model = rules.model
    screen.say(heading(f"{model.target.name}: {explain_number(rules)}"))
    for about in explain_rules(rules)[:-1]:
        screen.say(about)
    if rules.baseline:
        screen.result(*rules.baseline.splitlines())
    for part in describe_parts(model):
        of_part = Rules((rule for rule in rules if rule.part == part["name"]), model)
        if of_part and not rules.are_of_one_tree:
            shown = "" if len(of_part) == part["rules"] else f", {len(of_part):,} shown"
            sizes = f"{plural(part['rules'], 'rule')}{shown}"
            screen.say("", heading(f"{part['name']} ({sizes}) ← {', '.join(part['inputs'])}"))
        screen.result(*map(rule_sentence, of_part.lines()))
    if words := list(words_used(rules)):
        screen.say("", heading("The words"), words_of(words))


def edit(
    model: ModelFile,
    screen: Screen,
    change: Annotated[
        _Rules, option("Set a rule's weight: 'if smoke is high then alarm +3'.", metavar="RULE")
    ] = None,
    add: Annotated[
        _Rules, option("Add a rule on features without a common rule.", metavar="RULE")
    ] = None,
    remove: Annotated[
        _Rules, option("Switch a rule off: 'if smoke is high'.", metavar="CONDITIONS")
    ] = None,
    pin: Annotated[
        _Rules, option("Mark a rule that refitting keeps.", metavar="CONDITIONS")
    ] = None,
    unpin: Annotated[_Rules, option("Remove the mark.", metavar="CONDITIONS")] = None,
    author: Annotated[str, option("Name of the editor.", metavar="NAME")] = "",
    reason: Annotated[str, option("Reason for the edits.", metavar="TEXT")] = "",
    output: OutputFile = Path("edited.json"),
) -> None:
    """Edit single rules; the model file records each edit, its author, time and reason.

    solah makes edits in the order listed. Each option may be repeated. To change many rules, write
    a rules file ('solah rules -o model.rules'), edit it, and build it.

    Example: solah rules edit model.json --change "if smoke is high then alarm +3" --reason drill
    """
    from solah.edit import Editor
    from solah.exceptions import ParameterError
    from solah.model import load_document
    from solah.model.json_fields import record_of

    document = load_document(model)
    editor = Editor(document, author=author)
    steps = (
        (editor.set, change),
        (editor.add, add),
        (editor.remove, remove),
        (editor.pin, pin),
        (editor.unpin, unpin),
    )
    if not any(rules for _, rules in steps):
        raise ParameterError("nothing to do; pass --change, --add, --remove, --pin or --unpin")
    for step, rules in steps:
        for rule in rules or ():
            step(rule, reason=reason)
    editor.save(output)
    made = editor.model.edits[len(document.edits) :]
    if screen.json:
        screen.document({"output": str(output), "edits": [record_of(one) for one in made]})
    screen.result(*(one.text for one in made))
    screen.say(f"Written to {output}")


def build(rules: RulesFile, screen: Screen, output: OutputFile = Path("model.json")) -> None:
    """Build a model from a rules file that you wrote or edited.

    An error names its line and column. Comments are kept in the model file.

    Example: solah rules build model.rules -o model.json
    """
    from solah.edit import load_rules
    from solah.explain.legend import count_rules
    from solah.model import save_document

    model = load_rules(rules)
    save_document(model, output)
    n_rules = count_rules(model)
    if screen.json:
        screen.document({"output": str(output), "target": model.target.name, "rules": n_rules})
    screen.say(f"{plural(n_rules, 'rule')} written to {output}")
