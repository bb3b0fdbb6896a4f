"""``solah rules``: a model document in, its rules as sentences out."""

from typing import TYPE_CHECKING, Annotated

from solah.cli.options import ModelFile
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.explain import Rule
    from solah.model import Attribute, Model

_choice_option = options_in("Which rules")

ClassName = Annotated[
    str | None,
    _choice_option("--class", metavar="CLASS", help="Only those that decide for it."),
]
AttributeName = Annotated[
    str | None, _choice_option("--attribute", metavar="COL", help="Only those that look at it.")
]
Limit = Annotated[
    int | None,
    _choice_option("-n", "--limit", min=1, metavar="N", help="Only the N strongest."),
]


def rules(
    model: ModelFile,
    screen: Screen,
    class_name: ClassName = None,
    attribute: AttributeName = None,
    limit: Limit = None,
) -> None:
    """Print the rules of a model as sentences, the strongest first.

    Behind a decision stands the belief in it; support is the weight of the rows behind a rule.

    Example: solah rules model.json --class yes --limit 10
    """
    from solah.model import load_document

    document = load_document(model)
    chosen = _choose(document, class_name, attribute)[:limit]
    described = _described(document, chosen)
    if screen.json:
        screen.document(_as_json(document, chosen, described))
    _show(screen, document, chosen, described)


def _choose(model: "Model", class_name: str | None, attribute: str | None) -> "list[Rule]":
    from solah.explain import rules_of

    chosen = rules_of(model)
    if class_name is not None:
        _check_class(model, class_name)
        chosen = [rule for rule in chosen if str(rule.decision) == class_name]
    if attribute is not None:
        _check_attribute(model, attribute)
        chosen = [rule for rule in chosen if attribute in _attributes_in(rule)]
    return chosen


def _check_class(model: "Model", name: str) -> None:
    from solah.exceptions import DataError, did_you_mean

    known = [str(state) for state in model.goal.states]
    if not known:
        raise DataError(f"{model.goal.name!r} is a number, so it has no class {name!r}")
    if name not in known:
        raise DataError(f"{model.goal.name!r} has no class {name!r}{did_you_mean(name, known)}")


def _check_attribute(model: "Model", name: str) -> None:
    from solah.exceptions import ColumnError

    known = [attribute.name for attribute in model.attributes]
    if name not in known:
        raise ColumnError.unknown(name, known, "the model")


def _attributes_in(rule: "Rule") -> list[str]:
    return [condition.attribute for condition in rule.conditions]


def _described(model: "Model", rules: "list[Rule]") -> "list[Attribute]":
    """List the attributes that the rules speak of, in the model's order."""
    spoken = {name for rule in rules for name in _attributes_in(rule)}
    return [attribute for attribute in model.attributes if attribute.name in spoken]


def _as_json(
    model: "Model", rules: "list[Rule]", attributes: "list[Attribute]"
) -> dict[str, object]:
    from solah.report import describe_attribute, describe_goal, describe_rule

    return {
        "goal": describe_goal(model.goal),
        "n_rules": model.n_rules,
        "rules": [describe_rule(rule) for rule in rules],
        "attributes": [describe_attribute(attribute) for attribute in attributes],
    }


def _show(
    screen: Screen, model: "Model", rules: "list[Rule]", attributes: "list[Attribute]"
) -> None:
    from solah.cli.views import heading, rule_sentence, words_of
    from solah.cli.wording import plural

    shown = "" if len(rules) == model.n_rules else f", {len(rules):,} shown"
    screen.say(heading(f"{model.goal.name}: {plural(model.n_rules, 'rule')}{shown}"))
    screen.result(*map(rule_sentence, rules))
    if any(attribute.is_continuous for attribute in attributes):
        screen.say("", heading("The words"), words_of(attributes))
