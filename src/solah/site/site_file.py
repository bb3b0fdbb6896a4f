"""Read a site file; errors name the line."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from solah.data.json_reader import Reader
from solah.exceptions import ParameterError, shorten
from solah.model.json_fields import read_record
from solah.site.fields import schema_of
from solah.site.kafka import check_kafka_topic
from solah.site.settings import Site
from solah.site.yaml_reader import parse_yaml

if TYPE_CHECKING:
    import os

_WHAT = "site"
_MAX_BYTES = 4 * 1024 * 1024


def site_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of site files, for editors that check YAML."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_of(Site)}


def load_site(path: str | os.PathLike[str]) -> Site:
    """Read a site file: .yaml, .yml or .json.

    Names of files in it are meant from its folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "site.json")
    ...     _ = file.write_text(
    ...         '{"site": "house", "sensors": '
    ...         '[{"topic": "attic", "features": {"temperature": {"unit": "F to C"}}}]}'
    ...     )
    ...     site = load_site(file)
    >>> site.name, site.sensors[0].feature, round(site.sensors[0].convert(212.0), 6)
    ('house', 'temperature', 100.0)

    Raises
    ------
    ParameterError
        The file is invalid; the error names the file, the line and the problem.
    """
    file = Path(path)
    if file.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise ParameterError(
            f"{path}: a site is read from .yaml, .yml or .json. Got {shorten(file.suffix)} instead."
        )
    if file.stat().st_size > _MAX_BYTES:
        raise ParameterError(f"{path}: a site file has at most {_MAX_BYTES:,} bytes")
    lines: dict[str, int] = {}
    try:
        value, lines = parse_yaml(file.read_bytes(), _WHAT)
        site = read_site(Reader(value, _WHAT, ParameterError), file.parent)
    except ParameterError as error:
        raise Site(file=file, lines=lines).error(str(error)) from None
    return replace(site, file=file, lines=lines)


def read_site(document: Reader, folder: Path) -> Site:
    """Read a site whose files are meant from a folder."""
    site = read_record(document, Site)
    for sensor in site.sensors:
        if site.is_on_kafka(sensor.feature):
            if sensor.is_sparkplug:
                raise ParameterError(f"{sensor.place} comes from Kafka, and Sparkplug is for MQTT")
            try:
                check_kafka_topic(sensor.topic)
            except ParameterError as error:
                raise ParameterError(f"{sensor.place}: {error}") from None
    if "state" not in document.value:
        site = replace(site, state=Path(f"{site.name}.state"))
    resolved: Site = _resolved(site, folder)
    return resolved


def _resolved(part: Any, folder: Path) -> Any:
    """Return a part of a site whose files are below a folder."""
    if isinstance(part, Path):
        return folder / part
    if type(part) is tuple:
        return tuple(_resolved(one, folder) for one in part)
    if isinstance(part, dict):
        return {name: _resolved(one, folder) for name, one in part.items()}
    if is_dataclass(part) and not isinstance(part, type):
        values = {one.name: getattr(part, one.name) for one in fields(part)}
        changed = {name: _resolved(one, folder) for name, one in values.items()}
        return replace(part, **{name: one for name, one in changed.items() if one != values[name]})
    return part
