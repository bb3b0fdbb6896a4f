"""Read a site file, and name the line of what is wrong with it.

``schema.json`` describes the same for editors that complete and check YAML.
"""

from __future__ import annotations

import json
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from solah.data.json_reader import JsonParser, Reader
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.policy import Policy
from solah.site.alerts import read_alerting
from solah.site.broker_settings import OnKafka, read_broker, read_brokers
from solah.site.field_readers import checked, duration, file_in, flag, one_of
from solah.site.kafka import check_kafka_topic
from solah.site.payloads import ARRIVAL, parse_path
from solah.site.placement import KEYS, OF_SITES, read_nodes
from solah.site.plan import GATEWAY, SITE, check_name
from solah.site.send_on_change import Sending
from solah.site.sensor_mapping import check_filter, check_topic, n_wildcards, placeholders
from solah.site.settings import Deciding, Sensor, Site, Store, TimeField
from solah.site.sparkplug import UNTIL_DEATH, place_of
from solah.site.templates import TEMPLATES
from solah.site.units import Linear, bytes_of, conversion
from solah.site.yaml_reader import parse_yaml

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from solah.site.alerts import Alerting
    from solah.site.settings import Steps
    from solah.site.templates import Template

_WHAT = "site"
_MAX_BYTES = 4 * 1024 * 1024
_MOST_SENSORS = 10_000
_MOST_STATES = 254
_MOST_NUMBER = 1e300
_PARSER = JsonParser(_WHAT, ParameterError, _MAX_BYTES)
# What holds for all features of an entry, or for one of them.
_OF_BOTH = ("time", "number", "max_age", "unknown", "retained")
_OF_ENTRY = ("topic", "template", "device", "features", "availability", *_OF_BOTH)
_OF_FEATURE = ("from", "unit", "scale", "offset", "states", "range", "per", *_OF_BOTH)


def site_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of site files."""
    text = files("solah.site").joinpath("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


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
        The file is no site; the error names the file, the line, and what is wrong there.
    """
    place = Path(path)
    if place.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise ParameterError(
            f"{path}: a site is read from .yaml, .yml or .json. "
            f"Got {shorten(place.suffix)} instead."
        )
    data = place.read_bytes()
    try:
        if place.suffix.lower() == ".json":
            return replace(read_site(_PARSER.read(data), place.parent), file=place)
        _PARSER.check_size(data)
        value, lines = parse_yaml(data, _WHAT)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None
    try:
        site = read_site(Reader(value, _WHAT, ParameterError), place.parent)
    except ParameterError as error:
        raise Site(file=place, lines=lines).error(str(error)) from None
    return replace(site, file=place, lines=lines)


def read_site(document: Reader, folder: Path) -> Site:
    """Read what a site file says."""
    fields = document.record((), (*KEYS, *OF_SITES))
    name = checked(fields["site"], check_name) if "site" in fields else SITE
    if "model" in fields and "plan" in fields:
        raise document.error(f"{document.place} has 'model' and 'plan'; one says what is run")
    for part in ("policy", "sending"):
        if part in fields and "plan" in fields:
            raise document.error(f"{document.place} has {part!r} and 'plan', which says it itself")
    nodes = _read_nodes(fields["nodes"]) if "nodes" in fields else {}
    gateway = checked(fields["gateway"], check_name) if "gateway" in fields else GATEWAY
    sensor_brokers = read_brokers(fields.get("sensor_brokers"), folder)
    on_kafka = OnKafka(nodes, gateway, sensor_brokers)
    return Site(
        name=name,
        nodes=nodes,
        gateway=gateway,
        model=file_in(fields.get("model"), folder),
        plan=file_in(fields.get("plan"), folder),
        broker=read_broker(fields["broker"], folder) if "broker" in fields else None,
        sensor_brokers=sensor_brokers,
        sensors=_read_sensors(fields["sensors"], on_kafka) if "sensors" in fields else (),
        deciding=_read_deciding(fields["decide"]) if "decide" in fields else Deciding(),
        policy=_read_policy(fields["policy"]) if "policy" in fields else None,
        sending=_read_sending(fields["sending"]) if "sending" in fields else None,
        alerts=_read_alerts(fields["alerts"]) if "alerts" in fields else None,
        root=_read_root(fields["root"]) if "root" in fields else "solah",
        state=file_in(fields.get("state"), folder) or folder / f"{name}.state",
        store=_read_store(fields["store"]) if "store" in fields else Store(),
        trust=_read_trust(fields["trust"], folder) if "trust" in fields else (),
    )


# --- the network ---------------------------------------------------------------------------------


def _read_nodes(nodes: Reader) -> dict[str, tuple[str, ...]]:
    try:
        return read_nodes(nodes.value)
    except ParameterError as error:
        raise nodes.error(f"{nodes.place}: {error}") from None


def _read_trust(files: Reader, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / one for one in files.texts(1, 16))


def _read_root(root: Reader) -> str:
    text = root.text(1, 200)
    if any(sign in text for sign in "+#\0") or not all(text.split("/")):
        raise root.fail("the beginning of a topic, without wildcards")
    return text


def _read_deciding(deciding: Reader) -> Deciding:
    fields = deciding.record((), ("every", "when", "deadline"))
    default = Deciding()
    return Deciding(
        every=duration(fields["every"], 0.01) if "every" in fields else default.every,
        on_change=one_of(fields["when"], ("always", "changed")) == "changed"
        if "when" in fields
        else default.on_change,
        deadline=duration(fields["deadline"]) if "deadline" in fields else default.deadline,
    )


def _read_policy(policy: Reader) -> dict[str, Any]:
    """Read the names of a policy; its values are checked with the model."""
    parts = policy.record((), [one.name for one in dataclass_fields(Policy)])
    return {name: part.value for name, part in parts.items()}


def _read_sending(sending: Reader) -> Sending:
    fields = sending.record((), ("slack", "unit", "keep_alive"))
    given: dict[str, float] = {
        name: fields[name].number(0.0, 1.0) for name in ("slack", "unit") if name in fields
    }
    if "keep_alive" in fields:
        given["keep_alive"] = duration(fields["keep_alive"], 0.01)
    try:
        return Sending(**given)
    except ParameterError as error:
        raise sending.error(f"{sending.place}: {error}") from None


def _read_alerts(alerts: Reader) -> Alerting:
    return read_alerting(alerts.value, alerts.place)


def _read_store(store: Reader) -> Store:
    fields = store.record((), ("size", "age"))
    default = Store()
    size = checked(fields["size"], bytes_of) if "size" in fields else default.size
    if size < 100_000:
        raise fields["size"].fail("at least 100kB")
    return Store(size, duration(fields["age"], 1.0) if "age" in fields else default.age)


# --- sensors -------------------------------------------------------------------------------------


def _read_sensors(sensors: Reader, is_on_kafka: Callable[[str], bool]) -> tuple[Sensor, ...]:
    found: dict[str, str] = {}
    every = [one for entry in sensors.items(0, _MOST_SENSORS) for one in _read_entry(entry)]
    for sensor, where in every:
        if sensor.feature in found:
            raise where.error(
                f"{where.place} is the second place that {shorten(sensor.feature)} comes from; "
                f"it also comes from {found[sensor.feature]}"
            )
        found[sensor.feature] = sensor.topic
        if is_on_kafka(sensor.feature):
            _check_on_kafka(sensor, where)
    return tuple(sensor for sensor, _ in every)


def _check_on_kafka(sensor: Sensor, where: Reader) -> None:
    if sensor.is_sparkplug:
        raise where.error(f"{where.place} is to come from Kafka, and Sparkplug is for MQTT")
    try:
        check_kafka_topic(sensor.topic)
    except ParameterError as error:
        raise where.error(f"{where.place}: {error}") from None


def _read_entry(entry: Reader) -> list[tuple[Sensor, Reader]]:
    """Read the sensors of one entry: a topic, or a device with a template."""
    fields = entry.record(("features",), _OF_ENTRY)
    template = _read_template(entry, fields)
    common = {name: fields[name] for name in _OF_BOTH if name in fields}
    named = fields["features"].named(_MOST_SENSORS, 500)
    if not named:
        raise fields["features"].fail("an object with a name at least")
    return [
        (_read_sensor(name, feature, fields, template, common), feature)
        for name, feature in named.items()
    ]


def _read_template(entry: Reader, fields: Mapping[str, Reader]) -> Template | None:
    if "template" not in fields:
        if "topic" not in fields:
            raise entry.error(
                f"{entry.place} has no 'topic', nor a 'template' with a 'device'; one of them says "
                "where messages come"
            )
        if "device" in fields:
            raise entry.error(f"{entry.place} has a 'device', which goes with a 'template'")
        return None
    if "topic" in fields:
        raise entry.error(f"{entry.place} has a 'topic' and a 'template'; the template has its own")
    name = fields["template"].text()
    if name not in TEMPLATES:
        raise fields["template"].error(
            f"{fields['template'].place}: there is no template {shorten(name)}"
            f"{did_you_mean(name, TEMPLATES)}"
        )
    template = TEMPLATES[name]
    if "device" not in fields and not template.device:
        raise entry.error(f"{entry.place} has no 'device', which {name} needs")
    return template


def _read_sensor(
    name: str,
    feature: Reader,
    entry: Mapping[str, Reader],
    template: Template | None,
    common: Mapping[str, Reader],
) -> Sensor:
    """Read where one feature comes from."""
    is_short = not isinstance(feature.value, dict)
    own = {} if is_short else feature.record((), _OF_FEATURE)
    source = feature if is_short else own.get("from")
    topic, path = _read_place(feature, source, entry, template)
    if (most := max(placeholders(name), default=0)) > n_wildcards(topic) or 0 in placeholders(name):
        raise feature.error(
            f"{feature.place} refers to wildcard {{{most}}}, and {shorten(topic)} has "
            f"{n_wildcards(topic)}"
        )
    both = {**common, **own}
    if template is not None and template.is_sparkplug:
        _check_sparkplug(both)
    low, high = _read_range(own["range"]) if "range" in own else (None, None)
    return Sensor(
        feature=name,
        topic=topic,
        path=path,
        convert=_read_conversion(own),
        states=_read_states(own["states"]) if "states" in own else {},
        unknown=both["unknown"].texts(0, 50)
        if "unknown" in both
        else (template.unknown if template else ()),
        low=low,
        high=high,
        per=duration(own["per"], 0.001) if "per" in own else None,
        time=_read_time(both["time"]) if "time" in both else _time_of(template, path),
        number=_read_path(both["number"]) if "number" in both else None,
        max_age=_read_max_age(both["max_age"]) if "max_age" in both else _max_age_of(template),
        takes_retained=flag(both["retained"])
        if "retained" in both
        else template is not None and template.is_retained,
        availability=_read_availability(entry, template),
        place=feature.place,
        is_sparkplug=template is not None and template.is_sparkplug,
    )


def _check_sparkplug(both: Mapping[str, Reader]) -> None:
    """Refuse what Sparkplug says itself, and what cannot be learned where only changes are sent."""
    if "number" in both:
        raise both["number"].error(f"{both['number'].place}: Sparkplug counts its messages itself")
    if "time" in both and both["time"].value != ARRIVAL:
        raise both["time"].error(
            f"{both['time'].place}: Sparkplug says itself when it was measured; leave it out, or "
            "write 'arrival'"
        )
    if "max_age" in both and both["max_age"].value == "learned":
        raise both["max_age"].error(
            f"{both['max_age'].place}: Sparkplug sends what changes, so nothing follows from "
            "how often it comes; give a time, or leave it out to hold readings until a death"
        )


def _time_of(template: Template | None, path: Steps | None) -> TimeField | None:
    if template is not None and template.is_sparkplug and path is not None:
        return TimeField((path[0], "time"), "ms", is_optional=True)
    return template.time if template else None


def _max_age_of(template: Template | None) -> float | None:
    """Return for how long readings are held where nothing is said: None to learn it."""
    return UNTIL_DEATH if template is not None and template.is_sparkplug else None


def _read_place(
    feature: Reader,
    source: Reader | None,
    entry: Mapping[str, Reader],
    template: Template | None,
) -> tuple[str, Steps | None]:
    """Return the topic of a feature and its path in the message."""
    if template is None:
        topic = checked(entry["topic"], check_filter)
        return topic, None if source is None or source.value is None else _read_path(source)
    text = None if source is None else source.value
    needs_both = template.has_part and template.has_path
    if not isinstance(text, str) or not text or (needs_both and "/" not in text):
        raise feature.error(
            f"{feature.place} must say where {template.name} has it, such as "
            f"{template.example!r}. Got {shorten(text)} instead."
        )
    if template.is_sparkplug:
        return checked(entry["device"], place_of), (text, "value")
    device = entry["device"].text(1, 500) if "device" in entry else template.device
    topic, path = template.place(device, text)
    try:
        return check_filter(topic), None if path is None else parse_path(path)
    except ParameterError as error:
        raise feature.error(f"{feature.place}: {error}") from None


def _read_availability(entry: Mapping[str, Reader], template: Template | None) -> tuple[str, ...]:
    """Return the topics on which a device says whether it is there."""
    if "availability" in entry:
        return (checked(entry["availability"], check_topic),)
    if template is None or template.is_sparkplug:
        return ()
    device = entry["device"].text(1, 500) if "device" in entry else template.device
    return tuple(topic.replace("{device}", device) for topic in template.availability)


def _read_path(path: Reader) -> Steps:
    if isinstance(path.value, list):
        return tuple(
            step.integer(0, 99_999) if isinstance(step.value, int) else step.text(1, 500)
            for step in path.items(1, 32)
        )
    return checked(path, parse_path)


def _read_conversion(own: Mapping[str, Reader]) -> Linear:
    scale = own["scale"].number(-_MOST_NUMBER, _MOST_NUMBER) if "scale" in own else 1.0
    offset = own["offset"].number(-_MOST_NUMBER, _MOST_NUMBER) if "offset" in own else 0.0
    if scale == 0:
        raise own["scale"].fail("a number other than 0")
    linear = Linear(scale, offset)
    return linear.then(checked(own["unit"], conversion)) if "unit" in own else linear


def _read_states(states: Reader) -> dict[str, str | float]:
    named = states.named(_MOST_STATES, 500)
    return {
        sent: state.number(-_MOST_NUMBER, _MOST_NUMBER)
        if isinstance(state.value, int | float) and not isinstance(state.value, bool)
        else state.text(1, 500)
        for sent, state in named.items()
    }


def _read_range(reader: Reader) -> tuple[float, float]:
    low, high = reader.numbers(2, 2, -_MOST_NUMBER, _MOST_NUMBER)
    if low >= high:
        raise reader.fail("the lowest number that can be, and the highest")
    return low, high


def _read_time(time: Reader) -> TimeField | Literal["arrival"]:
    if time.value == ARRIVAL:
        return ARRIVAL
    fields = time.record(("path",), ("as", "zone", "optional"))
    return TimeField(
        _read_path(fields["path"]),
        one_of(fields["as"], ("iso", "s", "ms")) if "as" in fields else "iso",
        _read_zone(fields["zone"]) if "zone" in fields else "UTC",
        flag(fields["optional"]) if "optional" in fields else False,
    )


def _read_zone(zone: Reader) -> str:
    name = zone.text(1, 100)
    try:
        return name if name == "UTC" else ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise zone.fail(
            "a time zone that this system knows, such as Europe/Berlin (pip install tzdata brings "
            "them all)"
        ) from None


def _read_max_age(age: Reader) -> float | None:
    return None if age.value == "learned" else duration(age, 0.001)
