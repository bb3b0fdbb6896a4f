"""``solah rules``: show the rules of a model as sentences, a table or JSON."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from solah.cli.formats import choose_format
from solah.cli.options import STDOUT, ModelFile, OutputFileOrStdout
from solah.cli.screen import Screen, output_option
from solah.cli.streaming import printed_to
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.explain.rules import Order, Rules
    from solah.model import Model

_choice_option = options_in("Which rules")
_FORMAT_OF_SUFFIX = {
    ".txt": "text",
    ".md": "markdown",
    ".csv": "csv",
    ".json": "json",
    ".rules": "rules",
}

ClassName = Annotated[
    str | None,
    _choice_option("--class", metavar="CLASS", help="Only those that decide for it."),
]
AttributeName = Annotated[
    str | None, _choice_option("--attribute", metavar="COL", help="Only those that look at it.")
]
TreeName = Annotated[
    str | None,
    _choice_option(
        "--tree", metavar="NAME", help="Only those of this tree or term ('rules on hue')."
    ),
]
Limit = Annotated[
    int | None,
    _choice_option(
        "-n", "--limit", min=1, metavar="N", help="Only the N first of each tree or term."
    ),
]
Sort = Annotated[
    Literal["effect", "support"],
    _choice_option(
        help="What comes first in each tree or term: the largest effect, or the most rows."
    ),
]
Format = Annotated[
    Literal["text", "markdown", "csv", "json", "rules"] | None,
    output_option(
        "--format",
        help="By default as the output file ends (.txt, .md, .csv, .json, .rules), else text. "
        "Rules: the whole model, to edit; 'solah build' reads it.",
    ),
]


def rules(
    model: ModelFile,
    screen: Screen,
    class_name: ClassName = None,
    attribute: AttributeName = None,
    tree: TreeName = None,
    limit: Limit = None,
    sort: Sort = "effect",
    form: Format = None,
    output: OutputFileOrStdout = STDOUT,
) -> None:
    """Print the rules of a model as sentences, feature by feature, the strongest first.

    Left of the bar is the effect of a rule: the weights that it adds to the scores, which begin
    at the baseline. A branch of a tree has its class and share there. Right of the bar are counts
    from the training rows. Support is the number of rows, and effect the size of the effect.

    Example: solah rules model.json --class yes --sort support -o rules.md
    """
    from solah.model import load_document

    written_as = choose_format(form, output, _FORMAT_OF_SUFFIX, as_json=screen.json)
    document = load_document(model)
    if written_as == "rules":
        _write_file(document, screen, output, chosen=(class_name, attribute, tree, limit))
        return
    from solah.cli.wording import plural
    from solah.explain.rules import Rules
    from solah.report import strongest

    every = _choose(document, class_name, attribute, tree)
    chosen = Rules(strongest(_sorted_in_parts(every, sort), limit), document)
    with printed_to(output):
        _write(screen, chosen, written_as)
    if output != STDOUT:
        screen.say(f"{plural(len(chosen), 'rule')} written to {output}")


def _write_file(
    model: "Model", screen: Screen, output: Path, chosen: tuple[str | int | None, ...]
) -> None:
    """Write the whole model as a rules file."""
    from solah.edit import write_rules
    from solah.exceptions import ParameterError

    if any(one is not None for one in chosen):
        raise ParameterError("a rules file has the whole model, so no rules can be chosen")
    with printed_to(output):
        sys.stdout.write(write_rules(model))
    if output != STDOUT:
        screen.say(f"The model written to {output}; 'solah build' makes it a document again")


def _choose(
    model: "Model", class_name: str | None, attribute: str | None, tree: str | None
) -> "Rules":
    from solah.explain import rules_of

    return rules_of(model).filter(class_name, attribute, tree)


def _sorted_in_parts(rules: "Rules", order: "Order") -> "Rules":
    """Sort the rules of each term and tree, and leave these in their order."""
    places = {part.name: place for place, part in enumerate(rules.model.parts)}
    return rules.sort(order).sort(key=lambda rule: places[rule.tree])


def _write(screen: Screen, rules: "Rules", form: str) -> None:
    if form == "json":
        screen.document(_as_json(rules))
    elif form == "csv":
        sys.stdout.write(rules.to_csv())
    elif form == "markdown":
        sys.stdout.write(rules.to_markdown())
    else:
        _show(screen, rules)


def _as_json(rules: "Rules") -> dict[str, object]:
    from solah.explain.legend import count_rules
    from solah.report import describe_attribute, describe_goal, describe_parts

    model = rules.model
    return {
        "goal": describe_goal(model.goal),
        "n_rules": count_rules(model),
        "start": rules.start or None,
        "parts": describe_parts(model),
        "rules": rules.to_dicts(),
        "attributes": [describe_attribute(attribute) for attribute in rules.attributes],
    }


def _show(screen: Screen, rules: "Rules") -> None:
    from solah.cli.views import heading, rule_sentence, words_of
    from solah.cli.wording import plural
    from solah.explain.legend import explain_number, explain_rules
    from solah.report import describe_parts

    model = rules.model
    screen.say(heading(f"{model.goal.name}: {explain_number(rules)}"))
    for about in explain_rules(rules)[:-1]:
        screen.say(about)
    if rules.start:
        screen.result(*rules.start.splitlines())
    for part in describe_parts(model):
        of_part = [rule for rule in rules if rule.tree == part["name"]]
        if of_part and not rules.are_of_one_tree:
            shown = "" if len(of_part) == part["rules"] else f", {len(of_part):,} shown"
            sizes = f"{plural(part['rules'], 'rule')}{shown}"
            screen.say("", heading(f"{part['name']} ({sizes}) ← {', '.join(part['inputs'])}"))
        screen.result(*map(rule_sentence, of_part))
    if any(attribute.is_continuous for attribute in rules.attributes):
        screen.say("", heading("The words"), words_of(rules.attributes))
