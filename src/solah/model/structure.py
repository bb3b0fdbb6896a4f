"""Hierarchies: which inputs feed which tree, checked, as levels, short text, files and drawings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.drawing import Drawing, as_html
from solah.model.shorttext import ShortText, spelled
from solah.model.soundness import (
    bottom_up,
    check_acyclic,
    check_inputs_once,
    check_one_root,
    checked_inputs,
    checked_name,
    first_repeated,
    parents_of,
    type_of,
)
from solah.model.yaml_reader import parse_yaml

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Sequence


@dataclass(frozen=True)
class HierarchyNode:
    """A tree of a hierarchy: its name and what feeds it.

    Attributes
    ----------
    name : what the tree's output is called
    inputs : names of attributes and of other trees, in the order in which the tree sees them
    """

    name: str
    inputs: tuple[str, ...]

    def __post_init__(self) -> None:
        name = checked_name(self.name)
        inputs = checked_inputs(name, self.inputs)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "inputs", inputs)

    def __str__(self) -> str:
        return f"{spelled(self.name)} <- {', '.join(map(spelled, self.inputs))}"


@dataclass(frozen=True)
class Hierarchy:
    """Which trees there are and what feeds them: a linguistic attribute hierarchy's shape.

    An immutable value: hierarchies with the same trees in the same order are equal. Whatever a
    tree names as an input and no tree is called by is an attribute.

    Parameters
    ----------
    nodes : the trees in any order; they are kept bottom-up, children before parents and the root
        last, and otherwise as given

    Raises
    ------
    ParameterError
        If trees feed each other in a cycle, there is not exactly one root, two trees have one
        name, or a tree feeds two others. What reads a wiring (``parse``, ``from_dict``,
        ``from_json``, ``load``) refuses an attribute that feeds two trees, too.

    Examples
    --------
    The general hierarchy of the paper's Figure 1:

    >>> from solah.model.structure import Hierarchy
    >>> hierarchy = Hierarchy.parse("z1 <- x1, x2; z2 <- x3, x4; y <- z1, z2, x5")
    >>> hierarchy.root, hierarchy.children("y"), hierarchy.n_levels
    ('y', ('z1', 'z2'), 3)
    >>> hierarchy.levels
    (('z1', 'z2'), ('y',))
    >>> print(hierarchy.draw({"y": "12 rules"}))
    y (12 rules) ← x5
    ├─ z1 ← x1, x2
    └─ z2 ← x3, x4
    """

    nodes: tuple[HierarchyNode, ...]

    def __post_init__(self) -> None:
        nodes = tuple(self.nodes) if isinstance(self.nodes, Iterable) else ()
        if not nodes or not all(isinstance(node, HierarchyNode) for node in nodes):
            raise ParameterError(
                "a hierarchy is made of at least one HierarchyNode; Hierarchy.parse and "
                "Hierarchy.from_dict read other forms"
            )
        parents = parents_of(nodes)
        check_acyclic(parents)
        check_one_root(parents)
        object.__setattr__(self, "nodes", bottom_up(nodes))

    @property
    def root(self) -> str:
        """The name of the tree that decides."""
        return self.nodes[-1].name

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The inputs that are no trees, each once, in order of appearance, bottom-up."""
        names = (name for node in self.nodes for name in self.attributes_of(node.name))
        return tuple(dict.fromkeys(names))

    def node(self, name: str) -> HierarchyNode:
        """Return the tree of this name."""
        try:
            return self._by_name[name]
        except KeyError:
            known = did_you_mean(name, self._by_name)
            raise ParameterError(f"the hierarchy has no tree {shorten(name)}{known}") from None

    def children(self, name: str) -> tuple[str, ...]:
        """Name the trees that feed this one."""
        return tuple(child for child in self.node(name).inputs if child in self._by_name)

    @cached_property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The trees' names by level, the lowest first.

        A tree stands one level above its highest child; one without children is at the bottom.
        """
        by_level: dict[int, list[str]] = {}
        for name, height in self._heights.items():
            by_level.setdefault(height, []).append(name)
        return tuple(tuple(by_level[height]) for height in sorted(by_level))

    @property
    def n_levels(self) -> int:
        """The paper's iota: the levels of trees and, below them, the attributes."""
        return len(self.levels) + 1

    @property
    def is_cascade(self) -> bool:
        """Whether the trees form one chain, as in the paper's Figure 1a."""
        return len(self.levels) == len(self.nodes)

    @cached_property
    def _by_name(self) -> dict[str, HierarchyNode]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def _heights(self) -> dict[str, int]:
        heights: dict[str, int] = {}
        for node in self.nodes:
            below = (heights[child] for child in self.children(node.name))
            heights[node.name] = 1 + max(below, default=0)
        return heights

    def attributes_of(self, name: str) -> tuple[str, ...]:
        """Return a tree's inputs that are attributes."""
        return tuple(one for one in self.node(name).inputs if one not in self._by_name)

    def height(self, name: str) -> int:
        """Return the level of a tree, 1 for one that no other tree feeds."""
        return self._heights[name]

    @classmethod
    def cascade(cls, attributes: Sequence[str], name: str = "y") -> Hierarchy:
        """Chain trees: the first takes two attributes, each next one its output and one more.

        Parameters
        ----------
        attributes : the attributes, from the bottom to the top
        name : the root's name; the others are z1, z2, …; a taken name gets an underscore

        Examples
        --------
        >>> print(Hierarchy.cascade(["x1", "x2", "x3", "x4"]))
        z1 <- x1, x2; z2 <- z1, x3; y <- z2, x4
        """
        if isinstance(attributes, str) or not attributes:
            raise ParameterError(
                f"a cascade needs a list of attributes. Got {shorten(attributes)} instead."
            )
        names = node_names(max(len(attributes) - 1, 1), attributes, name)
        nodes = [HierarchyNode(names[0], tuple(attributes[:2]))]
        for node, attribute in zip(names[1:], attributes[2:], strict=True):
            nodes.append(HierarchyNode(node, (nodes[-1].name, attribute)))
        return cls(tuple(nodes))

    @classmethod
    def parse(cls, text: str) -> Hierarchy:
        """Read the short text.

        A tree is ``name <- input, input``; a semicolon or the end of a line closes it, unless the
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
        return cls(tuple(HierarchyNode(*node) for node in ShortText(text).nodes())).each_once()

    def each_once(self) -> Self:
        """Return the hierarchy itself, if no attribute feeds two trees."""
        check_inputs_once(self.nodes)
        return self

    def __str__(self) -> str:
        return "; ".join(map(str, self.nodes))

    @classmethod
    def from_dict(cls, inputs: Mapping[str, Sequence[str]]) -> Hierarchy:
        """Make a hierarchy from each tree's name and its inputs.

        Examples
        --------
        >>> Hierarchy.from_dict({"z1": ["x1", "x2"], "y": ["z1", "x3"]}).to_dict()
        {'z1': ['x1', 'x2'], 'y': ['z1', 'x3']}
        """
        return cls(_nodes_of(inputs)).each_once()

    def to_dict(self) -> dict[str, list[str]]:
        """Map each tree's name to its inputs, bottom-up."""
        return {node.name: list(node.inputs) for node in self.nodes}

    @classmethod
    def from_json(cls, text: str) -> Hierarchy:
        """Read what ``to_json`` wrote: an object that maps each tree's name to its inputs."""
        try:
            value = json.loads(text, object_pairs_hook=_once_each)
        except RecursionError:
            raise ParameterError("this JSON is nested too deeply for a hierarchy") from None
        except ParameterError:
            raise
        except ValueError as error:
            raise ParameterError(f"this is not JSON: {error}") from None
        return cls(_nodes_of(value)).each_once()

    def to_json(self) -> str:
        """Write JSON, one line per tree.

        Examples
        --------
        >>> print(Hierarchy.parse("z1 <- x1, x2; y <- z1, x3").to_json())
        {
          "z1": ["x1", "x2"],
          "y": ["z1", "x3"]
        }
        """
        lines = (f"  {_json(node.name)}: {_json(node.inputs)}" for node in self.nodes)
        return "{\n" + ",\n".join(lines) + "\n}"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Hierarchy:
        """Read a hierarchy from a file: .json, .yaml, .yml, or .txt with the short text.

        JSON and YAML map each tree's name to the list of its inputs. The error of a broken file
        names the file.
        """
        place = Path(path)
        readers: dict[str, Callable[[str], Hierarchy]] = {
            ".json": cls.from_json,
            ".yaml": cls._from_yaml,
            ".yml": cls._from_yaml,
            ".txt": cls.parse,
        }
        reader = readers.get(place.suffix.lower())
        if reader is None:
            raise ParameterError(
                f"{path}: a hierarchy is read from {', '.join(readers)}. "
                f"Got {shorten(place.suffix)} instead."
            )
        try:
            return reader(place.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ParameterError(f"{place.name}: this is not UTF-8 text: {error}") from None
        except ParameterError as error:
            raise ParameterError(f"{place.name}: {error}") from None

    @classmethod
    def _from_yaml(cls, text: str) -> Hierarchy:
        value, _ = parse_yaml(text, "the hierarchy")
        return cls(_nodes_of(value)).each_once()

    def draw(self, annotations: Mapping[str, str] | None = None, *, width: int = 80) -> str:
        """Draw the hierarchy for a terminal, the root on top.

        Parameters
        ----------
        annotations : what to show beside the names of trees or attributes
        width : where lists of attributes are wrapped; a long name may go beyond

        Returns
        -------
        str
            A line a tree, its attributes behind an arrow and its children indented below it.
            Where a hierarchy is so deep that this would leave no room, the highest child of a
            tree comes last and stands unindented behind ``↑``.

        Examples
        --------
        >>> hierarchy = Hierarchy.parse("z1 <- ash, hue; z2 <- z1; z3 <- proline; y <- z2, z3")
        >>> print(hierarchy.draw({"z1": "9 rules", "z3": "3 rules"}))
        y
        ├─ z2
        │  └─ z1 (9 rules) ← ash, hue
        └─ z3 (3 rules) ← proline
        """
        return "\n".join(Drawing(self, dict(annotations or {}), width).lines())

    def _repr_html_(self) -> str:
        return as_html(self.draw(), f"Hierarchy: {self}")


def node_names(n_nodes: int, attributes: Iterable[str], goal: str) -> tuple[str, ...]:
    """Name trees z1, z2, … and the root after the goal; a taken name gets underscores.

    Examples
    --------
    >>> node_names(3, ["x1", "z2"], "y")
    ('z1', 'z2_', 'y')
    """
    taken = set(attributes)
    root = fresh_name(goal, taken)
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


# JSON and YAML


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a dict of pairs; a key that stands there twice is an error instead of a loss."""
    twice = first_repeated(key for key, _ in pairs)
    if twice is not None:
        raise ParameterError(f"two trees are called {shorten(twice)}")
    return dict(pairs)


def _nodes_of(value: object) -> tuple[HierarchyNode, ...]:
    """Read the trees from a mapping of their names to their inputs."""
    if not isinstance(value, Mapping):
        raise ParameterError(
            "a hierarchy maps each tree's name to the list of its inputs. "
            f"Got {type_of(value)} instead."
        )
    return tuple(HierarchyNode(name, inputs) for name, inputs in value.items())
