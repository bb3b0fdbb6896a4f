"""``solah rules``: a model document in, its rules as sentences out."""

from typing import TYPE_CHECKING, Annotated

from solah.cli.options import ModelFile
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.explain import Rule
    from solah.model import Attribute, Fusion, Model, Tree

_choice_option = options_in("Which rules")

ClassName = Annotated[
    str | None,
    _choice_option("--class", metavar="CLASS", help="Only those that decide for it."),
]
AttributeName = Annotated[
    str | None, _choice_option("--attribute", metavar="COL", help="Only those that look at it.")
]
TreeName = Annotated[
    str | None, _choice_option("--tree", metavar="NAME", help="Only those of this tree.")
]
Limit = Annotated[
    int | None,
    _choice_option("-n", "--limit", min=1, metavar="N", help="Only the N strongest of each tree."),
]


def rules(
    model: ModelFile,
    screen: Screen,
    class_name: ClassName = None,
    attribute: AttributeName = None,
    tree: TreeName = None,
    limit: Limit = None,
) -> None:
    """Print the rules of a model as sentences, tree by tree, the strongest first.

    Behind a decision stands the belief in it; support is the weight of the rows behind a rule.

    Example: solah rules model.json --class yes --limit 10
    """
    from solah.model import load_document
    from solah.report import strongest

    document = load_document(model)
    chosen = strongest(_choose(document, class_name, attribute, tree), limit)
    described = _described(document, chosen)
    if screen.json:
        screen.document(_as_json(document, chosen, described))
    _show(screen, document, chosen, described)


def _choose(
    model: "Model", class_name: str | None, attribute: str | None, tree: str | None
) -> "list[Rule]":
    from solah.explain import rules_of

    chosen = rules_of(model)
    if class_name is not None:
        _check_class(model, class_name)
        chosen = [rule for rule in chosen if str(rule.decision) == class_name]
    if attribute is not None:
        _check_attribute(model, attribute)
        chosen = [rule for rule in chosen if attribute in _attributes_in(rule)]
    if tree is not None:
        model.hierarchy.node(tree)  # which says what there is if it is not there
        chosen = [rule for rule in chosen if rule.tree == tree]
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

    known = [attribute.name for tree in model.trees for attribute in tree.inputs]
    if name not in known:
        raise ColumnError.unknown(name, known, "the model")


def _attributes_in(rule: "Rule") -> list[str]:
    return [condition.attribute for condition in rule.conditions]


def _spoken_of(rules: "list[Rule]") -> set[str]:
    return {name for rule in rules for name in _attributes_in(rule)}


def _described(model: "Model", rules: "list[Rule]") -> "list[Attribute]":
    """List the attributes that the rules speak of, in the model's order."""
    spoken = _spoken_of(rules)
    return [attribute for attribute in model.attributes if attribute.name in spoken]


def _as_json(
    model: "Model", rules: "list[Rule]", attributes: "list[Attribute]"
) -> dict[str, object]:
    from solah.report import (
        describe_attribute,
        describe_fusion,
        describe_goal,
        describe_rule,
        describe_tree,
    )

    return {
        "goal": describe_goal(model.goal),
        "n_rules": model.n_rules,
        "trees": [describe_tree(tree) for tree in model.trees],
        "fusions": [describe_fusion(fusion) for fusion in model.fusions],
        "rules": [describe_rule(rule) for rule in rules],
        "attributes": [describe_attribute(attribute) for attribute in attributes],
    }


def _show(
    screen: Screen, model: "Model", rules: "list[Rule]", attributes: "list[Attribute]"
) -> None:
    from solah.cli.views import heading, rule_sentence, words_of
    from solah.cli.wording import plural

    is_single = len(model.nodes) == 1
    trees = "" if is_single else f" in {plural(len(model.trees), 'tree')}"
    screen.say(heading(f"{model.goal.name}: {_sizes(model.n_rules, len(rules), trees)}"))
    spoken = _spoken_of(rules)
    if heard := [tree.name for tree in model.trees if tree.name in spoken]:
        screen.say(_explain_beliefs(heard))
    screen.say(*map(_explain_fusion, model.fusions))
    for tree in model.trees:
        of_tree = [rule for rule in rules if rule.tree == tree.name]
        if of_tree and not is_single:
            screen.say("", heading(_tree_heading(tree, len(of_tree))))
        screen.result(*map(rule_sentence, of_tree))
    if any(attribute.is_continuous for attribute in attributes):
        screen.say("", heading("The words"), words_of(attributes))


def _sizes(n_rules: int, n_shown: int, where: str = "") -> str:
    from solah.cli.wording import plural

    shown = "" if n_shown == n_rules else f", {n_shown:,} shown"
    return f"{plural(n_rules, 'rule')}{where}{shown}"


def _tree_heading(tree: "Tree", n_shown: int) -> str:
    """Name a tree, its size and what it looks at, as where it is drawn."""
    inputs = ", ".join(attribute.name for attribute in tree.inputs)
    return f"{tree.name} ({_sizes(tree.n_rules, n_shown)}) ← {inputs}"


def _explain_fusion(fusion: "Fusion") -> str:
    """Say how loudly the trees below a fusion speak."""
    pairs = sorted(zip(fusion.origins, fusion.weights, strict=True), key=lambda pair: -pair[1])
    shown = ", ".join(f"{name} {weight:.2f}" for name, weight in pairs)
    return f"{fusion.name} adds up what trees say, each with its weight: {shown}"


def _explain_beliefs(trees: list[str]) -> str:
    """Say what it means when a rule speaks of a tree."""
    shown = ", ".join(trees[:3]) + (", …" if len(trees) > 3 else "")
    return f"A condition on {shown} is on what the tree of that name believes."
