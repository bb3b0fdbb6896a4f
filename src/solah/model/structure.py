"""Hierarchies: the inputs of each node, checked, as levels, short text, files and drawings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Self

from solah.data.json_reader import JsonParser
from solah.exceptions import ParameterError, RuleTextError, did_you_mean, shorten
from solah.model.lexer import Cursor, lex

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Sequence

# Features that need more columns go below the name of their node if it leaves them fewer.
_MIN_ROOM = 24


@dataclass(frozen=True)
class HierarchyNode:
    """A node of a hierarchy: its name and its inputs.

    Attributes
    ----------
    name : the name of the node's output
    inputs : names of features and of other nodes, in the order in which the node has them
    """

    name: str
    inputs: tuple[str, ...]

    def __post_init__(self) -> None:
        name, shown, inputs = _checked_name(self.name), shorten(self.name), self.inputs
        # Texts and mappings can be iterated, too, but are not lists. A set has no order.
        if isinstance(inputs, str | Mapping | Set) or not isinstance(inputs, Iterable):
            raise ParameterError(
                f"the inputs of {shown} must be a list of names. Got {type_of(inputs)} instead."
            )
        names = tuple(map(_checked_name, inputs))
        if not names:
            raise ParameterError(f"{shown} has no inputs")
        if twice := first_repeated(names):
            raise ParameterError(f"{shown} names its input {shorten(twice)} twice")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "inputs", names)

    def __str__(self) -> str:
        return f"{_spelled(self.name)} <- {', '.join(map(_spelled, self.inputs))}"


@dataclass(frozen=True)
class Hierarchy:
    """The nodes of a linguistic attribute hierarchy, and the inputs of each.

    Hierarchies with the same nodes in the same order are equal. An input that is not the name of a
    node is a feature.

    Parameters
    ----------
    nodes : the nodes in any order; they are kept bottom-up, children before parents and the root
        last, and otherwise as given

    Raises
    ------
    ParameterError
        If nodes feed each other in a cycle, there is not exactly one root, or two nodes have one
        name. ``parse``, ``from_dict`` and ``load`` also refuse a feature or a node that feeds two
        nodes, as only terms of one sum may do.

    Examples
    --------
    The general hierarchy of the paper's Figure 1:

    >>> from solah.model.structure import Hierarchy
    >>> hierarchy = Hierarchy.parse("z1 <- x1, x2; z2 <- x3, x4; y <- z1, z2, x5")
    >>> hierarchy.root, hierarchy.children("y"), hierarchy.n_levels
    ('y', ('z1', 'z2'), 3)
    >>> hierarchy.levels
    (('z1', 'z2'), ('y',))
    """

    nodes: tuple[HierarchyNode, ...]

    def __post_init__(self) -> None:
        nodes = tuple(self.nodes) if isinstance(self.nodes, Iterable) else ()
        if not nodes or not all(isinstance(node, HierarchyNode) for node in nodes):
            raise ParameterError(
                "a hierarchy is made of at least one HierarchyNode; Hierarchy.parse and "
                "Hierarchy.from_dict read other forms"
            )
        if twice := first_repeated(node.name for node in nodes):
            raise ParameterError(f"two nodes are called {shorten(twice)}")
        names = {node.name for node in nodes}
        try:
            TopologicalSorter({node.name: names & {*node.inputs} for node in nodes}).prepare()
        except CycleError as error:
            shown = " <- ".join(map(_spelled, reversed(error.args[1])))
            raise ParameterError(f"the nodes feed each other in a cycle: {shown}") from None
        fed = {name for node in nodes for name in node.inputs}
        roots = [node.name for node in nodes if node.name not in fed]
        if len(roots) > 1:
            shown = ", ".join(map(shorten, roots[:8])) + (", …" if len(roots) > 8 else "")
            raise ParameterError(
                f"a hierarchy has one root, but {len(roots)} nodes feed no other: {shown}"
            )
        object.__setattr__(self, "nodes", _bottom_up(nodes))

    @property
    def root(self) -> str:
        """The name of the node whose output is the prediction."""
        return self.nodes[-1].name

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The features, each once, in order of appearance, bottom-up."""
        names = (name for node in self.nodes for name in self.features_of(node.name))
        return tuple(dict.fromkeys(names))

    def node(self, name: str) -> HierarchyNode:
        """Return the node of this name."""
        if name not in self._by_name:
            known = did_you_mean(name, self._by_name)
            raise ParameterError(f"the hierarchy has no node {shorten(name)}{known}")
        return self._by_name[name]

    def children(self, name: str) -> tuple[str, ...]:
        """Return the names of the nodes that feed this one."""
        return tuple(child for child in self.node(name).inputs if child in self._by_name)

    def features_of(self, name: str) -> tuple[str, ...]:
        """Return the inputs of a node that are features."""
        return tuple(one for one in self.node(name).inputs if one not in self._by_name)

    @cached_property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The names of the nodes by level, the lowest first.

        A node is one level above its highest child. One without children is at the bottom.
        """
        heights: dict[str, int] = {}
        for node in self.nodes:
            heights[node.name] = 1 + max(
                map(heights.__getitem__, self.children(node.name)), default=0
            )
        levels: list[list[str]] = [[] for _ in range(max(heights.values()))]
        for name, height in heights.items():
            levels[height - 1].append(name)
        return tuple(map(tuple, levels))

    @property
    def n_levels(self) -> int:
        """The paper's iota: the levels of nodes and, below them, the features."""
        return len(self.levels) + 1

    @cached_property
    def _by_name(self) -> dict[str, HierarchyNode]:
        return {node.name: node for node in self.nodes}

    @classmethod
    def parse(cls, text: str) -> Hierarchy:
        """Read the short text.

        A node is ``name <- input, input``; a semicolon or the end of a line closes it, unless the
        line ends in a comma or an arrow. ``#`` begins a comment. A name in double quotes may hold
        anything, with JSON's escapes; one without holds no spaces and none of ``, ; " #``, ``<-``.

        Examples
        --------
        >>> print(Hierarchy.parse('''
        ...     warmth <- "inside, °C", outside   # two sensors
        ...     alarm  <- warmth,
        ...               smoke
        ... '''))
        warmth <- "inside, °C", outside; alarm <- warmth, smoke
        """
        try:
            return cls(tuple(_parsed(text))).each_once()
        except RuleTextError as error:
            raise ParameterError(str(error)) from None

    def __str__(self) -> str:
        return "; ".join(map(str, self.nodes))

    def each_once(self) -> Self:
        """Return the hierarchy itself, if no feature and no node feeds two nodes."""
        _parents((node.name, node.inputs) for node in self.nodes)
        return self

    @classmethod
    def from_dict(cls, inputs: Mapping[str, Sequence[str]]) -> Hierarchy:
        """Make a hierarchy from the name of each node and its inputs.

        Examples
        --------
        >>> Hierarchy.from_dict({"z1": ["x1", "x2"], "y": ["z1", "x3"]}).to_dict()
        {'z1': ['x1', 'x2'], 'y': ['z1', 'x3']}
        """
        if not isinstance(inputs, Mapping):
            raise ParameterError(
                "a hierarchy maps each node's name to the list of its inputs. "
                f"Got {type_of(inputs)} instead."
            )
        nodes = (HierarchyNode(name, of) for name, of in inputs.items())  # type: ignore[arg-type]
        return cls(tuple(nodes)).each_once()

    def to_dict(self) -> dict[str, list[str]]:
        """Map the name of each node to its inputs, bottom-up."""
        return {node.name: list(node.inputs) for node in self.nodes}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Hierarchy:
        """Read a hierarchy from a file: .txt with the short text, or .json.

        JSON maps the name of each node to the list of its inputs. The error of a broken file names
        the file.
        """
        place = Path(path)
        suffix = place.suffix.lower()
        if suffix not in (".txt", ".json"):
            raise ParameterError(
                f"{path}: a hierarchy is read from .txt or .json. Got {shorten(suffix)} instead."
            )
        data = place.read_bytes()
        try:
            if suffix == ".json":
                return cls.from_dict(JsonParser("the hierarchy", ParameterError).read(data).value)
            return cls.parse(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ParameterError(f"{place.name}: this is not UTF-8 text: {error}") from None
        except ParameterError as error:
            raise ParameterError(f"{place.name}: {error}") from None

    def draw(self, annotations: Mapping[str, str] | None = None, *, width: int = 80) -> str:
        """Draw the hierarchy for a terminal, the root on top.

        Parameters
        ----------
        annotations : what to show beside the names of nodes or features
        width : where lists of features are wrapped; a long name may go beyond

        Returns
        -------
        str
            A line per node, its features behind an arrow and its children indented below it. What
            is below a node that feeds several is drawn once.

        Examples
        --------
        >>> hierarchy = Hierarchy.parse("z1 <- ash, hue; z2 <- z1; z3 <- proline; y <- z2, z3")
        >>> print(hierarchy.draw({"z1": "9 rules", "z3": "3 rules"}))
        y
        ├─ z2
        │  └─ z1 (9 rules) ← ash, hue
        └─ z3 (3 rules) ← proline
        """
        known = {*self.features, *self._by_name}
        for name in annotations or {}:
            if name not in known:
                near = did_you_mean(name, known)
                raise ParameterError(f"the hierarchy has no {shorten(name)} to annotate{near}")
        return "\n".join(self._drawn(annotations or {}, width))

    def _drawn(self, notes: Mapping[str, str], width: int) -> Iterator[str]:
        def label(name: str) -> str:
            is_plain = name == name.strip() and name.isprintable() and not set(name) & set(',"←')
            shown = name if is_plain else _quoted(name)
            return f"{shown} ({notes[name]})" if name in notes else shown

        waiting = [(self.root, "", "")]  # a node, what is before it, and before the lines below
        drawn: set[str] = set()
        while waiting:
            name, lead, below = waiting.pop()
            if name in drawn:
                yield f"{lead}{label(name)} …"
                continue
            drawn.add(name)
            children = list(self.children(name))
            head, indent = lead + label(name), below + ("│" if children else " ")
            if children:
                waiting.append((children.pop(), f"{below}└─ ", f"{below}   "))
            waiting += [(one, f"{below}├─ ", f"{below}│  ") for one in reversed(children)]
            labels = [label(one) for one in self.features_of(name)]
            if not labels:
                yield head
                continue
            column = len(head) + 3
            if width - column < min(_MIN_ROOM, len(", ".join(labels))):
                yield f"{head} ←"
                head, column = f"{indent:<{len(indent) + 3}}", len(indent) + 3
            else:
                head += " ← "
            for text in _wrapped(labels, max(width - column, _MIN_ROOM)):
                yield head + text
                head = f"{indent:<{column}}"

    def _repr_html_(self) -> str:
        from html import escape  # its table of entities is of no use to a node

        return (  # screen readers read the label instead
            f'<pre role="img" tabindex="0" aria-label="{escape(f"Hierarchy: {self}")}" '
            'style="line-height: 1.3; overflow-x: auto; white-space: pre; color: inherit; '
            f'background: none">{escape(self.draw())}</pre>'
        )


# --- names ---------------------------------------------------------------------------------------


def node_names(n_nodes: int, features: Iterable[str], target: str) -> tuple[str, ...]:
    """Name nodes z1, z2, … and the root after the target; a taken name gets underscores.

    Examples
    --------
    >>> node_names(3, ["x1", "z2"], "y")
    ('z1', 'z2_', 'y')
    """
    taken = set(features)
    root = fresh_name(target, taken)
    taken.add(root)
    names: list[str] = []
    for number in range(1, n_nodes):
        names.append(fresh_name(f"z{number}", taken))
        taken.add(names[-1])
    return (*names, root)


def fresh_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with as many underscores as it takes to be a new one."""
    while name in taken:
        name += "_"
    return name


def type_of(value: object) -> str:
    """Describe a value by its type, since it may be large."""
    return f"a value of type {type(value).__name__}"


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs twice, or None."""
    return next((name for name, times in Counter(names).items() if times > 1), None)


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        shown = shorten(name) if isinstance(name, int | float | str) else type_of(name)
        raise ParameterError(f"a name must be text, in quotes where needed. Got {shown} instead.")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ParameterError(
            f"the name {shorten(name)} has half a character (a lone surrogate)"
        ) from None
    return str(name)


# --- checks --------------------------------------------------------------------------------------


def _parents(inputs: Iterable[tuple[str, Iterable[str]]]) -> dict[str, str]:
    """Return the node that each input feeds; refuse an input that feeds two."""
    fed: dict[str, str] = {}
    for node, names in inputs:
        for name in names:
            if name in fed:
                raise ParameterError(
                    f"{shorten(name)} feeds both {shorten(fed[name])} and {shorten(node)}; "
                    "a feature or a node feeds one node only"
                )
            fed[name] = node
    return fed


def _bottom_up(nodes: Sequence[HierarchyNode]) -> tuple[HierarchyNode, ...]:
    """Put children before parents and move nothing else; a stack, as cascades are deep."""
    place = {node.name: number for number, node in enumerate(nodes)}
    done: dict[int, HierarchyNode] = {}
    stack = list(reversed(range(len(nodes))))
    while stack:
        number = stack[-1]
        below = sorted(place[name] for name in nodes[number].inputs if name in place)
        if waiting := [child for child in below if child not in done]:
            stack.extend(reversed(waiting))
        else:
            done.setdefault(stack.pop(), nodes[number])
    return tuple(done.values())


def _wrapped(labels: Sequence[str], room: int) -> Iterator[str]:
    """Fill lines with labels, and break between two of them only."""
    line = labels[0]
    for label in labels[1:]:
        if len(line) + len(label) + 3 > room:  # the comma that follows has to fit, too
            yield f"{line},"
            line = label
        else:
            line += f", {label}"
    yield line


# --- short text ----------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
      (?P<blank>     [^\S\n]+ | \#[^\n]* )
    | (?P<line>      \n )
    | (?P<semicolon> ; )
    | (?P<comma>     , )
    | (?P<arrow>     <- | ← )
    | (?P<quoted>    "(?: [^"\\\n] | \\. )*" )
    | (?P<name>      (?: (?!<-) [^\s,;"\#←] )+ )
    """,
    re.VERBOSE,
)


def _parsed(text: str) -> Iterator[HierarchyNode]:
    """Yield the nodes of short text."""
    cursor = Cursor(lex(text, _TOKEN))
    while cursor.token.kind != "end":
        if cursor.took("line", "semicolon"):
            continue
        node, inputs = cursor.name("the name of a node"), list[str]()
        if not cursor.took("arrow"):
            raise cursor.expected("'<-'")
        while not inputs or cursor.took("comma"):
            cursor.next_line()
            inputs.append(cursor.name("the name of an input"))
        if cursor.token.kind != "end" and not cursor.took("line", "semicolon"):
            raise cursor.expected("a comma, a semicolon or the end of the line")
        yield HierarchyNode(node, tuple(inputs))


def _quoted(name: str) -> str:
    """Write a name in double quotes, with JSON's escapes."""
    return json.dumps(name, ensure_ascii=not name.isprintable())


def _spelled(name: str) -> str:
    """Write a name so that ``parse`` reads it back."""
    match = _TOKEN.fullmatch(name)
    is_name = match is not None and match.lastgroup == "name" and name.isprintable()
    return name if is_name else _quoted(name)
