"""Read a placement: a file that lists what is measured where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.structure import type_of
from solah.site.plan import GATEWAY, SITE, check_name, names_at
from solah.site.yaml_reader import parse_yaml

if TYPE_CHECKING:
    import os

_NODES = "nodes"
KEYS = ("gateway", "site", _NODES)
OF_SITES = (
    *("model", "plan", "broker", "sensor_brokers", "sensors", "decide", "root", "state"),
    *("store", "trust", "policy", "sending", "alerts"),
)
"""What else a site file has, which is a placement, too."""
_SUFFIXES = (".json", ".yaml", ".yml")


@dataclass(frozen=True)
class Placement:
    """What is measured where.

    Attributes
    ----------
    nodes : the features that are measured at each node; parts may be placed, too
    gateway : the node of all that is placed nowhere else
    site : the name of the network
    is_site : whether the file has more keys, as site files do
    """

    nodes: Mapping[str, tuple[str, ...]]
    gateway: str = GATEWAY
    site: str = SITE
    is_site: bool = False


def load_placement(path: str | os.PathLike[str]) -> Placement:
    """Read a placement from a file: .json, .yaml or .yml.

    The file maps each node's name to the list of what is there. It may also name the gateway and
    the site, and has the nodes below ``nodes`` then. A site file
    (:func:`solah.site.load_site`) is read, too, and its other keys are ignored.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "placement.json")
    ...     _ = file.write_text('{"site": "house", "nodes": {"cellar": ["alcohol", "hue"]}}')
    ...     load_placement(file)
    Placement(nodes={'cellar': ('alcohol', 'hue')}, gateway='gateway', site='house', is_site=False)

    Raises
    ------
    ParameterError
        The file is not a placement; the error names the file, the node and the problem.
    """
    place = Path(path)
    if place.suffix.lower() not in _SUFFIXES:
        raise ParameterError(
            f"{path}: a placement is read from {', '.join(_SUFFIXES)}. "
            f"Got {shorten(place.suffix)} instead."
        )
    try:
        return _read(parse_yaml(place.read_bytes(), "the placement")[0])
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def _read(value: Any) -> Placement:
    if not isinstance(value, Mapping):
        raise ParameterError(
            f"a placement maps each node's name to a list of names. Got {type_of(value)} instead."
        )
    if not isinstance(value.get(_NODES), Mapping):
        return Placement(read_nodes(value))
    for key in value:
        if key not in (*KEYS, *OF_SITES):
            raise ParameterError(
                f"a placement with 'nodes' has no {shorten(key)}{did_you_mean(key, KEYS)}"
            )
    return Placement(
        read_nodes(value[_NODES]),
        check_name(value.get("gateway", GATEWAY)),
        check_name(value.get("site", SITE)),
        any(key in OF_SITES for key in value),
    )


def read_nodes(nodes: Mapping[Any, Any]) -> dict[str, tuple[str, ...]]:
    """Read the features of each node, from what a parser returned."""
    if not isinstance(nodes, Mapping) or not nodes:
        raise ParameterError("a placement needs at least one node")
    for node, names in nodes.items():
        if node in (*KEYS, *OF_SITES) and not isinstance(names, list):
            raise ParameterError(f"{node!r} is not a node; beside it, nodes go below 'nodes'")
    return {check_name(name): names_at(name, names) for name, names in nodes.items()}
