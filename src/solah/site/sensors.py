"""Where the readings of features come from: the ``sensors`` of a site file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.json_fields import read_record
from solah.site.fields import (
    MOST_NUMBER,
    choice,
    duration,
    either,
    flag,
    kind,
    named,
    number,
    record,
    schema_of,
    setting,
    text,
    texts,
)
from solah.site.payloads import ARRIVAL, STEPS, TimeField, parse_path
from solah.site.sensor_mapping import check_filter, check_topic, n_wildcards, placeholders
from solah.site.sparkplug import UNTIL_DEATH, place_of
from solah.site.templates import TEMPLATES
from solah.site.units import UNCHANGED, Linear, conversion, seconds_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.data.json_reader import Reader
    from solah.site.payloads import Steps
    from solah.site.templates import Template

_MOST_SENSORS = 10_000
_MOST_STATES = 254
_LEARNED = "learned"


@dataclass(frozen=True)
class Sensor:
    """Where the readings of a feature come from.

    Attributes
    ----------
    feature : its name, or that of a channel; ``{1}`` represents what the first wildcard of the
        topic matches
    topic : an MQTT topic filter
    path : where the value is in a JSON document; None where it is all of the message
    convert : from the number that is sent to what the model was trained on
    states : the category for each text that is sent
    unknown : texts by which the sensor reports a missing value
    low, high : beyond these, a number cannot be, and counts as missing
    per : seconds, where a counter is sent and the feature is its increase in that time
    time : where the message has its time of measurement; ``"arrival"`` for its arrival; None for
        the time of publication if the source has it, or else the arrival
    number : where the sensor's own count of messages is; None where there is none
    max_age : seconds after which a reading is missing; None to learn it, infinity for one that is
        held until the device reports that it is gone
    takes_retained : whether what the broker had kept counts as measured when it arrives
    availability : topics on which the device, or its bridge, reports whether it is online
    place : where the site file has it, for errors
    is_sparkplug : whether messages are Sparkplug B; the topic is then the place of a device, as
        :func:`solah.site.sparkplug.place_of` writes it, and the path begins with a metric
    """

    feature: str
    topic: str
    path: Steps | None = None
    convert: Linear = UNCHANGED
    states: Mapping[str, str | float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    per: float | None = None
    time: TimeField | Literal["arrival"] | None = None
    number: Steps | None = None
    max_age: float | None = None
    takes_retained: bool = False
    availability: tuple[str, ...] = ()
    place: str = ""
    is_sparkplug: bool = False


# --- what a file has -----------------------------------------------------------------------------


def _read_range(reader: Reader) -> tuple[float, ...]:
    low, high = reader.numbers(2, 2, -MOST_NUMBER, MOST_NUMBER)
    if low >= high:
        raise reader.fail("the lowest number that can be, and the highest")
    return low, high


def _read_feature(reader: Reader) -> Feature:
    """Read an object, or the place of the value alone."""
    if isinstance(reader.value, dict):
        return read_record(reader, Feature)
    return Feature(source=_SOURCE["read"](reader))


def _find_template(name: str) -> Template:
    if name not in TEMPLATES:
        hint = did_you_mean(name, TEMPLATES)
        raise ParameterError(f"there is no template {shorten(name)}{hint}")
    return TEMPLATES[name]


_PATH = either((list, STEPS), otherwise=text(parse_path, 500))
_SOURCE = either((list, STEPS), (type(None), kind(lambda _: None, type="null")), otherwise=text())
_STATE = either(((int, float), number()), otherwise=text(most=500))
_TWO_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}


@dataclass(frozen=True, kw_only=True)
class _Common:
    """What holds for all features of an entry, or for one of them; None where it is not given."""

    time: TimeField | Literal["arrival"] | None = setting(
        either((str, choice(ARRIVAL)), otherwise=record(TimeField)), None
    )
    number: Steps | None = setting(_PATH, None)
    max_age: float | Literal["learned"] | None = setting(
        text(lambda age: age if age == _LEARNED else seconds_of(age, 0.001)), None
    )
    unknown: tuple[str, ...] | None = setting(texts(0, 50), None)
    retained: bool | None = setting(flag(), None)


@dataclass(frozen=True, kw_only=True)
class Feature(_Common):
    """How a value becomes the reading of a feature."""

    source: str | Steps | None = setting(_SOURCE, None, "from")
    unit: Linear = setting(text(conversion), UNCHANGED)
    scale: float = setting(number(), 1.0)
    offset: float = setting(number(), 0.0)
    states: Mapping[str, str | float] = setting(named(_STATE, 0, _MOST_STATES), {})
    range: tuple[float | None, ...] = setting(kind(_read_range, **_TWO_NUMBERS), (None, None))
    per: float | None = setting(duration(0.001), None)

    def __post_init__(self) -> None:
        if self.scale == 0:
            raise ParameterError("'scale' must be a number other than 0")


_FEATURE = kind(_read_feature, anyOf=[schema_of(Feature), _SOURCE["schema"]])


@dataclass(frozen=True, kw_only=True)
class Entry(_Common):
    """A topic, or a device with a template, and the features in its messages."""

    features: Mapping[str, Feature] = setting(named(_FEATURE, 1, _MOST_SENSORS))
    topic: str = setting(text(check_filter), "")
    template: Template | None = setting(text(_find_template), None)
    device: str = setting(text(most=500), "")
    availability: str = setting(text(check_topic), "")

    def __post_init__(self) -> None:
        if self.template is None and not self.topic:
            raise ParameterError(
                "'topic' is missing, or a 'template' with a 'device'; one of them names where "
                "messages come from"
            )
        if self.template is not None and self.topic:
            raise ParameterError("give a 'topic' or a 'template'; the template has its own topic")
        if self.template is None and self.device:
            raise ParameterError("'device' goes with a 'template'")
        if self.template is not None and not (self.device or self.template.device):
            raise ParameterError(f"no 'device', which {self.template.name} needs")


# --- sensors of entries --------------------------------------------------------------------------


def _read_sensors(reader: Reader) -> tuple[Sensor, ...]:
    sensors: dict[str, Sensor] = {}
    for one in reader.items(0, _MOST_SENSORS):
        entry = read_record(one, Entry)
        for name, part in one.part("features").named(_MOST_SENSORS, 500).items():
            try:
                sensor = _make_sensor(name, entry.features[name], entry, part.place)
            except ParameterError as error:
                raise reader.error(f"{part.place}: {error}") from None
            if name in sensors:
                raise reader.error(
                    f"{part.place} is the second place that {shorten(name)} comes from; it also "
                    f"comes from {sensors[name].topic}"
                )
            sensors[name] = sensor
    return tuple(sensors.values())


SENSORS = kind(_read_sensors, type="array", maxItems=_MOST_SENSORS, items=schema_of(Entry))
"""The kind of the list of sensors."""


def _make_sensor(name: str, feature: Feature, entry: Entry, place: str) -> Sensor:
    """Join what an entry, its template and one of its features have."""
    template = entry.template
    topic, path = _find_value(feature.source, entry)
    if (most := max(placeholders(name), default=0)) > n_wildcards(topic) or 0 in placeholders(name):
        raise ParameterError(
            f"the name refers to wildcard {{{most}}}, and {shorten(topic)} has {n_wildcards(topic)}"
        )
    given: dict[str, Any] = {
        option: value
        for part in (entry, feature)
        for option in ("time", "number", "max_age", "unknown", "retained")
        if (value := getattr(part, option)) is not None
    }
    is_sparkplug = template is not None and template.is_sparkplug
    if is_sparkplug:
        _check_sparkplug(given)
        given = {"time": TimeField((*(path or ())[:1], "time"), "ms", is_optional=True), **given}
        given.setdefault("max_age", UNTIL_DEATH)
    elif template is not None:
        given = {
            "time": template.time,
            "unknown": template.unknown,
            "retained": template.is_retained,
            **given,
        }
    device = entry.device or (template.device if template else "")
    topics = template.availability if template else ()
    availability = [entry.availability] if entry.availability else topics
    low, high = feature.range
    age = given.get("max_age")
    return Sensor(
        feature=name,
        topic=topic,
        path=path,
        convert=Linear(feature.scale, feature.offset).then(feature.unit),
        states=feature.states,
        unknown=given.get("unknown", ()),
        low=low,
        high=high,
        per=feature.per,
        time=given.get("time"),
        number=given.get("number"),
        max_age=None if age == _LEARNED else age,
        takes_retained=given.get("retained", False),
        availability=tuple(one.replace("{device}", device) for one in availability),
        place=place,
        is_sparkplug=is_sparkplug,
    )


def _check_sparkplug(given: Mapping[str, Any]) -> None:
    """Refuse options that Sparkplug has itself, and times that need regular messages."""
    if "number" in given:
        raise ParameterError("no 'number': Sparkplug counts its messages itself")
    if given.get("time", ARRIVAL) != ARRIVAL:
        raise ParameterError(
            "Sparkplug sends the time of measurement itself; drop 'time', or write 'arrival'"
        )
    if given.get("max_age") == _LEARNED:
        raise ParameterError(
            "Sparkplug sends only changes, so nothing follows from the intervals; give a 'max_age' "
            "in seconds, or drop it to hold readings until a death"
        )


def _find_value(source: str | Steps | None, entry: Entry) -> tuple[str, Steps | None]:
    """Return the topic of a feature and its path in the message."""
    template = entry.template
    if template is None:
        return entry.topic, parse_path(source) if isinstance(source, str) else source
    needs_both = template.has_part and template.has_path
    if not isinstance(source, str) or (needs_both and "/" not in source):
        raise ParameterError(
            f"{template.name} needs the place of the value, such as {template.example!r}. "
            f"Got {shorten(source)} instead."
        )
    if template.is_sparkplug:
        return place_of(entry.device), (source, "value")
    topic, path = template.place(entry.device or template.device, source)
    return check_filter(topic), None if path is None else parse_path(path)
