"""Reads a rules file; ``docs/rules-file.md`` has the grammar."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from importlib.metadata import version as package_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from solah.data.json_reader import Reader
from solah.edit.lexer import RESERVED, STATEMENTS, tokens_of
from solah.edit.rule_lines import (
    TermLines,
    read_branches,
    read_feature_line,
    read_policy,
    read_scale,
    read_target_line,
)
from solah.edit.sentence import read_class, read_conclusion, target_names
from solah.exceptions import ModelFormatError, RuleTextError, did_you_mean, shorten
from solah.model.feature_format import read_feature, read_target
from solah.model.features import Feature, belief_feature
from solah.model.format import FORMAT_NAME, FORMAT_VERSION, MAX_BYTES, read_model
from solah.model.lexer import Cursor

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping

    from solah.model.document import Model, Target
    from solah.model.lexer import Token


RULES_VERSION = 1

_Part = TypeVar("_Part")

_ROOT = "the model"
_PATH = re.compile(re.escape(_ROOT) + r"(?P<steps>(?:\.\w+|\[\d+\])*)")
_STEP = re.compile(r"(?:\.\w+|\[\d+\])$")

# The names of parts of a model file in messages about a rules file.
_CALLED = {
    "belief": "the shares",
    "missing": "the masses behind 'missing'",
    "rows": "the number of rows",
    "shares": "the shares",
    "weights": "the weights",
}


class Draft(Cursor):
    """The tokens of a rules file, and those that each part of the model file begins with."""

    def __init__(self, text: str) -> None:
        super().__init__(tokens_of(text), RESERVED)
        self._tokens_of: dict[str, Token] = {}

    def locate(self, path: str, token: Token) -> None:
        """Keep the token that a part of the model file begins with.

        Parameters
        ----------
        path : as errors have it, without the root: ``.nodes[2].terms[0]``
        token : where it begins
        """
        self._tokens_of[path] = token

    def block(self) -> Iterator[Token]:
        """Yield the first token of each line up to the next statement, and end each line."""
        while (token := self.next_line()).kind != "end":
            if self.is_at(*STATEMENTS):
                return
            yield token
            self.end_line()

    def checked(self, read: Callable[[Reader], _Part], record: Any, path: str = "") -> _Part:
        """Read a record as a part of the model file; an error has the line and the column."""
        try:
            return read(Reader(record, _ROOT + path, ModelFormatError))
        except ModelFormatError as error:
            message = str(error)
            match = _PATH.search(message)
            steps = match["steps"] if match else ""
            known = steps
            while known and known not in self._tokens_of:
                known = _STEP.sub("", known)
            if match:
                rest = steps[len(known) :].lstrip(".") or "this"
                rest = re.sub(r"^\w+", lambda key: _CALLED.get(key[0], key[0]), rest)
                message = message[: match.start()] + rest + message[match.end() :]
            raise self._tokens_of[known].fail(message) from None


def load_rules(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Model:
    """Read a model from a rules file; the error of a broken one names the file."""
    place = Path(path)
    with place.open("rb") as file:
        data = file.read(max_bytes + 1)  # one byte more is enough to know that it is too large
    try:
        if len(data) > max_bytes:
            raise RuleTextError(f"the file has more than {max_bytes:,} bytes")
        text = _decoded(data)
        if text.lstrip().startswith("{"):
            raise RuleTextError(
                "this is a model file (JSON); 'solah rules -o NAME.rules' makes one"
            )
        return read_rules(text)
    except RuleTextError as error:
        raise RuleTextError(error.problem, error.line, error.column, place.name) from None


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(errors="replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise RuleTextError("this is not text in UTF-8", line, column) from None


def read_rules(text: str) -> Model:
    """Read a model from the text of a rules file.

    Parameters
    ----------
    text : str

    Returns
    -------
    model : Model
        With all checks that a model file has.

    Raises
    ------
    RuleTextError
        With the line and the column of what is wrong.
    """
    return _RulesReader(text).model()


class _RulesReader(Draft):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._features: dict[str, Feature] = {}
        self._nodes: dict[str, Token] = {}
        self._used: set[str] = set()
        # Words over outputs of nodes: those for the next node, those of the last one, and all.
        self._next_beliefs: dict[str, tuple[Feature, dict[str, Any]]] = {}
        self._beliefs: dict[str, Feature] = {}
        self._belief_tokens: list[tuple[int, str, Token]] = []
        self._lists: dict[str, list[dict[str, Any]]] = {
            key: [] for key in ("features", "nodes", "monotonic", "edits")
        }
        self._policy: dict[str, Any] | None = None

    def model(self) -> Model:
        start = self.next_line()
        self.locate("", start)
        self._read_version()
        self._read_target(self.next_line())
        statements: dict[str, Callable[[Token], None]] = {
            "feature": self._read_feature,
            "belief": self._read_belief,
            "sum": self._read_sum,
            "rules": self._read_rules,
            "group": self._read_group,
            "tree": self._read_tree,
            "constraint": self._read_constraint,
            "policy": self._read_policy,
            "edit": self._read_edit,
        }
        while (token := self.next_line()).kind != "end":
            statements[self.word(*statements)](token)
        self._check_end(token)
        document = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "generator": f"solah {package_version('solah')}",
            "task": self._task.value,
            "target": self._target_record,
        }
        document |= {key: value for key, value in self._lists.items() if value}
        document |= {} if self._policy is None else {"policy": self._policy}
        model = self.checked(read_model, document)
        for number, name, token in self._belief_tokens:
            if all(one.name != name for one in model.nodes[number].inputs):
                raise token.fail(f"the node that comes next has no rules on {shorten(name)}")
        return model

    def _read_version(self) -> None:
        self.word("solah")
        self.word("rules")
        token = self.token
        if self.number("the version of the file") != RULES_VERSION:
            raise token.fail(
                f"this solah reads rules files of version {RULES_VERSION}. Got {token.text}."
            )
        self.end_line()

    def _check_end(self, end: Token) -> None:
        if not self._features:
            raise end.fail("the file has no feature")
        if not self._nodes:
            raise end.fail("the file has no sum and no tree")
        for name, token in list(self._nodes.items())[:-1]:
            if name not in self._used:
                raise token.fail(
                    f"the model has no rules on {shorten(name)}, and only the last node decides"
                )
        if self._next_beliefs:
            raise end.fail(f"no node follows the input {shorten(min(self._next_beliefs))}")

    # --- target and features ---------------------------------------------------------------------

    def _read_target(self, token: Token) -> None:
        self.locate(".target", token)
        self.word("target")
        self._task, self._target_record = read_target_line(self)
        read = partial(read_target, task=self._task)
        self._target: Target = self.checked(read, self._target_record, ".target")

    def _read_feature(self, token: Token) -> None:
        place = f".features[{len(self._features)}]"
        record = read_feature_line(self, token, place)
        feature = self.checked(read_feature, record, place)
        if feature.name in self._features:
            raise token.fail(f"the name {shorten(feature.name)} is taken already")
        self._features[feature.name] = feature
        self._lists["features"].append(record)

    def _read_belief(self, token: Token) -> None:
        """Read words over the output of a node, for the node that comes next."""
        place = ".beliefs"
        name = self.name("a name for the input")
        self.locate(place, token)
        self.word("of")
        node = self._known(self.token, self.name("the name of a node"), self._nodes, "node")
        self.word("in")
        number = read_class(self, self._target)
        self.end_line()
        record = {"name": name, **read_scale(self)}
        # For the checks of its words, it is a feature like any other.
        described = record | {"type": "continuous", "low": 0.0, "high": 1.0}
        words = self.checked(read_feature, described, place)
        if name in self._next_beliefs:
            raise token.fail(f"the name {shorten(name)} is taken already")
        self._next_beliefs[name] = (
            replace(words, tree=node, place=number),
            record | {"node": node, "class": number},
        )
        self._belief_tokens.append((len(self._nodes), name, token))

    def _known(self, token: Token, name: str, known: Mapping[str, object], what: str) -> str:
        if name not in known:
            raise token.fail(f"there is no {what} {shorten(name)} above{did_you_mean(name, known)}")
        return name

    # --- nodes -----------------------------------------------------------------------------------

    def _new_node(self, token: Token) -> tuple[dict[str, Any], str]:
        """Begin a node; return its record and its path."""
        place = f".nodes[{len(self._nodes)}]"
        self.locate(f"{place}.name", self.token)
        name = self.name("a name")
        if name in self._nodes:
            raise token.fail(f"the name {shorten(name)} is taken already")
        self.locate(place, token)
        record: dict[str, Any] = {"name": name}
        if self._next_beliefs:
            record["beliefs"] = [one for _, one in self._next_beliefs.values()]
        self._beliefs = {key: words for key, (words, _) in self._next_beliefs.items()}
        self._next_beliefs = {}
        self._lists["nodes"].append(record)
        return record, place

    def _read_input(self, known: Mapping[str, Feature]) -> Feature:
        token, name = self.token, self.name("the name of a feature")
        feature = known[self._known(token, name, known, "feature")]
        self._used.add(feature.origin)
        return feature

    def _read_sum(self, token: Token) -> None:
        record, place = self._new_node(token)
        if self._target.classes and not self._target.shares:
            raise token.fail("a sum needs a target whose classes have shares ('yes share 0.1')")
        self._nodes[record["name"]] = token
        self.end_line()
        self.locate(f"{place}.baseline", self.next_line())
        self.word("baseline")
        record["baseline"] = list(read_conclusion(self).scores_for(self._target.classes))
        record["terms"] = []
        self.end_line()

    def _sum(self, token: Token) -> tuple[dict[str, Any], str]:
        """Return the sum that rules or a group belong to, and its path."""
        nodes = self._lists["nodes"]
        if not nodes or "terms" not in nodes[-1] or self._next_beliefs:
            raise token.fail("this must be below a sum ('sum NAME')")
        return nodes[-1], f".nodes[{len(nodes) - 1}]"

    def _read_features(self, known: Mapping[str, Feature]) -> list[Feature]:
        """Read the features of a term: one, or two with ``and`` between them."""
        found = [self._read_input(known)]
        return [*found, self._read_input(known)] if self.took_word("and") else found

    def _read_rules(self, token: Token) -> None:
        node, place = self._sum(token)
        place = f"{place}.terms[{len(node['terms'])}]"
        self.word("on")
        self.locate(place, self.token)
        inputs = self._read_features({**self._features, **self._beliefs})
        record: dict[str, Any] = {}
        if self.took("bar"):
            self.word("variance")
            self.locate(f"{place}.variance", self.token)
            record["variance"] = self.number("the variance")
        self.end_line()
        record["rules"] = TermLines(self, self._target, inputs).read(place)
        node["terms"].append(record)

    def _read_group(self, token: Token) -> None:
        node, place = self._sum(token)
        groups = node.setdefault("groups", [])
        name = self.name("the name of a group")
        self.locate(f"{place}.groups[{len(groups)}]", token)
        self.end_line()
        known = [frozenset(name for name, _ in one["rules"][0]["if"]) for one in node["terms"]]
        numbers: set[int] = set()
        for line in self.block():
            names = [one.name for one in self._read_features({**self._features, **self._beliefs})]
            if frozenset(names) not in known:
                raise line.fail(f"there are no rules on {' and '.join(map(shorten, names))} above")
            number = known.index(frozenset(names))
            if number in numbers:
                raise line.fail("the group has these rules already")
            numbers.add(number)
        groups.append({"name": name, "terms": sorted(numbers)})

    def _read_tree(self, token: Token) -> None:
        record, place = self._new_node(token)
        states = self._target.classes
        outputs = {
            name: belief_feature(name, states, (1.0 / len(states),) * len(states))
            for name in (self._nodes if states else ())
        }
        known = {**self._features, **outputs, **self._beliefs}
        self._nodes[record["name"]] = token
        self.word("on")
        self.locate(f"{place}.inputs", self.token)
        inputs = [self._read_input(known)]
        while self.took("comma"):
            inputs.append(self._read_input(known))
        self.end_line()
        record["inputs"] = [one.name for one in inputs]
        begin = self.next_line()
        self.locate(f"{place}.start", begin)
        self.word("start")
        if self._target.is_additive_number:
            raise begin.fail("a tree needs a target with classes or words")
        record["start"] = list(read_conclusion(self).shares_for(target_names(self._target)))
        self.end_line()
        record["rules"] = read_branches(self, self._target, inputs, place)

    # --- what else a file has --------------------------------------------------------------------

    def _read_constraint(self, token: Token) -> None:
        number = len(self._lists["monotonic"])
        if not number:
            self.locate(".monotonic", token)
        self.locate(f".monotonic[{number}]", token)
        record: dict[str, Any] = {}
        if self._target.classes:
            record["class"] = read_class(self, self._target)
        self.word("never")
        record["direction"] = 1 if self.word("falls", "rises") == "falls" else -1
        self.word("with")
        name_token, name = self.token, self.name("the name of a feature")
        record["feature"] = self._known(name_token, name, self._features, "feature")
        self.end_line()
        self._lists["monotonic"].append(record)

    def _read_policy(self, token: Token) -> None:
        if self._policy is not None:
            raise token.fail("a second policy; keep one")
        self.locate(".policy", token)
        self.end_line()
        self._policy = read_policy(self, self._target)

    def _read_edit(self, token: Token) -> None:
        number = len(self._lists["edits"])
        self.locate(f".edits[{number}]", token)
        record = {"text": self.name("what was done, in double quotes")}
        for word, key in (("by", "author"), ("at", "time"), ("because", "reason")):
            if self.took_word(word):
                record[key] = self.name(f"the {key}, in double quotes")
        self.end_line()
        self._lists["edits"].append(record)
