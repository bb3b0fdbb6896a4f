"""Finds the tree and the leaves that a rule of a person means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.exceptions import RuleTextError, did_you_mean, shorten
from solah.model.document import Tree
from solah.rulefile.words import InputWords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.model.document import Model
    from solah.rulefile.sentence import StatedCondition


@dataclass(frozen=True)
class FoundRule:
    """The leaves of a tree that a rule means.

    Attributes
    ----------
    place : the place of the tree among the model's nodes
    tree : the tree
    leaves : the leaves; none for the rule of a missing reading
    is_missing : whether the rule is for a missing reading
    """

    place: int
    tree: Tree
    leaves: tuple[int, ...]
    is_missing: bool = False

    @property
    def split_rules(self) -> set[int]:
        """The leaves of rules of which only some are meant."""
        heads = self.tree.heads
        touched = {int(heads[leaf]) for leaf in self.leaves}
        whole = {leaf for leaf in self.tree.leaves.tolist() if int(heads[leaf]) in touched}
        left = {int(heads[leaf]) for leaf in whole - set(self.leaves)}
        return {leaf for leaf in whole if int(heads[leaf]) in left}


def find_rule(
    model: Model, conditions: Sequence[StatedCondition], tree_name: str | None = None
) -> FoundRule:
    """Find the leaves that conditions mean; an error says where the conditions are wrong."""
    place = _find_tree(model, conditions, tree_name)
    tree = model.nodes[place]
    assert isinstance(tree, Tree)
    if any(condition.form == "missing" for condition in conditions):
        if len(conditions) > 1 or len(tree.inputs) > 1 or tree.scores is None:
            raise conditions[0].token.fail(
                "a missing reading has a rule only where evidence of one attribute is added up"
            )
        return FoundRule(place, tree, (), is_missing=True)
    leaves = _leaves(tree, _wanted(model, tree, conditions), conditions)
    return FoundRule(place, tree, tuple(leaves))


def find_trees(model: Model, names: set[str]) -> list[int]:
    """Return the places of the trees whose inputs are just these."""
    return [
        place
        for place, node in enumerate(model.nodes)
        if isinstance(node, Tree) and {one.name for one in node.inputs} == names
    ]


def _find_tree(model: Model, conditions: Sequence[StatedCondition], tree_name: str | None) -> int:
    names = {condition.attribute for condition in conditions}
    trees = {place: node for place, node in enumerate(model.nodes) if isinstance(node, Tree)}
    if tree_name is not None:
        known = [tree.name for tree in trees.values()]
        if tree_name not in known:
            near = did_you_mean(tree_name, known)
            raise RuleTextError(f"the model has no rules {shorten(tree_name)}{near}")
        trees = {place: tree for place, tree in trees.items() if tree.name == tree_name}
    inputs = {one.name for tree in trees.values() for one in tree.inputs}
    for condition in conditions:
        if condition.attribute not in inputs:
            near = did_you_mean(condition.attribute, sorted(inputs))
            raise condition.token.fail(f"no rules are on {shorten(condition.attribute)}{near}")
    found = [place for place in find_trees(model, names) if place in trees] or [
        place for place, tree in trees.items() if names <= {one.name for one in tree.inputs}
    ]
    if not found:
        raise conditions[-1].token.fail(
            f"no rules are on {' and '.join(map(shorten, sorted(names)))} together; add one"
        )
    if len(found) > 1:
        shown = ", ".join(shorten(trees[place].name) for place in found[:4])
        raise conditions[0].token.fail(f"several rules are meant; say which with tree=: {shown}")
    return found[0]


def _wanted(
    model: Model, tree: Tree, conditions: Sequence[StatedCondition]
) -> dict[int, frozenset[int]]:
    """Return the focal sets that are meant, by the number of the input."""
    whole = {attribute.name: attribute for attribute in model.attributes}
    numbers = {attribute.name: number for number, attribute in enumerate(tree.inputs)}
    wanted = {}
    for condition in conditions:
        number = numbers[condition.attribute]
        words = InputWords(tree.inputs[number], whole.get(condition.attribute))
        wanted[number] = frozenset(words.places(condition))
    return wanted


def _leaves(
    tree: Tree, wanted: Mapping[int, frozenset[int]], conditions: Sequence[StatedCondition]
) -> list[int]:
    leaves: list[int] = []
    others: set[int] = set()
    narrow = {n for n, places in wanted.items() if len(places) < tree.inputs[n].n_focal_sets}
    stack: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while stack:
        node, asked = stack.pop()
        split = int(tree.split[node])
        if split >= 0:
            places = wanted.get(split, range(tree.inputs[split].n_focal_sets))
            children = tree.children(node)
            stack.extend((children[place], asked | {split}) for place in places)
            continue
        if not_asked := narrow - asked:
            name = tree.inputs[min(not_asked)].name
            condition = next(one for one in conditions if one.attribute == name)
            raise condition.token.fail(f"the rules of {shorten(tree.name)} do not ask it here")
        leaves.append(node)
        others |= asked - set(wanted)
    if others and len({_content(tree, leaf) for leaf in leaves}) > 1:
        names = " and ".join(shorten(tree.inputs[number].name) for number in sorted(others))
        raise conditions[-1].token.fail(f"several rules are meant, as {names} is asked, too")
    return sorted(leaves)


def _content(tree: Tree, leaf: int) -> tuple[object, ...]:
    scores = None if tree.scores is None else tree.scores[leaf].tobytes()
    return tree.belief[leaf].tobytes(), scores, leaf in tree.pinned
