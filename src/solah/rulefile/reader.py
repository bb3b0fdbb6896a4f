"""Reads a rules file; ``docs/rules-file.md`` has the grammar."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib.metadata import version as package_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.exceptions import RuleTextError, did_you_mean, shorten
from solah.model.attributes import Attribute, belief_attribute, parted_attribute
from solah.model.format import FORMAT_NAME, FORMAT_VERSION, MAX_BYTES
from solah.model.reading_attributes import read_attribute, read_goal
from solah.rulefile.branches import Branch, BranchReader, node_records
from solah.rulefile.draft import Draft
from solah.rulefile.lexer import spell_name
from solah.rulefile.policy_lines import PolicyReader
from solah.rulefile.sentence import read_conclusion, read_state_text
from solah.rulefile.vocabulary import read_attribute_record, read_belief, read_goal_record
from solah.rulefile.words import InputWords

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from solah.model.document import Goal, Model
    from solah.rulefile.lexer import Token

RULES_VERSION = 1


def load_rules(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> Model:
    """Read a model from a rules file; the error of a broken one names the file."""
    place = Path(path)
    with place.open("rb") as file:
        data = file.read(max_bytes + 1)  # one byte more is enough to know that it is too large
    try:
        if len(data) > max_bytes:
            raise RuleTextError(f"the file has more than {max_bytes:,} bytes")
        return read_rules(_decoded(data))
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
        With all checks that a model document has.

    Raises
    ------
    RuleTextError
        With the line and the column of what is wrong.
    """
    return _RulesReader(text).model()


class _RulesReader:
    def __init__(self, text: str) -> None:
        self._draft = Draft(text)
        self._cursor = self._draft.cursor
        self._attributes: dict[str, Attribute] = {}
        self._attribute_records: list[dict[str, Any]] = []
        self._nodes: list[dict[str, Any]] = []
        self._node_tokens: dict[str, Token] = {}
        self._used: set[str] = set()
        # Words over what trees believe, for the rules that come next.
        self._beliefs: dict[str, tuple[Attribute, dict[str, Any], Token]] = {}
        self._promises: list[dict[str, Any]] = []
        self._edits: list[dict[str, Any]] = []
        self._policy: dict[str, Any] | None = None

    def model(self) -> Model:
        cursor = self._cursor
        cursor.skip_blank_lines()
        start = cursor.token
        self._draft.stand_at("", start)
        self._draft.keep_comments(start, "solah")
        self._read_version()
        cursor.skip_blank_lines()
        self._read_goal()
        statements: dict[str, Callable[[Token], None]] = {
            "attribute": self._read_attribute,
            "belief": self._read_belief,
            "rules": self._read_tree,
            "group": partial(self._read_fusion, is_top=False),
            "sum": partial(self._read_fusion, is_top=True),
            "promise": self._read_promise,
            "policy": self._read_policy,
            "edit": self._read_edit,
        }
        cursor.skip_blank_lines()
        while cursor.token.kind != "end":
            token = cursor.token
            statements[cursor.word(*statements)](token)
            cursor.skip_blank_lines()
        self._draft.keep_comments(cursor.token, "end")
        self._check_end(cursor.token)
        document = {
            "format": FORMAT_NAME,
            "version": FORMAT_VERSION,
            "generator": f"solah {package_version('solah')}",
            "task": self._task.value,
            "goal": self._goal_record,
            "attributes": self._attribute_records,
            "trees": self._nodes,
        }
        made = {"monotonic": self._promises, "edits": self._edits}
        document |= {key: value for key, value in made.items() if value}
        return self._draft.model(
            document if self._policy is None else document | {"policy": self._policy}
        )

    def _read_version(self) -> None:
        self._cursor.word("solah")
        self._cursor.word("rules")
        token = self._cursor.token
        if self._cursor.number("the version of the file") != RULES_VERSION:
            raise token.fail(
                f"this solah reads rules files of version {RULES_VERSION}. Got {token.text}."
            )
        self._cursor.end_line()

    def _check_end(self, token: Token) -> None:
        self._refuse_beliefs()
        if not self._attributes:
            raise token.fail("the file has no attribute")
        if not self._nodes:
            raise token.fail("the file has no rules")
        for name, stands_at in list(self._node_tokens.items())[:-1]:
            if name not in self._used:
                raise stands_at.fail(
                    f"no sum or group adds {shorten(name)}, and no rules are on it"
                )

    # --- goal and attributes ---------------------------------------------------------------------

    def _read_goal(self) -> None:
        token = self._cursor.token
        self._draft.keep_comments(token, "goal")
        self._draft.stand_at(".goal", token)
        self._draft.stand_at(".task", token)
        self._cursor.word("goal")
        self._task, self._goal_record = read_goal_record(self._draft)
        read = partial(read_goal, task=self._task)
        self._goal: Goal = self._draft.checked(read, self._goal_record, ".goal")

    def _read_attribute(self, token: Token) -> None:
        place = f".attributes[{len(self._attribute_records)}]"
        self._draft.stand_at(place, token)
        record = read_attribute_record(self._draft, token, place)
        attribute = self._draft.checked(read_attribute, record, place)
        self._refuse_known(attribute.name, token)
        self._attributes[attribute.name] = attribute
        self._attribute_records.append(record)

    def _refuse_known(self, name: str, token: Token) -> None:
        if name in self._attributes or name in self._node_tokens:
            raise token.fail(f"the name {shorten(name)} is taken already")

    def _read_belief(self, token: Token) -> None:
        place = f".beliefs[{len(self._beliefs)}]"
        self._draft.stand_at(place, token)
        stated = read_belief(self._draft, token, place)
        node, node_token = stated.node
        state, state_token = stated.state
        self._expect_node(node, node_token)
        number = self._class(state, state_token)
        # For the checks of its words, it is an attribute as any other.
        described = stated.record | {"kind": "continuous", "low": 0.0, "high": 1.0}
        words = replace(self._draft.checked(read_attribute, described, place), tree=node)
        if words.name in self._beliefs:
            raise token.fail(f"the name {shorten(words.name)} is taken already")
        record = stated.record | {"tree": node, "state": number}
        self._beliefs[words.name] = words, record, token

    def _refuse_beliefs(self) -> None:
        """Refuse words over a belief that no rules are on."""
        for name, (_, _, token) in self._beliefs.items():
            raise token.fail(f"the rules that come next are not on {shorten(name)}")

    def _expect_node(self, name: str, token: Token) -> None:
        if name not in self._node_tokens:
            raise token.fail(
                f"there are no rules or group {shorten(name)} above"
                f"{did_you_mean(name, self._node_tokens)}"
            )

    # --- rules -----------------------------------------------------------------------------------

    def _new_node(self, token: Token, statement: str) -> tuple[str, str]:
        """Read the name of rules or a group; return the anchor of its comments, too."""
        name_token = self._cursor.token
        name = self._cursor.name("a name")
        self._refuse_known(name, name_token)
        anchor = f"{statement} {spell_name(name)}"
        self._draft.keep_comments(token, anchor)
        self._draft.stand_at(f".trees[{len(self._nodes)}]", token)
        return name, anchor

    def _add_node(self, record: dict[str, Any], token: Token, origins: Iterable[str]) -> None:
        self._nodes.append(record)
        self._node_tokens[record["name"]] = token
        self._used.update(origins)

    def _read_tree(self, token: Token) -> None:
        cursor, place = self._cursor, f".trees[{len(self._nodes)}]"
        name, anchor = self._new_node(token, "rules")
        cursor.word("on")
        inputs: list[InputWords] = []
        records: list[Any] = []
        while True:
            self._draft.stand_at(f"{place}.inputs[{len(inputs)}]", cursor.token)
            words, record = self._read_input({one.name for one in inputs})
            inputs.append(words)
            records.append(record)
            if not cursor.took("comma"):
                break
        self._refuse_beliefs()
        reader = BranchReader(self._draft, self._goal, inputs, anchor)
        root = Branch(token, [0], 1, facts=reader.read_facts(1))
        cursor.end_line()
        record = {"name": name, "inputs": records}
        cursor.skip_blank_lines()
        if cursor.is_at("variance"):
            self._draft.stand_at(f"{place}.variance", cursor.token)
            self._draft.keep_comments(cursor.token, f"{anchor} variance")
            cursor.word("variance")
            record["variance"] = cursor.number("the variance")
            cursor.end_line()
        reader.read(root)
        origins = [one.attribute.origin for one in inputs]
        self._add_node(record | self._tree_parts(reader, root, place), token, origins)

    def _tree_parts(self, reader: BranchReader, root: Branch, place: str) -> dict[str, Any]:
        """Return the nodes of a tree, and its rule for a missing reading, for the document."""
        parts: dict[str, Any] = {}
        if reader.missing is not None:
            self._draft.stand_at(f"{place}.missing", reader.missing.token)
            (parts["missing"],), _ = node_records(reader.missing, self._goal)
        parts["nodes"], tokens = node_records(root, self._goal)
        for number, token in enumerate(tokens):
            self._draft.stand_at(f"{place}.nodes[{number}]", token)
        return parts

    def _read_input(self, taken: set[str]) -> tuple[InputWords, Any]:
        """Read an input: an attribute, whole or parted, a tree, or words over its belief."""
        cursor, token = self._cursor, self._cursor.token
        name = cursor.name("the name of an attribute")
        if name in taken:
            raise token.fail(f"{shorten(name)} is named twice")
        if name in self._beliefs:
            words, record, _ = self._beliefs.pop(name)
            return InputWords(words), record
        if name in self._node_tokens:
            states = self._goal.states
            if not states:
                raise token.fail(f"{shorten(name)} has no classes that rules could be on")
            return InputWords(
                belief_attribute(name, states, (1.0 / len(states),) * len(states))
            ), name
        if name not in self._attributes:
            known = [*self._attributes, *self._node_tokens, *self._beliefs]
            raise token.fail(f"there is no attribute {shorten(name)}{did_you_mean(name, known)}")
        attribute = self._attributes[name]
        if not cursor.took_word("parted"):
            return InputWords(attribute), name
        cursor.word("at")
        if len(attribute.cores) < 2:
            raise token.fail(f"{shorten(name)} has no words with ranges that part it")
        starts = [self._read_start(attribute, 1)]
        while cursor.took_word("and"):
            starts.append(self._read_start(attribute, starts[-1] + 1))
        parted = parted_attribute(attribute, starts)
        return InputWords(parted, attribute), {"name": name, "parted_at": starts}

    def _read_start(self, attribute: Attribute, least: int) -> int:
        """Read the first word of a part, which comes behind those of the part before."""
        token = self._cursor.token
        word = read_state_text(self._cursor, "a word")
        known = attribute.words[least:]
        if word not in known:
            raise token.fail(
                f"{shorten(attribute.name)} cannot be parted at {shorten(word)}"
                f"{did_you_mean(word, known)}"
            )
        return least + known.index(word)

    def _read_fusion(self, token: Token, *, is_top: bool) -> None:
        cursor, place = self._cursor, f".trees[{len(self._nodes)}]"
        self._refuse_beliefs()
        name, anchor = self._new_node(token, "sum" if is_top else "group")
        cursor.end_line()
        cursor.skip_blank_lines()
        adds: list[str] = []
        while cursor.is_at("adds") or not adds:
            first = cursor.token
            cursor.word("adds")
            origin_token = cursor.token
            origin = cursor.name("the name of rules or of a group")
            self._draft.keep_comments(first, f"{anchor} adds {spell_name(origin)}")
            self._draft.stand_at(f"{place}.adds[{len(adds)}]", origin_token)
            self._expect_node(origin, origin_token)
            if origin in adds:
                raise origin_token.fail(f"{shorten(origin)} is added twice")
            adds.append(origin)
            cursor.end_line()
            cursor.skip_blank_lines()
        record: dict[str, Any] = {"name": name, "adds": adds}
        if is_top:
            begin = cursor.token
            self._draft.stand_at(f"{place}.bias", begin)
            cursor.word("begins")
            cursor.word("with")
            self._draft.keep_comments(begin, f"{anchor} begins")
            record["bias"] = list(read_conclusion(cursor).scores_for(self._goal.states))
            cursor.end_line()
        self._add_node(record, token, adds)

    def _read_promise(self, token: Token) -> None:
        cursor, number = self._cursor, len(self._promises)
        if not number:
            self._draft.stand_at(".monotonic", token)
        self._draft.stand_at(f".monotonic[{number}]", token)
        self._draft.keep_comments(token, f"promise {number + 1}")
        record: dict[str, Any] = {}
        if self._goal.states:
            state_token = cursor.token
            record["state"] = self._class(read_state_text(cursor, "a class"), state_token)
        cursor.word("never")
        record["direction"] = 1 if cursor.word("falls", "rises") == "falls" else -1
        cursor.word("with")
        name_token = cursor.token
        name = cursor.name("the name of an attribute")
        if name not in self._attributes:
            near = did_you_mean(name, self._attributes)
            raise name_token.fail(f"there is no attribute {shorten(name)}{near}")
        cursor.end_line()
        self._promises.append(record | {"attribute": name})

    def _read_policy(self, token: Token) -> None:
        if self._policy is not None:
            raise token.fail("a model has one policy, and it stands above already")
        self._policy = PolicyReader(self._draft, self._goal).read(token)

    def _class(self, state: str, token: Token) -> int:
        """Find a class of the goal by its text."""
        known = [str(one) for one in self._goal.states]
        if state not in known:
            near = did_you_mean(state, known)
            raise token.fail(f"there is no class {shorten(state)}{near}")
        return known.index(state)

    def _read_edit(self, token: Token) -> None:
        cursor, number = self._cursor, len(self._edits)
        self._draft.stand_at(f".edits[{number}]", token)
        self._draft.keep_comments(token, f"edit {number + 1}")
        record = {"text": cursor.name("what was done, in double quotes")}
        for word, key in (("by", "author"), ("at", "time"), ("because", "reason")):
            if cursor.took_word(word):
                record[key] = cursor.name(f"the {key}, in double quotes")
        cursor.end_line()
        self._edits.append(record)
