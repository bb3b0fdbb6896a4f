"""Plan which node of a network runs which part of a model.

Nodes send probabilities and scores to each other. Readings stay where they are measured, except
those of a part whose features are measured on several nodes and have parts of their own there.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING

from solah.data.json_reader import shown
from solah.data.spelling import spell
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.structure import type_of
from solah.site.messages import MAX_CHARACTERS
from solah.site.send_on_change import check_sending

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from solah.model.document import Model, Part
    from solah.site.send_on_change import Sending

GATEWAY = "gateway"
SITE = "site"
MAX_NAME = 64
_NUMBER_ROOM = 8
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

Placement = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class NodePlan:
    """What one node of a network does.

    Attributes
    ----------
    name : the node's name
    runs : the parts of the model that it evaluates, from bottom to top
    reads : the features that are measured there
    hears : its inputs from other nodes: each part with the node that runs it, and each feature
        with the node that measures it
    sends : the parts whose signals other nodes need, and the features whose readings they need
    """

    name: str
    runs: tuple[str, ...]
    reads: tuple[str, ...]
    hears: tuple[tuple[str, str], ...]
    sends: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Which node runs what.

    Attributes
    ----------
    site : the name of the network
    nodes : in the order in which they start: a node before those it gets inputs from, as far
        as nodes do not need each other; the node that decides is the first
    sending : how nodes send on change; None where they send every row, exactly
    """

    site: str
    nodes: tuple[NodePlan, ...]
    sending: Sending | None = None

    def node(self, name: str) -> NodePlan:
        """Find a node by its name."""
        for node in self.nodes:
            if node.name == name:
                return node
        known = did_you_mean(name, [node.name for node in self.nodes])
        raise ParameterError(f"the plan has no node {shorten(name)}{known}")

    @cached_property
    def home(self) -> dict[str, str]:
        """The node that runs each part."""
        return {part: node.name for node in self.nodes for part in node.runs}


def make_plan(
    model: Model,
    placement: Placement | None = None,
    *,
    gateway: str = GATEWAY,
    site: str = SITE,
    sending: Sending | None = None,
) -> Plan:
    """Assign the parts of a model to nodes.

    Parameters
    ----------
    model : Model
    placement : mapping of node name to names, default=None
        The features that are measured at each node; parts of the model may be placed by name too.
        By default each group of features has a node of its own: a group of terms, or a term or a
        tree in no group. A part that asks several features, all of which have other parts,
        counts for none of them.
    gateway : str, default="gateway"
        The node of all that is placed nowhere else, the decision first of all.
    site : str, default="site"
        The name of the network.
    sending : Sending, default=None
        How nodes send on change; None to send every row, exactly.

    Returns
    -------
    plan : Plan

    Examples
    --------
    >>> from solah import LinguisticHierarchyClassifier, datasets
    >>> wine = datasets.load("wine")
    >>> by_hand = LinguisticHierarchyClassifier("z <- alcohol, hue; y <- z, proline")
    >>> model = by_hand.fit(wine.table, wine.target).model_
    >>> plan = make_plan(model, {"cellar": ["alcohol", "hue"], "office": ["proline"]})
    >>> [(node.name, node.runs) for node in plan.nodes]
    [('office', ('y',)), ('cellar', ('z',))]
    """
    names = [gateway, site, *(placement or ())]
    for name in names:
        check_name(name)
    _check_lengths(model)
    return with_sending(_Placing(model, placement, gateway, site).plan(), model, sending)


def with_sending(plan: Plan, model: Model, sending: Sending | None) -> Plan:
    """Let the nodes of a plan send on change.

    Raises
    ------
    ParameterError
        What silence hides could not be bounded, or a node passes on what it gets.
    """
    if sending is not None:
        check_sending(sending, model, plan.nodes)
    return replace(plan, sending=sending)


def _check_lengths(model: Model) -> None:
    """Refuse names that messages could not carry."""
    names = [*(one.name for one in model.features), *(part.name for part in model.parts)]
    for text in (*names, *map(spell, model.target.classes)):
        if len(text) > MAX_CHARACTERS:
            raise ParameterError(
                f"{shorten(text)} has {len(text):,} characters, and messages take "
                f"{MAX_CHARACTERS}; give the features and classes of the model shorter names"
            )


def check_name(name: str) -> str:
    """Refuse names that could not be part of a topic."""
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise ParameterError(
            f"a node or site is named with letters, digits, '.', '-' and '_', at most {MAX_NAME} "
            f"of them. Got {shown(name)} instead."
        )
    return name


class _Placing:
    def __init__(self, model: Model, placement: Placement | None, gateway: str, site: str) -> None:
        self._model, self._gateway, self._site = model, gateway, site
        self._parts = {part.name: part for part in model.parts}
        self._parent = {name: part.name for part in model.parts for name in part.origins}
        self._n_asking = Counter(name for one in model.parts for name in self._own_features(one))
        given = self._by_cluster() if placement is None else placement
        self._measured, self._placed = self._read(given)
        self._home: dict[str, str] = {}

    def plan(self) -> Plan:
        scattered = []
        for part in self._model.parts:
            if (home := self._home_of(part)) is None:
                scattered.append(part.name)
            else:
                self._home[part.name] = home
        for name in scattered:
            # Readings go there with other messages, and its own scores to nobody.
            self._home[name] = self._home.get(self._parent.get(name, ""), self._gateway)
        return plan_of_homes(self._model, self._home, self._site, self._measured)

    def _by_cluster(self) -> dict[str, list[str]]:
        """Give each group a node of its own, named after it, and so each part in no group."""
        group: dict[str, str] = {}
        for part in sorted(self._model.parts, key=lambda part: len(part.origins)):
            for name in self._own_features(part):
                group.setdefault(name, self._group_of(part))
        groups: dict[str, list[str]] = {}
        for part in self._model.parts:
            for name in self._own_features(part):
                members = groups.setdefault(group[name], [])
                members.extend([name] if name not in members else [])
        placement: dict[str, list[str]] = {}
        for name, features in groups.items():
            placement[_as_name(name, {*placement, self._gateway})] = features
        return placement

    def _group_of(self, part: Part) -> str:
        parent = self._parent.get(part.name)
        if parent is None or parent == self._model.root.name:
            return part.name
        return parent if self._parts[parent].kind in ("group", "sum") else part.name

    def _own_features(self, part: Part) -> list[str]:
        return [name for name in part.origins if name not in self._parts]

    def _read(self, placement: Placement) -> tuple[dict[str, str], dict[str, str]]:
        """Find where features are measured, and parts are placed.

        What is measured and not asked by the model is left alone.
        """
        features = {feature.name for feature in self._model.features}
        measured: dict[str, str] = {}
        placed: dict[str, str] = {}
        for node, names in placement.items():
            for name in names_at(node, names):
                known = placed if name in self._parts else measured
                if name in known and known[name] != node:
                    raise ParameterError(
                        f"{shorten(name)} is placed at {known[name]!r} and at {node!r}; it can be "
                        "at one node only"
                    )
                known[name] = node
        if nowhere := sorted(self._n_asking.keys() - measured.keys()):
            hint = did_you_mean(nowhere[0], measured.keys() - features)
            raise ParameterError(
                f"the placement does not name a node for {shorten(nowhere[0])}; each "
                f"feature of the model needs a node{hint}"
            )
        return {name: node for name, node in measured.items() if name in features}, placed

    def _home_of(self, part: Part) -> str | None:
        """Return the node of a part; None for that of what it feeds."""
        own = self._where_measured(part)
        if len(own) > 1:
            return self._placed.get(part.name)
        if own:
            (home,) = own
            if self._placed.get(part.name, home) != home:
                raise ParameterError(
                    f"{part.name!r} is placed at {self._placed[part.name]!r}, and what it asks is "
                    f"measured at {home!r}; readings do not travel"
                )
            return home
        if part.name in self._placed:
            return self._placed[part.name]
        below = {self._home[name] for name in part.origins if name in self._home}
        is_root = part.name == self._model.root.name
        return below.pop() if len(below) == 1 and not is_root else self._gateway

    def _where_measured(self, part: Part) -> dict[str, str]:
        """Map the nodes where the features of a part are measured to one of them.

        There are several only if all features have other parts, too: in a user-defined hierarchy
        hand can keep them apart.
        """
        homes = {self._measured[name]: name for name in self._own_features(part)}
        is_shared = all(self._n_asking[name] > 1 for name in self._own_features(part))
        if len(homes) > 1 and not is_shared:
            (first, one), (second, other), *_ = homes.items()
            raise ParameterError(
                f"{part.name!r} asks {one!r} of {first!r} and {other!r} of {second!r}, and "
                "readings do not travel; measure both at one node, or fit a hierarchy that keeps "
                "them apart"
            )
        return homes


def plan_of_homes(
    model: Model, home: Mapping[str, str], site: str, measured: Mapping[str, str] | None = None
) -> Plan:
    """Work out what each node reads, receives and sends.

    Parameters
    ----------
    model : Model
    home : mapping of the name of a part to the node that runs it
    site : str
    measured : mapping of the name of a feature to the node that measures it, default=None
        By default the node of the first part that asks it.
    """
    sources: dict[str, str] = {}  # of each part and feature
    asking: dict[str, list[str]] = {}  # the nodes that need it
    for part in model.parts:
        for origin in part.origins:
            asking.setdefault(origin, []).append(home[part.name])
            if origin not in home:
                sources.setdefault(origin, (measured or {}).get(origin, home[part.name]))
    features = [*sources]
    sources |= {part.name: home[part.name] for part in model.parts}
    names = dict.fromkeys([*home.values(), *sources.values()])
    runs: dict[str, list[Part]] = {name: [] for name in names}
    for part in model.parts:
        runs[home[part.name]].append(part)
    reads: dict[str, list[str]] = {name: [] for name in names}
    for name in features:
        reads[sources[name]].append(name)
    height = {part.name: place for place, part in enumerate(model.parts)}
    plans = [_node_plan(name, runs[name], reads[name], sources, asking) for name in names]
    plans.sort(key=lambda node: -max((height[part] for part in node.runs), default=-1))
    return Plan(site, tuple(_hearing_first(plans)))


def _node_plan(
    name: str,
    runs: Sequence[Part],
    reads: Sequence[str],
    sources: Mapping[str, str],
    asking: Mapping[str, Sequence[str]],
) -> NodePlan:
    asked = dict.fromkeys(origin for part in runs for origin in part.origins)
    offered = [*(part.name for part in runs), *reads]
    return NodePlan(
        name=name,
        runs=tuple(part.name for part in runs),
        reads=tuple(reads),
        hears=tuple((one, sources[one]) for one in asked if sources[one] != name),
        sends=tuple(one for one in offered if set(asking.get(one, ())) - {name}),
    )


def _hearing_first(nodes: Iterable[NodePlan]) -> Iterator[NodePlan]:
    """Put nodes before those they get inputs from; where some need each other, as they are."""
    waiting = {node.name: node for node in nodes}
    n_receivers = Counter(home for node in waiting.values() for home in _senders(node))
    free = deque(name for name in waiting if not n_receivers[name])
    while waiting:
        node = waiting.pop(free.popleft() if free else next(iter(waiting)))
        yield node
        for home in _senders(node):
            n_receivers[home] -= 1
        free.extend(
            one for one in reversed(_senders(node)) if one in waiting and not n_receivers[one]
        )


def _senders(node: NodePlan) -> list[str]:
    return list(dict.fromkeys(home for _, home in node.hears))


def names_at(node: str, names: object) -> tuple[str, ...]:
    """Return the names that are placed at a node, or raise an error if they are not a list."""
    if not isinstance(names, Sequence) or isinstance(names, str):
        raise ParameterError(
            f"the placement of {node!r} must be a list of names. Got {type_of(names)} instead."
        )
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(
                f"a name at {node!r} must be text, in quotes where needed. "
                f"Got {shown(name)} instead."
            )
    if not names:
        raise ParameterError(f"the placement of {node!r} is empty; drop the node")
    return tuple(names)


def _as_name(cluster: str, taken: Collection[str]) -> str:
    """Make a node's name of what a part is called, and number it if another is called so."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", cluster).strip("-._")[: MAX_NAME - _NUMBER_ROOM]
    name = plain or "node"
    numbered = (f"{name}-{number}" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)
