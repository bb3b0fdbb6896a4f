"""Parse YAML from untrusted sources, and keep the line of everything in it."""

from __future__ import annotations

import re
from typing import Any

from solah.data.json_reader import MAX_DEPTH, Reader
from solah.exceptions import ParameterError, require, shorten

_MOST_VALUES = 200_000
_STANDARD = "tag:yaml.org,2002:"


def parse_yaml(data: bytes | str, what: str) -> tuple[Any, dict[str, int]]:
    """Parse YAML whose plain values are those of version 1.2: ``ON`` is a text, as sensors send it.

    Parameters
    ----------
    data : bytes or str
    what : str
        What errors call the document.

    Returns
    -------
    value : as ``json.loads`` would return it; keys are texts, as they are written
    lines : dict
        Of each place, as :class:`solah.data.json_reader.Reader` names it, its line.

    Raises
    ------
    ParameterError
        It is not YAML, is too deep or too large, or has a tag, or a key twice.
    """
    yaml = require("yaml", "site", "reading YAML")
    try:
        loader = _loader(yaml)(data)
        try:
            composed = loader.get_single_node()
            walk = _Walk(yaml, loader)
            return walk.value(composed, Reader(None, what, ParameterError), 0), walk.lines
        finally:
            loader.dispose()
    except RecursionError:
        raise ParameterError("this YAML is nested too deeply") from None
    except ParameterError:
        raise
    except (yaml.YAMLError, ValueError) as error:
        raise ParameterError(f"this is not YAML that can be used: {error}") from None


def _loader(yaml: Any) -> Any:
    """Make a loader that takes only true and false for booleans, dates for texts, and no tag.

    A tag makes any text a date, bytes or a set, and fails where the text is not one.
    """

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012

        def get_event(self) -> Any:
            event = super().get_event()
            if (tag := getattr(event, "tag", None)) is not None:
                line, name = event.start_mark.line + 1, tag.replace(_STANDARD, "!!")
                raise ParameterError(
                    f"line {line}: remove the tag {shorten(name)}; tags are not supported"
                )
            return event

    for tag, pattern, first in (
        ("bool", r"true|false|True|False", "tfTF"),
        ("null", r"~|null|Null|", "~nN\0"),
        ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
        ("float", r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ):
        letters = ["" if letter == "\0" else letter for letter in first]
        name, whole = f"{_STANDARD}{tag}", re.compile(rf"(?:{pattern})\Z")
        Loader.add_implicit_resolver(name, whole, letters)
    return Loader


class _Walk:
    """Builds values of composed nodes, and notes their lines."""

    def __init__(self, yaml: Any, loader: Any) -> None:
        self.lines: dict[str, int] = {}
        self._yaml, self._loader = yaml, loader
        self._n_values = 0

    def value(self, node: Any, place: Reader, depth: int) -> Any:
        if node is None:
            return None
        line = node.start_mark.line + 1
        self.lines.setdefault(place.place, line)
        self._n_values += 1
        if depth > MAX_DEPTH or self._n_values > _MOST_VALUES:
            raise ParameterError(f"line {line}: this is nested too deeply, or too large")
        if isinstance(node, self._yaml.MappingNode):
            return self._mapping(node, place, depth)
        if isinstance(node, self._yaml.SequenceNode):
            return [
                self.value(one, Reader(None, number, ParameterError, place), depth + 1)
                for number, one in enumerate(node.value)
            ]
        return self._loader.construct_object(node)

    def _mapping(self, node: Any, place: Reader, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, below in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, self._yaml.ScalarNode):
                raise ParameterError(f"line {line}: a name must be a text")
            if key.value in found:
                raise ParameterError(f"line {line}: {shorten(key.value)} is there twice")
            part = Reader(None, key.value, ParameterError, place)
            self.lines[part.place] = line
            found[key.value] = self.value(below, part, depth + 1)
        return found
