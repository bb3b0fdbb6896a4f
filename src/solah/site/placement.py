"""Read a placement: a file that lists what is measured where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.data.json_reader import JsonParser, shown
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.format import MAX_BYTES
from solah.model.structure import type_of
from solah.site.plan import GATEWAY, SITE, check_name
from solah.site.yaml_reader import parse_yaml

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

_NODES = "nodes"
KEYS = ("gateway", "site", _NODES)
OF_SITES = (
    *("model", "plan", "broker", "sensor_brokers", "sensors", "decide", "root", "state"),
    *("store", "trust", "policy", "sending", "alerts"),
)
"""What else a site file has, which is a placement, too."""
_PARSER = JsonParser("the placement", ParameterError, MAX_BYTES)


@dataclass(frozen=True)
class Placement:
    """What is measured where.

    Attributes
    ----------
    nodes : the features that are measured at each node; parts may be placed, too
    gateway : the node of all that is placed nowhere else
    site : the name of the network
    is_site : whether the file says more, as site files do
    """

    nodes: Mapping[str, tuple[str, ...]]
    gateway: str = GATEWAY
    site: str = SITE
    is_site: bool = False


def load_placement(path: str | os.PathLike[str]) -> Placement:
    """Read a placement from a file: .json, .yaml or .yml.

    The file maps each node's name to the list of what is there. It may also name the gateway and
    the site, and has the nodes below ``nodes`` then. A site file
    (:func:`solah.site.load_site`) is read, too, and what else it says is left alone.

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
        The file is no placement; the error names the file, the node and what is wrong with it.
    """
    place = Path(path)
    readers: dict[str, Callable[[bytes], Any]] = {
        ".json": lambda data: _PARSER.read(data).value,
        ".yaml": lambda data: parse_yaml(data, _PARSER.what)[0],
        ".yml": lambda data: parse_yaml(data, _PARSER.what)[0],
    }
    reader = readers.get(place.suffix.lower())
    if reader is None:
        raise ParameterError(
            f"{path}: a placement is read from {', '.join(readers)}. "
            f"Got {shorten(place.suffix)} instead."
        )
    try:
        return _read(reader(place.read_bytes()))
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
    """Read what is measured at each node, from what a parser returned."""
    if not isinstance(nodes, Mapping) or not nodes:
        raise ParameterError("a placement needs at least one node")
    return {check_name(name): _read_names(name, names) for name, names in nodes.items()}


def _read_names(node: str, names: Any) -> tuple[str, ...]:
    if not isinstance(names, list):
        hint = "; beside it, nodes go below 'nodes'" if node in (*KEYS, *OF_SITES) else ""
        raise ParameterError(
            f"what is at {node!r} must be a list of names. Got {type_of(names)} instead{hint}."
        )
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(
                f"a name at {node!r} must be text, in quotes where needed. "
                f"Got {shown(name)} instead."
            )
    if not names:
        raise ParameterError(f"nothing is at {node!r}; leave the node out")
    return tuple(names)
