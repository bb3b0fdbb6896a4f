"""Propose a site file from what sensors publish."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, permutations
from math import ceil
from typing import TYPE_CHECKING, Any

from solah.site.aligner import learned_age
from solah.site.messages import MessageError, decode_status
from solah.site.payloads import as_number, as_text, parse_json, parse_text
from solah.site.sensor_mapping import all_specs, match
from solah.site.settings import EVERY
from solah.site.templates import TEMPLATES
from solah.site.units import Linear, conversion, spell_duration, units_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.model.document import Model
    from solah.site.sensor_mapping import InputSpec

_MOST_SOURCES = 20_000
_MOST_VALUES = 20
_LEAST_TIMES = 4
_DEEPEST = 8
_TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SYNONYMS = {
    "temp": "temperature",
    "hum": "humidity",
    "rh": "humidity",
    "lux": "illuminance",
    "lum": "illuminance",
    "pir": "occupancy",
    "tc": "temperature",
}
_TRUE = ("on", "true", "1", "open", "home", "detected", "yes", "occupied")
_FALSE = ("off", "false", "0", "closed", "not_home", "clear", "no", "empty")
_QUANTITIES = {
    "temperature": "temperature",
    "pressure": "pressure",
    "humidity": "share",
    "power": "power",
    "energy": "energy",
    "voltage": "voltage",
    "current": "current",
    "illuminance": "illuminance",
    "speed": "speed",
    "distance": "length",
}
_MOST_OF_THEM = 0.5
_PLAIN = re.compile(r"[A-Za-z_][\w./+-]*(:\w[\w./+-]*)*", re.ASCII)
_NOT_PLAIN = ("true", "false", "null", "on", "off", "yes", "no", "y", "n")
# What tells how devices are doing, or what they are, and nothing that they measure.
_ABOUT_DEVICES = re.compile(
    r"^zigbee2mqtt/bridge(/|$)|/(availability|LWT|config|set|get|online|debug|command)$"
)


@dataclass
class Source:
    """A value that is published again and again.

    Attributes
    ----------
    topic : where
    path : the way to it in the message, with dots; None where it is all of the message
    template, device, part : which template fits, and what it needs; empty for none
    values : the last few
    times : when messages came that the broker had not kept
    is_kept : whether the broker had kept one
    """

    topic: str
    path: str | None
    template: str = ""
    device: str = ""
    part: str = ""
    values: list[Any] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    is_kept: bool = False

    @property
    def name(self) -> str:
        """The topic and the place in the message, as people write them."""
        return self.topic if self.path is None else f"{self.topic} {self.path}"

    @property
    def numbers(self) -> list[float]:
        """The last few values that are numbers."""
        return [number for one in self.values if (number := as_number(one)) is not None]

    @property
    def tokens(self) -> frozenset[str]:
        """The words in its name."""
        return _tokens(f"{self.device} {self.part}" if self.template else self.topic) | _tokens(
            self.path or ""
        )


@dataclass(frozen=True)
class Proposal:
    """What was found.

    Attributes
    ----------
    text : a site file
    mapped : of each feature where it comes from
    ambiguous : of features that several values fit equally, which
    unmatched : values that fit no feature
    silent : features that nothing fits
    """

    text: str
    mapped: Mapping[str, str]
    ambiguous: Mapping[str, tuple[str, ...]]
    unmatched: tuple[str, ...]
    silent: tuple[str, ...]


class Learner:
    """Listens to what is published, and proposes a site file for a model.

    Parameters
    ----------
    root : str, default="solah"
        The first part of solah's own topics, which are never read. Those of a site with another
        root are known by the statuses of its nodes.

    Examples
    --------
    >>> learner = Learner()
    >>> for second in range(5):
    ...     learner.take("tele/attic/SENSOR", b'{"AM2301": {"Temperature": 21.5}}', 60.0 * second)
    >>> [source.name for source in learner.sources]
    ['tele/attic/SENSOR AM2301.Temperature']
    """

    def __init__(self, root: str = "solah") -> None:
        self._own = {root}
        self._sources: dict[tuple[str, str | None], Source] = {}
        self.n_messages = 0
        self.unreadable: set[str] = set()

    @property
    def sources(self) -> list[Source]:
        """The values that were found, by topic."""
        found = (one for one in self._sources.values() if not self._is_own(one.topic))
        return sorted(found, key=lambda one: (one.topic, one.path or ""))

    def take(self, topic: str, payload: bytes, now: float, *, is_retained: bool = False) -> None:
        """Take in a message."""
        if _is_status(topic, payload):
            self._own.add(topic.rsplit("/", 3)[0])
        if self._is_own(topic) or _ABOUT_DEVICES.search(topic):
            return
        self.n_messages += 1
        try:
            values = list(_values(payload))
        except MessageError:
            if len(self.unreadable) < _MOST_SOURCES:
                self.unreadable.add(topic)
            return
        for path, value in values:
            source = self._sources.get((topic, path))
            if source is None:
                if len(self._sources) >= _MOST_SOURCES:
                    return
                source = self._sources[topic, path] = _recognised(topic, path)
            source.values = [*source.values[1 - _MOST_VALUES :], value]
            source.is_kept |= is_retained
            if not is_retained:
                source.times = [*source.times[1 - _MOST_VALUES :], now]

    def propose(self, model: Model, *, broker: str, model_file: str, site: str) -> Proposal:
        """Say which value is the reading of which feature, and write a site file of it."""
        sources = [one for one in self.sources if one.path not in ("Time", "last_seen")]
        specs = all_specs(model)
        mapped: dict[str, Source] = {}
        ambiguous: dict[str, tuple[str, ...]] = {}
        for name, spec in specs.items():
            best = _best(name, spec, sources)
            if len(best) == 1:
                mapped[name] = best[0]
            elif best:
                ambiguous[name] = tuple(one.name for one in best)
        used = {one.name for one in mapped.values()}
        silent = tuple(name for name in specs if name not in mapped and name not in ambiguous)
        times = {
            topic: source.values[-1]
            for (topic, path), source in self._sources.items()
            if path == "last_seen"
        }
        return Proposal(
            text=_Writer(model, mapped, ambiguous, silent, times).text(broker, model_file, site),
            mapped={name: source.name for name, source in mapped.items()},
            ambiguous=ambiguous,
            unmatched=tuple(one.name for one in sources if one.name not in used),
            silent=silent,
        )

    def _is_own(self, topic: str) -> bool:
        """Whether a topic is one of solah's own, or of the broker."""
        own = tuple(f"{root}{end}" for root in self._own for end in ("/", "-history/"))
        return topic.startswith(("$", *own))


def _is_status(topic: str, payload: bytes) -> bool:
    """Whether a message is the status of a node of some site."""
    if not topic.endswith("/status") or topic.count("/") < 3:
        return False
    try:
        return decode_status(payload).node == topic.split("/")[-2]
    except MessageError:
        return False


def _values(payload: bytes) -> Iterator[tuple[str | None, Any]]:
    """Yield the single values of a message with their paths."""
    if payload[:1] not in b"{[" or not payload:
        yield None, parse_text(payload)
        return
    waiting: list[tuple[tuple[str, ...], Any]] = [((), parse_json(payload))]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict | list) and len(path) < _DEEPEST:
            below = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, str(step)), part) for step, part in below if "." not in str(step)]
        elif as_text(value) is not None and path:
            yield ".".join(path), value


def _recognised(topic: str, path: str | None) -> Source:
    """Find the template that a topic fits."""
    levels = topic.split("/")
    if path is not None:
        if levels[0] == "zigbee2mqtt" and len(levels) > 1:
            return Source(topic, path, "zigbee2mqtt", "/".join(levels[1:]))
        if levels[0] == "tele" and levels[-1] == "SENSOR" and len(levels) > 2:
            return Source(topic, path, "tasmota", "/".join(levels[1:-1]))
        if len(levels) > 2 and levels[-2] == "status" and ":" in levels[-1]:
            return Source(topic, path, "shelly", "/".join(levels[:-2]), levels[-1])
        for name in ("shelly_rpc", "chirpstack", "ttn", "bthome"):
            template = TEMPLATES[name]
            found = match(template.topic.replace("{device}", "+"), topic)
            if found is not None and found[-1] and path.startswith(template.prefix):
                return Source(topic, path.removeprefix(template.prefix), name, found[-1])
    elif levels[0] == "shellies" and len(levels) > 2:
        return Source(topic, path, "shelly1", levels[1], "/".join(levels[2:]))
    elif levels[-1] == "state" and len(levels) > 3:
        name = "statestream" if levels[0] == TEMPLATES["statestream"].device else "esphome"
        return Source(topic, path, name, "/".join(levels[:-3]), "/".join(levels[-3:-1]))
    return Source(topic, path)


# --- matching ------------------------------------------------------------------------------------


def _tokens(text: str) -> frozenset[str]:
    words = (one.lower() for one in _TOKEN.findall(text))
    return frozenset(_SYNONYMS.get(word, word) for word in words)


def _best(name: str, spec: InputSpec, sources: Sequence[Source]) -> list[Source]:
    """Return the values that fit a feature best.

    Their names have all words of the feature's; then those win whose values are in the training
    range, as they are or in another unit, and then those whose names have the fewest other words.
    """
    wanted = _tokens(name)
    fitting = [one for one in sources if wanted and wanted <= one.tokens and _can_be(one, spec)]
    ranks = [(_rank(one, spec, name), len(one.tokens)) for one in fitting]
    return [one for one, rank in zip(fitting, ranks, strict=True) if rank == min(ranks)]


def _rank(source: Source, spec: InputSpec, name: str) -> int:
    """Return how well values fit the training range: 0 within, 1 near or in another unit, 2 not."""
    numbers = source.numbers
    if spec.states is not None or spec.low is None or spec.high is None or not numbers:
        return 0
    width = (spec.high - spec.low) / 3.0
    if _share(numbers, spec.low + width, spec.high - width) >= _MOST_OF_THEM:
        return 0
    is_near = _share(numbers, spec.low, spec.high) >= _MOST_OF_THEM
    return 1 if is_near or _conversion_of(source, spec, name) else 2


def _conversion_of(source: Source, spec: InputSpec, name: str) -> str:
    """Return the one conversion of units that brings values into the training range, if any."""
    kind = next((kind for word, kind in _QUANTITIES.items() if word in _tokens(name)), "")
    if spec.states is not None or spec.low is None or spec.high is None or not source.numbers:
        return ""
    if _share(source.numbers, spec.low, spec.high) >= _MOST_OF_THEM:
        return ""
    width = (spec.high - spec.low) / 3.0
    found: dict[Linear, str] = {}
    for sent, wanted in permutations(units_of(kind), 2):
        linear = conversion(f"{sent} to {wanted}")
        converted = [linear(number) for number in source.numbers]
        if _share(converted, spec.low + width, spec.high - width) >= _MOST_OF_THEM:
            found.setdefault(linear, f"{sent} to {wanted}")
    return next(iter(found.values())) if len(found) == 1 else ""


def _share(numbers: Sequence[float], low: float, high: float) -> float:
    """Return the share of numbers between two."""
    return sum(low <= number <= high for number in numbers) / len(numbers)


def _can_be(source: Source, spec: InputSpec) -> bool:
    """Whether the values may be readings of a feature."""
    if not any(one is not None for one in source.values):
        return False
    if _states(source, spec) is not None:
        return True
    return spec.states is None and bool(source.numbers)


def _states(source: Source, spec: InputSpec) -> dict[str, str | float] | None:
    """Say what stands for each text that is sent; nothing where the texts are the states."""
    sent = {text for one in source.values if (text := as_text(one)) is not None}
    states = spec.states
    if states is None:
        if source.numbers:
            return None
        states = {"1": 1.0, "0": 0.0}
    elif sent <= states.keys():
        return {}
    meant = {_side(spelt): state for spelt, state in states.items()}
    if len(meant) != 2 or None in meant or any(_side(one) is None for one in sent):
        return None
    both = {pair for one in sent for pair in _pair(one)}
    return {one: meant[_side(one)] for one in sorted(both)}


def _side(text: str) -> bool | None:
    folded = text.lower().removesuffix(".0")
    return True if folded in _TRUE else False if folded in _FALSE else None


def _pair(text: str) -> tuple[str, str]:
    """Return a text with its opposite, written alike."""
    folded = text.lower()
    known, other = (_TRUE, _FALSE) if folded in _TRUE else (_FALSE, _TRUE)
    opposite = other[known.index(folded)] if folded in known else text
    styles = (str.upper, str.title, str.lower)
    style = next((one for one in styles if one(folded) == text), str.lower)
    return text, style(opposite)


# --- writing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Writer:
    """Writes a site file of what was found."""

    model: Model
    mapped: Mapping[str, Source]
    ambiguous: Mapping[str, tuple[str, ...]]
    silent: tuple[str, ...]
    times: Mapping[str, Any]

    def text(self, broker: str, model_file: str, site: str) -> str:
        lines = [f"site: {_word(site)}", f"model: {_word(model_file)}", f"broker: {_word(broker)}"]
        lines += [f"decide: {{every: {spell_duration(EVERY)}}}"]
        lines += ["sensors:"] if self.mapped else ["sensors: []"]
        entries: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for name, source in self.mapped.items():
            key = (source.template, source.device) if source.template else ("", source.topic)
            entries[key].append(name)
        for (template, place), names in entries.items():
            lines += self._entry(template, place, names)
        for name, sources in self.ambiguous.items():
            lines += [f"# {name} could be any of: {', '.join(sources)}"]
        lines += [f"# nothing was published for {name}" for name in self.silent]
        return "\n".join(_one_line(line) for line in lines) + "\n"

    def _entry(self, template: str, place: str, names: Sequence[str]) -> list[str]:
        if template:
            device = [] if place == TEMPLATES[template].device else [f"    device: {_word(place)}"]
            head = [f"  - template: {template}", *device]
        else:
            head = [f"  - topic: {_word(place)}"]
        topic = self.mapped[names[0]].topic
        if template == "zigbee2mqtt" and isinstance(self.times.get(topic), int | float):
            head.append("    time: {path: last_seen, as: ms}")
        lines = [*head, "    features:"]
        for name in names:
            lines.append(f"      {_word(name)}: {self._feature(name)}")
            lines += [f"      # {remark}" for remark in self._remarks(name)]
        return lines

    def _feature(self, name: str) -> str:
        source = self.mapped[name]
        where = source.part if source.path is None else source.path
        if source.part and source.path is not None:
            where = f"{source.part}/{source.path}"
        options = {} if not where else {"from": _word(where)}
        if unit := _conversion_of(source, self._specs[name], name):
            options["unit"] = unit
        if states := _states(source, self._specs[name]):
            pairs = [f"{_word(sent)}: {_word(state)}" for sent, state in states.items()]
            options["states"] = f"{{{', '.join(pairs)}}}"
        if len(source.times) >= _LEAST_TIMES:
            gaps = [after - before for before, after in pairwise(source.times)]
            least = 2 * EVERY
            options["max_age"] = spell_duration(max(least, ceil(learned_age(gaps))))
        elif source.is_kept and not (source.template and TEMPLATES[source.template].is_retained):
            options["retained"] = "true"
        if list(options) == ["from"]:
            return options["from"]
        return f"{{{', '.join(f'{key}: {value}' for key, value in options.items())}}}"

    def _remarks(self, name: str) -> Iterator[str]:
        """Say what a person should look at."""
        source, spec = self.mapped[name], self._specs[name]
        numbers = source.numbers
        if len(source.times) < _LEAST_TIMES:
            yield "few messages: if the device sends on change, give max_age: 12h"
        if _conversion_of(source, spec, name):
            yield "converted, since the values as they are sent are not in the training range"
        elif spec.states is None and numbers and spec.low is not None and spec.high is not None:
            low, high = min(numbers), max(numbers)
            if high < spec.low or low > spec.high:
                feature = next(one for one in self.model.features if one.name == name)
                yield (
                    f"values are {low:g} to {high:g}, and the training range is "
                    f"{feature.low:g} to {feature.high:g}: is there a unit to convert?"
                )

    @cached_property
    def _specs(self) -> dict[str, InputSpec]:
        return all_specs(self.model)


def _word(value: object) -> str:
    """Write a value so that YAML reads the same."""
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    text = str(value)
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _NOT_PLAIN
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
