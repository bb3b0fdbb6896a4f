"""Turn messages of sensors into readings of features, or into reasons why not."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from solah.data.spelling import spell
from solah.exceptions import ParameterError, shorten
from solah.site.messages import MessageError
from solah.site.payloads import (
    ABSENT,
    ARRIVAL,
    Message,
    as_number,
    as_text,
    read_time,
    value_at,
)
from solah.site.sparkplug import filters_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from solah.model.document import Model
    from solah.model.features import Feature
    from solah.site.sensors import Sensor

_PLACEHOLDER = re.compile(r"\{(\d)\}")
_MOST_LETTERS = 1_000


class Event(StrEnum):
    """What may become of a sensor's message; each is counted by feature."""

    TAKEN = "taken"
    UNUSUAL = "unusual"
    """Taken, though further beyond the training range than that is wide."""
    RESTARTED = "restarted"
    """The sensor's count began again."""
    UNKNOWN = "unknown"
    """The sensor itself reports a missing value."""
    UNPARSABLE = "unparsable"
    NOT_A_NUMBER = "not_a_number"
    UNSEEN_CATEGORY = "unseen_category"
    """A text that is not a category of the model."""
    OUT_OF_RANGE = "out_of_range"
    NO_TIME = "no_time"
    ABSENT = "absent"
    """The message has nothing at that place, and changes nothing."""
    REPEATED = "repeated"
    LATE = "late"
    CLOCK_AHEAD = "clock_ahead"
    """The sensor's clock is ahead of ours; the time of arrival counts instead."""
    RETAINED = "retained"
    """The broker had kept it, nobody knows for how long."""
    AMBIGUOUS = "ambiguous"
    """It is of another topic than the one that the feature's readings came from."""
    CONFIRMED = "confirmed"
    """The broker had kept it, and it is what the node holds."""
    OFFLINE = "offline"
    """The device, or its bridge, reports that it is gone."""
    LOST = "lost"
    """Messages that never came, by the sensor's own count."""


class Found(NamedTuple):
    """The content of a message about a feature.

    Attributes
    ----------
    sensor : whose message it is
    feature : the feature's name
    event : what became of it; ``TAKEN`` or ``UNUSUAL`` for a reading
    value : the reading; None where there is none
    time : when it was measured; None for when it arrived
    number : the sensor's own count; None where it has none
    begins : whether the sensor begins again, or ended, so that what came before counts no more
    """

    sensor: Sensor
    feature: str
    event: Event
    value: float | str | None = None
    time: float | None = None
    number: float | None = None
    begins: bool = False


def check_filter(topic: str) -> str:
    """Refuse invalid topic filters of MQTT."""
    levels = topic.split("/")
    has_sign = [level for level in levels if "+" in level or "#" in level]
    if (
        not 0 < len(topic) <= _MOST_LETTERS
        or "\0" in topic
        or any(level not in ("+", "#") for level in has_sign)
        or "#" in levels[:-1]
    ):
        raise ParameterError(
            "a topic has levels with '/' between them; '+' is one whole level, and '#' for "
            f"all that follow. Got {shorten(topic)} instead."
        )
    return topic


def check_topic(topic: str) -> str:
    """Refuse invalid topics of MQTT, and wildcards."""
    if n_wildcards(check_filter(topic)):
        raise ParameterError(f"this topic takes no wildcards. Got {shorten(topic)} instead.")
    return topic


def match(topic_filter: str, topic: str) -> tuple[str, ...] | None:
    """Return what the wildcards of a filter represent in a topic; None where it does not match.

    Examples
    --------
    >>> match("home/+/temperature", "home/attic/temperature"), match("home/#", "office/fan")
    (('attic',), None)
    """
    if topic.startswith("$") and topic_filter[0] in "+#":
        return None
    wanted, levels = topic_filter.split("/"), topic.split("/")
    if wanted[-1] == "#":
        wanted = wanted[:-1]
        if len(levels) < len(wanted):
            return None
        rest: tuple[str, ...] = ("/".join(levels[len(wanted) :]),)
        levels = levels[: len(wanted)]
    elif len(levels) != len(wanted):
        return None
    else:
        rest = ()
    if any(one not in ("+", level) for one, level in zip(wanted, levels, strict=True)):
        return None
    return (*(level for one, level in zip(wanted, levels, strict=True) if one == "+"), *rest)


def n_wildcards(topic_filter: str) -> int:
    """Return how many levels of a filter are wildcards."""
    return sum(level in ("+", "#") for level in topic_filter.split("/"))


def placeholders(feature: str) -> set[int]:
    """Return which wildcards a name refers to."""
    return {int(number) for number in _PLACEHOLDER.findall(feature)}


def pattern_of(feature: str) -> re.Pattern[str]:
    """Return what the names of features are like that a name with placeholders represents."""
    parts = _PLACEHOLDER.split(feature)[::2]
    return re.compile(".*".join(map(re.escape, parts)), re.DOTALL)


@dataclass(frozen=True)
class InputSpec:
    """What a feature can take.

    Attributes
    ----------
    states : of a feature with states how each is written, and what it is; None for a number
    low, high : beyond these a number is unusual; None where nobody knows
    """

    states: Mapping[str, str | float] | None = None
    low: float | None = None
    high: float | None = None


def spec_of(feature: Feature) -> InputSpec:
    """Describe the values that a feature of a model takes."""
    if feature.is_coded:
        return InputSpec({spell(state): _state(state) for state in feature.categories})
    if feature.low is None or feature.high is None:
        return InputSpec()
    width = feature.high - feature.low
    return InputSpec(None, feature.low - width, feature.high + width)


def _state(state: Any) -> str | float:
    return state if isinstance(state, str) else float(state)


class Mapper:
    """Reads messages of sensors; pure, and never fails on a message.

    Parameters
    ----------
    sensors : iterable of Sensor
    specs : mapping of feature name to InputSpec
        What readings are for; others are not looked at.

    Examples
    --------
    >>> from solah.site.sensors import Sensor
    >>> sensor = Sensor("attic_temperature", "home/attic", path=("temp",))
    >>> mapper = Mapper([sensor], {"attic_temperature": InputSpec()})
    >>> [(found.event.value, found.value) for found in mapper.read("home/attic", b'{"temp": 21}')]
    [('taken', 21.0)]
    >>> [found.event.value for found in mapper.read("home/attic", b'{"temp": "ON"}')]
    ['not_a_number']
    """

    def __init__(self, sensors: Iterable[Sensor], specs: Mapping[str, InputSpec]) -> None:
        self._specs = specs
        exact: defaultdict[str, list[Sensor]] = defaultdict(list)
        self._wild: list[Sensor] = []
        for sensor in sensors:
            if n_wildcards(sensor.topic):
                if any(map(pattern_of(sensor.feature).fullmatch, specs)):
                    self._wild.append(sensor)
            elif sensor.feature in specs:
                exact[sensor.topic].append(sensor)
        self._exact = dict(exact)

    @property
    def filters(self) -> list[str]:
        """The topics to subscribe to."""
        exact = [
            topic
            for place, sensors in self._exact.items()
            for topic in (filters_of(place) if sensors[0].is_sparkplug else [place])
        ]
        return list(dict.fromkeys((*exact, *(one.topic for one in self._wild))))

    def wants(self, topic: str) -> bool:
        """Whether messages of a topic are for any feature."""
        return bool(self._wanted(topic))

    def read(self, topic: str, payload: bytes | Message) -> list[Found]:
        """Return the values of a message by feature; empty if it has none."""
        wanted = self._wanted(topic)
        message = payload if isinstance(payload, Message) else Message(payload)
        return [self._find(sensor, feature, message) for sensor, feature in wanted]

    def _wanted(self, topic: str) -> list[tuple[Sensor, str]]:
        wanted = [(sensor, sensor.feature) for sensor in self._exact.get(topic, ())]
        for sensor in self._wild:
            levels = match(sensor.topic, topic)
            if levels is None:
                continue
            name = _PLACEHOLDER.sub(lambda found: levels[int(found[1]) - 1], sensor.feature)  # noqa: B023
            if name in self._specs:
                wanted.append((sensor, name))
        return wanted

    def _find(self, sensor: Sensor, feature: str, message: Message) -> Found:
        spec = self._specs[feature]
        if message.is_empty:
            return Found(sensor, feature, Event.UNKNOWN, time=message.time)
        try:
            raw = message.text if sensor.path is None else value_at(message.document, sensor.path)
            if raw is ABSENT:
                return Found(sensor, feature, Event.ABSENT)
            number = as_number(value_at(message.document, sensor.number)) if sensor.number else None
        except MessageError:
            return Found(sensor, feature, Event.UNPARSABLE)
        try:
            time = _time_of(message, sensor)
        except MessageError:
            return Found(sensor, feature, Event.NO_TIME)
        event, value = convert(raw, sensor, spec)
        return Found(sensor, feature, event, value, time, number, begins=message.begins)


def _time_of(message: Message, sensor: Sensor) -> float | None:
    """Return when a message was measured; None for when it arrived."""
    if sensor.time is None:
        return message.time
    return None if sensor.time == ARRIVAL else read_time(message.document, sensor.time)


def convert(raw: Any, sensor: Sensor, spec: InputSpec) -> tuple[Event, float | str | None]:
    """Turn what a sensor sent into a reading of its feature."""
    text = as_text(raw)
    is_nan = text is not None and text.lower() == "nan"
    if raw is None or is_nan or (text is not None and text in sensor.unknown):
        return Event.UNKNOWN, None
    if text is not None and text in sensor.states:
        raw = sensor.states[text]
        text = as_text(raw)
        if spec.states is None:
            number = as_number(raw)
            return (Event.NOT_A_NUMBER if number is None else Event.TAKEN), number
    if spec.states is not None:
        return category_of(raw, text, spec.states)
    number = None if sensor.states else as_number(raw)
    if number is None:
        return (Event.UNSEEN_CATEGORY if sensor.states else Event.NOT_A_NUMBER), None
    if sensor.per is not None:
        return Event.TAKEN, number  # what it represents is known when the next one comes
    return check_number(sensor.convert(number), sensor, spec)


def check_number(number: float, sensor: Sensor, spec: InputSpec) -> tuple[Event, float | None]:
    """Return whether a number is possible and usual, and the number if it is possible."""
    if as_number(number) is None or not _is_between(number, sensor.low, sensor.high):
        return Event.OUT_OF_RANGE, None
    is_usual = _is_between(number, spec.low, spec.high)
    return (Event.TAKEN if is_usual else Event.UNUSUAL), number


def category_of(
    raw: Any, text: str | None, states: Mapping[str, str | float]
) -> tuple[Event, float | str | None]:
    """Find the category of a model for a value."""
    if text is not None and text in states:
        return Event.TAKEN, states[text]
    number = as_number(raw)
    for state in states.values():
        if number is not None and isinstance(state, float) and state == number:
            return Event.TAKEN, state
    return Event.UNSEEN_CATEGORY, None


def _is_between(number: float, low: float | None, high: float | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)


def specs_of(model: Model, reads: Collection[str]) -> dict[str, InputSpec]:
    """Describe the values that these features take."""
    return {one.name: spec_of(one) for one in model.features if one.name in reads}


def all_specs(model: Model) -> dict[str, InputSpec]:
    """Describe the features of any node's sensors."""
    return specs_of(model, [one.name for one in model.features])
