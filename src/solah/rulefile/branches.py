"""Reads the rules of a tree: a line for each rule, and lines that lead to others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from solah.exceptions import did_you_mean, shorten
from solah.kernels.arrays import MAX_DEPTH
from solah.rulefile.lexer import spell_name
from solah.rulefile.sentence import read_conclusion, read_condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.model.document import Goal
    from solah.rulefile.draft import Draft
    from solah.rulefile.lexer import Cursor, Token
    from solah.rulefile.words import InputWords

# A line may stand for several nodes that are the same, and those below it for the more.
_MOST_NODES = 1 << 22


@dataclass
class Facts:
    """What stands behind the bar.

    Attributes
    ----------
    supports : the rows of each node; none if they are not given
    beliefs : the shares of the classes among them, one list for all nodes or for each; none if not
        given
    """

    supports: list[float] = field(default_factory=list)
    beliefs: list[list[float]] = field(default_factory=list)

    def support(self, number: int) -> float | None:
        """Return the rows of one of the nodes."""
        return self.supports[number] if self.supports else None

    def belief(self, number: int) -> list[float]:
        """Return the shares among the rows of one of the nodes."""
        return self.beliefs[number if len(self.beliefs) > 1 else 0] if self.beliefs else []


@dataclass(eq=False)
class Branch:
    """A line of a tree: one node, or several that are the same but for their rows.

    Attributes
    ----------
    token : where it stands
    places : the focal sets that lead there, by number
    n_nodes : how many nodes it stands for: so many times the places as there are parents
    facts : what is known of the rows; the support of each node
    scores, belief : what a leaf adds, or believes
    block : the branches below; None for a leaf
    """

    token: Token
    places: list[int]
    n_nodes: int
    is_pinned: bool = False
    facts: Facts = field(default_factory=Facts)
    scores: list[float] = field(default_factory=list)
    belief: list[float] = field(default_factory=list)
    block: Block | None = None


@dataclass(eq=False)
class Block:
    """All branches below a node: the input that it asks, and a line for each of its words.

    Attributes
    ----------
    words : the input
    branches : the lines
    covered : for each focal set that has a line, where it stands
    """

    words: InputWords
    branches: list[Branch] = field(default_factory=list)
    covered: dict[int, Token] = field(default_factory=dict)

    @property
    def left(self) -> list[int]:
        """The focal sets that have no line yet."""
        return [place for place in range(self.n_sets) if place not in self.covered]

    @property
    def n_sets(self) -> int:
        """How many focal sets need a line."""
        return self.words.attribute.n_focal_sets

    def spell(self, places: Sequence[int]) -> str:
        """Write a condition for focal sets."""
        return f"{spell_name(self.words.name)} is {self.words.spell(places)}"

    def spell_next(self) -> str:
        """Write a condition for the first word that has no line yet."""
        words = self.words.attribute.set_words or range(self.n_sets)
        first = self.left[0]
        return self.spell([place for place in self.left if words[place] == words[first]])

    def cover(self, places: Sequence[int], token: Token) -> None:
        """Give focal sets their line, unless one has its own."""
        for place in places:
            if place in self.covered:
                line = self.covered[place].line
                raise token.fail(
                    f"there is a rule for {self.spell([place])} already, in line {line}"
                )
        self.covered |= dict.fromkeys(places, token)

    @cached_property
    def _children(self) -> dict[int, tuple[Branch, int]]:
        return {
            place: (branch, number)
            for branch in self.branches
            for number, place in enumerate(branch.places)
        }

    def child(self, parent: int, place: int) -> tuple[Branch, int]:
        """Return the branch of a focal set, and which of its nodes is a parent's child."""
        branch, number = self._children[place]
        return branch, parent * len(branch.places) + number


class BranchReader:
    """Reads the lines of one tree.

    Parameters
    ----------
    draft : the file
    goal : the goal
    inputs : the tree's inputs
    anchor : what comments of the tree are kept under
    """

    def __init__(self, draft: Draft, goal: Goal, inputs: Sequence[InputWords], anchor: str) -> None:
        self._draft, self._goal, self._anchor = draft, goal, anchor
        self._inputs = {one.name: one for one in inputs}
        self._n_nodes = 0
        self.is_scored: bool | None = None
        self.missing: Branch | None = None

    @property
    def _cursor(self) -> Cursor:
        return self._draft.cursor

    def read(self, root: Branch) -> None:
        """Read the rules below the root."""
        cursor = self._cursor
        cursor.skip_blank_lines()
        if cursor.is_at("always") or (cursor.is_at("pin") and cursor.following.text == "always"):
            self._read_always(root)
        else:
            root.block = self._read_block([], 1, self._anchor)
        cursor.skip_blank_lines()
        while cursor.is_at("if", "pin", "otherwise"):
            self._read_last(root)
            cursor.skip_blank_lines()

    def _read_always(self, root: Branch) -> None:
        cursor, root.token = self._cursor, self._cursor.token
        if root.facts.supports:
            raise root.token.fail("the number of rows stands behind this rule, and not above it")
        self._draft.keep_comments(root.token, f"{self._anchor} always")
        root.is_pinned = cursor.took_word("pin")
        cursor.word("always")
        self._read_leaf(root)

    def _read_last(self, root: Branch) -> None:
        """Read the rule for a missing reading; no other is left."""
        token, is_pinned = self._cursor.token, self._cursor.took_word("pin")
        self._cursor.word("if")
        condition = read_condition(self._cursor)
        words = self._words(condition.attribute, condition.token, [])
        if condition.form == "missing":
            self._read_missing(words, token, is_pinned, [], self._anchor)
            return
        if root.block is not None and root.block.words is words:
            root.block.cover(words.places(condition), token)
        raise token.fail("every reading has a rule above already, so that this one never holds")

    def _read_block(self, asked: list[str], n_parents: int, anchor: str) -> Block:
        """Read lines until each focal set of the input that the first one asks has its own."""
        cursor, block = self._cursor, None
        while block is None or block.left:
            cursor.skip_blank_lines()
            if not cursor.is_at("if", "pin", "otherwise"):
                if block is None:
                    raise cursor.expected("a rule, which begins with 'if'", ["if", "pin", "always"])
                raise cursor.expected(f"a rule for {block.spell_next()}")
            block = self._read_line(asked, n_parents, anchor, block)
        return block

    def _read_line(
        self, asked: list[str], n_parents: int, anchor: str, block: Block | None
    ) -> Block | None:
        cursor, token = self._cursor, self._cursor.token
        is_pinned = cursor.took_word("pin")
        if cursor.took_word("otherwise"):
            if block is None:
                raise token.fail("'otherwise' stands behind other rules")
            places = block.left
        else:
            cursor.word("if")
            condition = read_condition(cursor)
            words = self._words(condition.attribute, condition.token, asked)
            if condition.form == "missing":
                self._read_missing(words, token, is_pinned, asked, anchor)
                return block
            block = block or Block(words)
            if words is not block.words:
                raise condition.token.fail(
                    f"expected a rule for {block.spell_next()}, found one for {shorten(words.name)}"
                )
            places = words.places(condition)
        block.cover(places, token)
        anchor = f"{anchor} / {spell_name(block.words.name)} {block.words.spell(places[:1])}"
        self._draft.keep_comments(token, anchor)
        branch = self._branch(token, places, n_parents, is_pinned)
        block.branches.append(branch)
        if cursor.took_word("and"):
            self._read_inner(branch, [*asked, block.words.name], anchor)
        else:
            self._read_leaf(branch)
        return block

    def _branch(self, token: Token, places: list[int], n_parents: int, is_pinned: bool) -> Branch:
        n_nodes = n_parents * len(places)
        self._n_nodes += n_nodes
        if self._n_nodes > _MOST_NODES:
            raise token.fail(f"the rules up to here have more than {_MOST_NODES:,} nodes")
        return Branch(token, places, n_nodes, is_pinned)

    def _words(self, name: str, token: Token, asked: Sequence[str]) -> InputWords:
        if name not in self._inputs:
            raise token.fail(
                f"the rules are not on {shorten(name)}{did_you_mean(name, self._inputs)}"
            )
        if name in asked:
            raise token.fail(f"{shorten(name)} is asked above already")
        return self._inputs[name]

    def _read_inner(self, branch: Branch, asked: list[str], anchor: str) -> None:
        cursor = self._cursor
        if branch.is_pinned:
            raise branch.token.fail("only a whole rule is pinned, and this one goes on below")
        if cursor.is_at_line_end or cursor.token.kind == "bar":
            branch.facts = self.read_facts(branch.n_nodes)
            cursor.end_line()
        else:
            raise cursor.token.fail(
                "expected the end of the line: another condition stands in a line of its own"
            )
        if len(asked) >= min(MAX_DEPTH, len(self._inputs)):
            raise branch.token.fail("no input is left to ask here")
        branch.block = self._read_block(asked, branch.n_nodes, anchor)

    def _read_leaf(self, branch: Branch) -> None:
        self._cursor.word("then")
        conclusion = read_conclusion(self._cursor)
        if self.is_scored is None:
            self.is_scored = conclusion.is_signed
        elif self.is_scored != conclusion.is_signed:
            needed = "a sign, as evidence has" if self.is_scored else "no sign, as shares have"
            raise conclusion.tokens[0].fail(f"numbers of these rules need {needed}")
        if self.is_scored:
            branch.scores = list(conclusion.scores_for(self._goal.states))
        else:
            branch.belief = list(conclusion.shares_for(goal_names(self._goal)))
        branch.facts = self.read_facts(branch.n_nodes, with_belief=self.is_scored)
        self._cursor.end_line()

    def _read_missing(
        self, words: InputWords, token: Token, is_pinned: bool, asked: list[str], anchor: str
    ) -> None:
        if asked or len(self._inputs) > 1:
            raise token.fail("a missing reading has a rule only where rules are on one attribute")
        if self.missing is not None:
            line = self.missing.token.line
            raise token.fail(f"there is a rule for a missing reading already in line {line}")
        self._draft.keep_comments(token, f"{anchor} / {spell_name(words.name)} missing")
        self.missing = Branch(token, [0], 1, is_pinned)
        self._read_leaf(self.missing)

    def read_facts(self, n_nodes: int, *, with_belief: bool = True) -> Facts:
        """Read ``| 12 + 5.5 rows: 0.25, 0.75``; nothing if there is no bar."""
        cursor, facts = self._cursor, Facts()
        if not cursor.took("bar"):
            return facts
        token = cursor.token
        facts.supports = [cursor.number("the number of rows")]
        while cursor.took("plus"):
            facts.supports.append(cursor.number("the number of rows"))
        if len(facts.supports) == 1:
            facts.supports = [facts.supports[0] / n_nodes] * n_nodes
        if len(facts.supports) != n_nodes:
            raise token.fail(
                f"expected {n_nodes} numbers of rows, one for each focal set, or their sum. "
                f"Got {len(facts.supports)} instead."
            )
        cursor.word("rows")
        if with_belief and cursor.took("colon"):
            facts.beliefs = [self._read_belief(token)]
            while cursor.took("semicolon"):
                facts.beliefs.append(self._read_belief(token))
            if len(facts.beliefs) not in (1, n_nodes):
                raise token.fail(
                    f"expected shares once, or {n_nodes} times. Got {len(facts.beliefs)} instead."
                )
        return facts

    def _read_belief(self, token: Token) -> list[float]:
        shares = [self._cursor.number("a share")]
        while self._cursor.took("comma"):
            shares.append(self._cursor.number("a share"))
        if len(shares) != self._goal.size:
            raise token.fail(
                f"expected {self._goal.size} numbers behind 'rows:'. Got {len(shares)} instead."
            )
        return shares


def goal_names(goal: Goal) -> list[tuple[str, ...]]:
    """Name the classes, or the focal sets of a number that is described with words."""
    if goal.states:
        return [(str(state),) for state in goal.states]
    names: list[tuple[str, ...]] = []
    for word, following in pairwise(goal.words):
        names += [(word,), (word, following)]
    return [*names, (goal.words[-1],)]


def _default_belief(goal: Goal) -> list[float]:
    """Return what is taken for the shares of rows that nobody counted."""
    if goal.is_additive_number:
        return [0.0]
    return list(goal.prior) or [1.0 / goal.size] * goal.size


def node_records(root: Branch, goal: Goal) -> tuple[list[dict[str, Any]], list[Token]]:
    """Return the nodes of a tree as the document has them, level by level, and their tokens."""
    queue: list[tuple[Branch, int]] = [(root, 0)]
    records: list[dict[str, Any]] = []
    for branch, number in queue:  # which grows on the way
        record: dict[str, Any] = {}
        if branch.block is not None:
            sets = range(branch.block.n_sets)
            record |= {"split": branch.block.words.name, "first_child": len(queue)}
            queue.extend(branch.block.child(number, place) for place in sets)
        record["support"] = branch.facts.support(number)
        record["belief"] = branch.belief or branch.facts.belief(number)
        if branch.scores:
            record["scores"] = branch.scores
        if branch.is_pinned:
            record["pinned"] = True
        records.append(record)
    _fill_gaps(records, queue, goal)
    told = "mean" if goal.is_additive_number else "belief"
    for record in records:
        belief = record.pop("belief")
        record[told] = belief[0] if told == "mean" else belief
    return records, [branch.token for branch, _ in queue]


def _fill_gaps(records: list[dict[str, Any]], queue: list[tuple[Branch, int]], goal: Goal) -> None:
    """Take 0 for the rows of leaves that nobody counted, and add up those of nodes above."""
    for record, (branch, _) in reversed(list(zip(records, queue, strict=True))):
        below: list[dict[str, Any]] = []
        if branch.block is not None:
            first = record["first_child"]
            below = records[first : first + branch.block.n_sets]
        weights = [one["support"] for one in below]
        if record["support"] is None:
            record["support"] = sum(weights)
        if not record["belief"]:
            total = sum(weights)
            beliefs = zip(*(one["belief"] for one in below), strict=True)
            record["belief"] = (
                [sum(w * b for w, b in zip(weights, of, strict=True)) / total for of in beliefs]
                if total > 0
                else _default_belief(goal)
            )
