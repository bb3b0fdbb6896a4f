"""Terms and linguistic trees in model files: written, and read with every value checked."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ModelFormatError, did_you_mean, shorten
from solah.kernels.arrays import MAX_DEPTH
from solah.model.document import (
    AdditiveNode,
    Branch,
    FeatureGroup,
    MissingRule,
    Node,
    Target,
    Term,
    TermInput,
    TreeNode,
)
from solah.model.feature_format import marks, read_shares, read_state, read_words, words_record
from solah.model.features import belief_feature
from solah.model.json_fields import read_mark
from solah.model.limits import LEAST_SUPPORT, MOST_NUMBER, MOST_SUPPORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from solah.data import State
    from solah.data.json_reader import Reader
    from solah.model.features import Feature


MAX_NODES = 100_000
MAX_TERMS = 100_000
_MAX_RULES = 50_000_000


class NodesReader:
    """Reads nodes from bottom to top; each but the last is an input of one that follows."""

    def __init__(self, target: Target, features: Mapping[str, Feature]) -> None:
        self._target = target
        self._known = dict(features)  # features, and what nodes believe
        self._names: set[str] = set()  # of nodes
        self._taken = set(features)  # names of features, nodes and groups

    def read(self, reader: Reader) -> tuple[Node, ...]:
        """Read all nodes of a model file."""
        nodes: list[Node] = []
        free = set[str]()  # nodes that feed no other yet
        for item in reader.items(1, MAX_NODES if self._target.classes else 1):
            is_sum = isinstance(item.value, dict) and "terms" in item.value
            if is_sum and self._target.centres:
                raise ModelFormatError(f"{item.place} must be a tree: the target has words")
            node: Node = self._read_sum(item) if is_sum else self._read_tree(item)
            below = set(node.origins) & self._names
            if twice := below - free:
                raise ModelFormatError(
                    f"{item.place} uses {shorten(min(twice))}, as another node does"
                )
            free = free - below | {node.name}
            self._names.add(node.name)
            start = node.start if isinstance(node, TreeNode) else self._target.shares
            believed = belief_feature(node.name, self._target.classes, start)
            is_moved = any(one.is_moved for one in node.inputs)
            self._known[node.name] = replace(believed, is_moved=is_moved)
            nodes.append(node)
        if self._target.is_additive_number and not isinstance(nodes[-1], AdditiveNode):
            raise ModelFormatError(f"{reader.place} must end with terms: the target is a number")
        if strays := free - {nodes[-1].name}:
            raise ModelFormatError(
                f"{reader.place} has {shorten(min(strays))}, which feeds no node"
            )
        return tuple(nodes)

    def _new_name(self, reader: Reader) -> str:
        name = reader.text()
        if name in self._taken:
            raise ModelFormatError(f"{reader.place} {shorten(name)} is taken already")
        self._taken.add(name)
        return name

    def _read_beliefs(self, fields: Mapping[str, Reader]) -> dict[str, Feature]:
        """Read words over the outputs of nodes below."""
        found: dict[str, Feature] = {}
        for item in fields["beliefs"].items(1, MAX_TERMS) if "beliefs" in fields else []:
            where = "ranges" if isinstance(item.value, dict) and "ranges" in item.value else "peaks"
            parts = item.record(["name", "node", "class", "words", where, "missing"])
            node = parts["node"].text()
            if node not in self._names:
                raise parts["node"].fail("the name of a node before this one")
            words = replace(
                read_words(parts, 0.0, 1.0),
                tree=node,
                place=parts["class"].integer(0, self._target.size - 1),
                is_moved=self._known[node].is_moved,
            )
            if not 0.0 <= words.peaks[0] <= words.peaks[-1] <= 1.0:
                raise parts[where].fail("numbers from 0 to 1, as they are about a probability")
            if words.name in found:
                raise ModelFormatError(f"{parts['name'].place} {shorten(words.name)} is taken")
            found[words.name] = words
        return found

    def _read_input(self, reader: Reader, beliefs: Mapping[str, Feature]) -> Feature:
        name = reader.text()
        known = {**self._known, **beliefs}
        if name not in known:
            raise ModelFormatError(
                f"{reader.place} names {shorten(name)}, which is neither a feature nor a node "
                f"before this one{did_you_mean(name, known)}"
            )
        return known[name]

    # --- additive nodes ------------------------------------------------------------------------

    def _read_sum(self, reader: Reader) -> AdditiveNode:
        fields = reader.record(["name", "baseline", "terms"], ["groups", "beliefs"])
        name = self._new_name(fields["name"])
        beliefs = self._read_beliefs(fields)
        items = fields["terms"].items(0, MAX_TERMS)
        terms = tuple(self._read_term(item, beliefs) for item in items)
        known: set[frozenset[str]] = set()
        for item, term in zip(items, terms, strict=True):
            if frozenset(term.features) in known:
                raise ModelFormatError(f"{item.place} has the features of another term")
            known.add(frozenset(term.features))
        self._check_reach(fields["terms"], terms)
        groups = fields["groups"].items(1, MAX_TERMS) if "groups" in fields else []
        free = set(range(len(terms)))
        return AdditiveNode(
            name,
            self._read_weights(fields["baseline"]),
            terms,
            tuple(self._read_group(item, len(terms), free) for item in groups),
        )

    def _read_group(self, reader: Reader, n_terms: int, free: set[int]) -> FeatureGroup:
        fields = reader.record(["name", "terms"])
        numbers = tuple(one.integer(0, n_terms - 1) for one in fields["terms"].items(1, n_terms))
        if list(numbers) != sorted(set(numbers)) or not free.issuperset(numbers):
            raise fields["terms"].fail("ascending numbers of terms that no other group has")
        free.difference_update(numbers)
        return FeatureGroup(self._new_name(fields["name"]), numbers)

    def _read_term(self, reader: Reader, beliefs: Mapping[str, Feature]) -> Term:
        fields = reader.record(["rules"], ["variance"])
        told = "mean" if self._target.is_additive_number else "shares"
        rules = [
            one.record(["if", "weights", "rows", told], ["pinned"])
            for one in fields["rules"].items(1, _MAX_RULES)
        ]
        conditions = [[one.items(2, 2) for one in rule["if"].items(1, 2)] for rule in rules]
        inputs = [self._read_term_input(name, beliefs) for name, _ in conditions[0]]
        names = [one.name for one in inputs]
        if len({*names}) < len(names):
            raise rules[0]["if"].fail("conditions on different features")
        for rule, asked in zip(rules, conditions, strict=True):
            if [name.value for name, _ in asked] != names:
                raise rule["if"].fail("conditions on the features of the first rule")
        words = [
            tuple(_read_places(words, one) for (_, words), one in zip(asked, inputs, strict=True))
            for asked in conditions
        ]
        is_missing = len(inputs) == 1 and words[-1] == (None,) and inputs[0].tree is None
        n_cells = len(rules) - is_missing
        sides = zip(inputs, zip(*words[:n_cells], strict=True), strict=False)
        parts = [_read_parts(one, asked, reader) for one, asked in sides]
        if words[:n_cells] != list(product(*parts)):
            raise fields["rules"].fail("one rule for each combination of words, in their order")
        shape, size = tuple(map(len, parts)), self._target.size
        facts = [self._read_facts(rule, told) for rule in rules]
        cells = zip(product(*map(range, shape)), facts, strict=False)
        most = self._target.most_score**2
        return Term(
            tuple(map(TermInput, inputs, parts)),
            weights=np.array([one.scores for one in facts[:n_cells]]).reshape(*shape, size),
            shares=np.array([one.belief for one in facts[:n_cells]]).reshape(*shape, size),
            counts=np.array([one.support for one in facts[:n_cells]]).reshape(shape),
            variance=fields["variance"].number(0.0, most) if "variance" in fields else 0.0,
            missing=facts[-1] if is_missing else None,
            pinned=frozenset(cell for cell, one in cells if one.is_pinned),
        )

    def _read_term_input(self, reader: Reader, beliefs: Mapping[str, Feature]) -> Feature:
        feature = self._read_input(reader, beliefs)
        if feature.name in self._names or (feature.is_continuous and not feature.cores):
            raise reader.fail("a feature whose words have ranges, or one with categories")
        return feature

    def _read_facts(self, rule: Mapping[str, Reader], told: str) -> MissingRule:
        """Read the figures of a rule of a term."""
        if told == "mean":
            shares: tuple[float, ...] = (rule[told].number(-MOST_NUMBER, MOST_NUMBER),)
        else:
            shares = read_shares(rule[told], self._target.size)
        weights = self._read_weights(rule["weights"])
        return MissingRule(_read_support(rule["rows"]), shares, weights, _is_pinned(rule))

    def _read_weights(self, reader: Reader) -> tuple[float, ...]:
        most = self._target.most_score
        return reader.numbers(self._target.size, self._target.size, -most, most)

    def _check_reach(self, reader: Reader, terms: Sequence[Term]) -> None:
        """Refuse weights whose largest ones together are too large."""
        most = self._target.most_score
        reach = 0.0
        for number, term in enumerate(terms):
            missing = () if term.missing is None else term.missing.scores
            reach += max(np.abs(term.weights).max(), *map(abs, missing), 0.0)
            if reach > most:
                raise ModelFormatError(
                    f"{reader.place}[{number}]: the largest weights up to here come to "
                    f"{reach:.3g}, and may come to {most:g}"
                )

    # --- trees ---------------------------------------------------------------------------------

    def _read_tree(self, reader: Reader) -> TreeNode:
        fields = reader.record(["name", "inputs", "start", "rules"], ["beliefs"])
        name = self._new_name(fields["name"])
        beliefs = self._read_beliefs(fields)
        items = fields["inputs"].items(1, len(self._known) * self._target.size + len(beliefs))
        inputs = tuple(self._read_input(one, beliefs) for one in items)
        if len({feature.name for feature in inputs}) != len(inputs):
            raise fields["inputs"].fail("a list without repetition")
        if ranged := [one.name for one in inputs if one.cores]:
            raise ModelFormatError(
                f"{fields['inputs'].place} names {shorten(ranged[0])}, whose words have ranges, "
                "and trees need words that overlap"
            )
        places = {feature.name: place for place, feature in enumerate(inputs)}
        sets = [{words: k for k, words in enumerate(set_words(one))} for one in inputs]
        rules = fields["rules"].items(1, _MAX_RULES)
        branches = tuple(self._read_branch(one, places, sets) for one in rules)
        node = TreeNode(name, inputs, branches, read_shares(fields["start"], self._target.size))
        try:
            _ = node.walk
        except ValueError as error:
            number, reason = error.args
            raise ModelFormatError(f"{rules[number].place} does not fit: {reason}") from None
        return node

    def _read_branch(
        self,
        reader: Reader,
        places: Mapping[str, int],
        sets: Sequence[Mapping[tuple[State, ...], int]],
    ) -> Branch:
        fields = reader.record(["if", "belief", "rows"], ["pinned"])
        conditions: list[tuple[int, tuple[int, ...]]] = []
        items = fields["if"].items(0, min(MAX_DEPTH, len(places)))
        for item in items:
            name, asked = item.items(2, 2)
            place = places.get(name.text())
            if place is None or any(place == before for before, _ in conditions):
                raise name.fail("one of the node's inputs that no condition before names")
            found = []
            for one in asked.items(1, len(sets[place])):
                words = tuple(read_state(word) for word in one.items(1, len(sets[place])))
                if words not in sets[place]:
                    raise one.fail(f"the words of a focal set of {name.text()!r}")
                found.append(sets[place][words])
            if found != sorted(set(found)):
                raise asked.fail("focal sets in their order, each once")
            if len(found) > 1 and item is not items[-1]:
                raise asked.fail("one focal set: only the last condition may have several")
            conditions.append((place, tuple(found)))
        return Branch(
            tuple(conditions),
            read_shares(fields["belief"], self._target.size),
            _read_support(fields["rows"]),
            _is_pinned(fields),
        )


def set_words(feature: Feature) -> Sequence[tuple[State, ...]]:
    """Return the words of each focal set, as model files have them."""
    return [(state,) for state in feature.categories] or feature.focal_sets


def _read_places(reader: Reader, feature: Feature) -> tuple[int, ...] | None:
    """Read the words that a rule asks for, as their indices; None if a value must be missing."""
    if reader.value is None:
        return None
    names: list[State] = list(feature.categories or feature.words)
    found = []
    for item in reader.items(2, len(names)) if isinstance(reader.value, list) else [reader]:
        word = read_state(item)
        if word not in names:
            what = "category" if feature.categories else "word"
            raise item.fail(f"a {what} of {feature.name!r}{did_you_mean(word, map(str, names))}")
        found.append(names.index(word))
    if found != sorted(set(found)):
        raise reader.fail("words in their order, each once")
    return tuple(found)


def _read_parts(
    feature: Feature, asked: Iterable[tuple[int, ...] | None], reader: Reader
) -> tuple[tuple[int, ...], ...]:
    """Return the words of each line of a grid, and check that all words are in one line each."""
    parts = [part or () for part in dict.fromkeys(asked)]
    words = [word for part in parts for word in part]
    is_complete = all(parts) and sorted(words) == list(range(len(feature.words)))
    if not is_complete or parts != sorted(parts) or (feature.is_ordered and words != sorted(words)):
        raise ModelFormatError(
            f"{reader.place} must use each word of {feature.name!r} once, and in their order"
        )
    return tuple(parts)


def _read_support(reader: Reader) -> float:
    support = reader.number(0.0, MOST_SUPPORT)
    if 0 < support < LEAST_SUPPORT:
        raise reader.fail(f"0 or a number from {LEAST_SUPPORT:g} on")
    return support


def _is_pinned(fields: Mapping[str, Reader]) -> bool:
    return "pinned" in fields and read_mark(fields["pinned"])


# --- writing -------------------------------------------------------------------------------------


def node_record(node: Node, target: Target) -> dict[str, Any]:
    """Return a node as JSON's objects."""
    record: dict[str, Any] = {"name": node.name}
    if believed := [one for one in node.inputs if one.tree is not None]:
        record["beliefs"] = [
            {"name": one.name, "node": one.tree, "class": one.place, **words_record(one)}
            | {"missing": list(one.mean_masses)}
            for one in believed
        ]
    if not isinstance(node, AdditiveNode):
        record |= {"inputs": [one.name for one in node.inputs], "start": list(node.start)}
        return record | {"rules": list(_branch_records(node))}
    record["baseline"] = list(node.baseline)
    record["terms"] = [
        ({"variance": term.variance} if term.variance else {})
        | {"rules": list(_rule_records(term, target))}
        for term in node.terms
    ]
    groups = [{"name": one.name, "terms": list(one.terms)} for one in node.groups]
    return record | ({"groups": groups} if groups else {})


def _rule_records(term: Term, target: Target) -> Iterator[dict[str, Any]]:
    named = [one.feature.categories or one.feature.words for one in term.inputs]
    for cell, rule in term.rules():
        words: list[Any] = [[None]]
        if cell is not None:
            words = [
                [names[word] for word in one.parts[line]]
                for one, names, line in zip(term.inputs, named, cell, strict=True)
            ]
        yield {
            "if": [
                [name, of if len(of) > 1 else of[0]]
                for name, of in zip(term.features, words, strict=True)
            ],
            "weights": list(rule.scores),
            "rows": rule.support,
            **({"shares": list(rule.belief)} if target.classes else {"mean": rule.belief[0]}),
            **marks(pinned=rule.is_pinned),
        }


def _branch_records(node: TreeNode) -> Iterator[dict[str, Any]]:
    words = [[list(one) for one in set_words(feature)] for feature in node.inputs]
    for branch in node.branches:
        conditions = [
            [node.inputs[place].name, [words[place][index] for index in sets]]
            for place, sets in branch.conditions
        ]
        facts = {"belief": list(branch.belief), "rows": branch.support}
        yield {"if": conditions, **facts, **marks(pinned=branch.is_pinned)}
