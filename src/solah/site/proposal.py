"""Propose a site file from what sensors publish."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from math import ceil
from typing import TYPE_CHECKING, Any

from solah.exceptions import require
from solah.safe_text import harmless
from solah.site.aligner import learned_age
from solah.site.messages import MessageError, decode_status
from solah.site.payloads import as_number, as_text, parse_json, parse_text
from solah.site.sensor_mapping import all_specs
from solah.site.settings import EVERY
from solah.site.templates import TEMPLATES
from solah.site.units import UNITS, Linear, conversion, spell_duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.model.document import Model
    from solah.site.sensor_mapping import InputSpec

_MOST_SOURCES = 20_000
_MOST_VALUES = 20
_LEAST_TIMES = 4
_DEEPEST = 8
_MOST_NEAR = 5
_MOST_OF_THEM = 0.5
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SYNONYMS = {
    **dict.fromkeys(("temp", "tempc", "tempf", "tc"), "temperature"),
    **dict.fromkeys(("hum", "rh"), "humidity"),
    **dict.fromkeys(("lux", "lum", "light"), "illuminance"),
    **dict.fromkeys(("pir", "motion", "presence", "movement", "occupied"), "occupancy"),
    "apower": "power",
    "watt": "power",
    "press": "pressure",
    "contact": "door",
}
_OF_SHARES = ("humidity",)
_TRUE = ("on", "true", "1", "open", "home", "detected", "yes", "occupied")
_FALSE = ("off", "false", "0", "closed", "not_home", "clear", "no", "empty")
# How devices are doing, or what they are, which is not a reading.
_ABOUT_DEVICES = re.compile(
    r"^zigbee2mqtt/bridge(/|$)|/(availability|LWT|config|set|get|online|debug|command)$"
)
_NOT_PROPOSED = ("sparkplug", "plain", "json")


@dataclass
class Source:
    """A value that is published again and again.

    Attributes
    ----------
    topic : where
    path : the way to it in the message, with dots; None where it is all of the message
    template, device, place : the template that fits, and what it needs; empty for none
    values : the last few
    times : when messages came that the broker had not kept
    is_kept : whether the broker had kept one
    """

    topic: str
    path: str | None
    template: str = ""
    device: str = ""
    place: str = ""
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
    def words(self) -> frozenset[str]:
        """The words in its name."""
        return _words(f"{self.device} {self.place}" if self.template else self.name)


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
        """Match values to features, and write a site file."""
        sources = [one for one in self.sources if one.path not in ("Time", "last_seen")]
        specs = all_specs(model)
        best = {name: _best(name, spec, sources) for name, spec in specs.items()}
        mapped = {name: found[0] for name, found in best.items() if len(found) == 1}
        ambiguous = {
            name: tuple(one.name for one in found) for name, found in best.items() if len(found) > 1
        }
        silent = tuple(name for name, found in best.items() if not found)
        head = {"site": site, "model": model_file, "broker": broker}
        entries, remarks = self._entries(mapped, specs)
        remarks += [f"{name} could be any of: {', '.join(of)}" for name, of in ambiguous.items()]
        used = {one.name for one in mapped.values()}
        unmatched = [one for one in sources if one.name not in used]
        for name in silent:
            spec = specs[name]
            fitting = (one for one in unmatched if _can_be(one, spec))
            near = [one.name for one in fitting if not _rank(one, spec, name)][:_MOST_NEAR]
            in_range = ", ".join(near) or "none"
            remarks.append(f"no name fits {name}; values in its range: {in_range}")
        changing = [name for name, one in mapped.items() if _sends_on_change(one) and one.times]
        if changing:
            remarks.append(
                f"sent on change, so a longer max_age may be right: {', '.join(changing)}"
            )
        yaml = require("yaml", "site", "writing YAML")
        text = yaml.safe_dump(
            {**head, "decide": {"every": spell_duration(EVERY)}, "sensors": entries},
            sort_keys=False,
            default_flow_style=None,
            allow_unicode=True,
            width=1_000,
        )
        return Proposal(
            text=text + "".join(f"# {harmless(' '.join(one.split()))}\n" for one in remarks),
            mapped={name: source.name for name, source in mapped.items()},
            ambiguous=ambiguous,
            unmatched=tuple(one.name for one in unmatched),
            silent=silent,
        )

    def _entries(
        self, mapped: Mapping[str, Source], specs: Mapping[str, InputSpec]
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Return the list of sensors of a site file, and remarks for the reader."""
        entries: dict[tuple[str, str], dict[str, Any]] = {}
        remarks = []
        for name, source in mapped.items():
            key = (source.template, source.device or source.topic)
            if key not in entries:
                entry: dict[str, Any] = {"topic": source.topic}
                if source.template:
                    is_default = source.device == TEMPLATES[source.template].device
                    entry = {"template": source.template}
                    entry |= {} if is_default else {"device": source.device}
                seen = self._sources.get((source.topic, "last_seen"))
                is_number = seen is not None and isinstance(seen.values[-1], int | float)
                if source.template == "zigbee2mqtt" and is_number:
                    entry["time"] = {"path": "last_seen", "as": "ms"}
                entries[key] = {**entry, "features": {}}
            entries[key]["features"][name] = _feature(name, source, specs[name])
            remarks += [f"{name}: {one}" for one in _remarks(name, source, specs[name])]
        return list(entries.values()), remarks

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
    for name, template in TEMPLATES.items():
        is_like = template.has_path is (path is not None) and name not in _NOT_PROPOSED
        found = template.pattern.fullmatch(topic) if is_like else None
        if found is None or not (path or "").startswith(template.prefix):
            continue
        parts = found.groupdict()
        steps = [parts["part"]] if "part" in parts else []
        steps += [] if path is None else [path.removeprefix(template.prefix)]
        return Source(topic, path, name, parts.get("device", template.device), "/".join(steps))
    return Source(topic, path, place=path or "")


# --- matching ------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    words = (one.lower() for one in _WORD.findall(text))
    return frozenset(_SYNONYMS.get(word, word) for word in words)


def _best(name: str, spec: InputSpec, sources: Sequence[Source]) -> list[Source]:
    """Return the values that fit a feature best.

    Their names have all words of the feature's; then those win whose values are in the training
    range, as they are or in another unit, and then those whose names have the fewest other words.
    """
    wanted = _words(name)
    fitting = [one for one in sources if wanted and wanted <= one.words and _can_be(one, spec)]
    ranks = [(_rank(one, spec, name), len(one.words)) for one in fitting]
    return [one for one, rank in zip(fitting, ranks, strict=True) if rank == min(ranks)]


def _rank(source: Source, spec: InputSpec, name: str) -> int:
    """Return how well values fit the training range: 0 within, 1 near or in another unit, 2 not."""
    if _share(source.numbers, spec, is_near=False) >= _MOST_OF_THEM:
        return 0
    is_near = _share(source.numbers, spec) >= _MOST_OF_THEM
    return 1 if is_near or _conversion_of(source, spec, name) else 2


def _conversion_of(source: Source, spec: InputSpec, name: str) -> str:
    """Return the one conversion of units that brings values into the training range, if any."""
    if _share(source.numbers, spec) >= _MOST_OF_THEM:
        return ""
    words = _words(name)
    quantity = "share" if words & set(_OF_SHARES) else next(iter(words & UNITS.keys()), "")
    found: dict[Linear, str] = {}
    for sent, wanted in permutations(UNITS.get(quantity, ()), 2):
        linear = conversion(f"{sent} to {wanted}")
        if _share([linear(one) for one in source.numbers], spec, is_near=False) >= _MOST_OF_THEM:
            found.setdefault(linear, f"{sent} to {wanted}")
    return next(iter(found.values())) if len(found) == 1 else ""


def _share(numbers: Sequence[float], spec: InputSpec, *, is_near: bool = True) -> float:
    """Return the share of numbers in the training range, or near it; 1 where there is none."""
    if spec.states is not None or spec.low is None or spec.high is None or not numbers:
        return 1.0
    width = 0.0 if is_near else (spec.high - spec.low) / 3.0  # they are a width beyond the range
    low, high = spec.low + width, spec.high - width
    return sum(low <= one <= high for one in numbers) / len(numbers)


def _can_be(source: Source, spec: InputSpec) -> bool:
    """Whether the values may be readings of a feature."""
    if all(one is None for one in source.values):
        return False
    return _states(source, spec) is not None or (spec.states is None and bool(source.numbers))


def _states(source: Source, spec: InputSpec) -> dict[str, str | float] | None:
    """Return the category for each text that is sent; nothing if the texts are the categories."""
    sent = {text for one in source.values if (text := as_text(one)) is not None}
    states = spec.states
    if states is None:
        if source.numbers:
            return None
        states = {"1": 1.0, "0": 0.0}
    elif sent <= states.keys():
        return {}
    meant = {_side(written): state for written, state in states.items()}
    if len(meant) != 2 or None in meant or any(_side(one) is None for one in sent):
        return None
    both = {pair for one in sent for pair in (one, _opposite(one))}
    return {one: meant[_side(one)] for one in sorted(both)}


def _side(text: str) -> bool | None:
    folded = text.lower().removesuffix(".0")
    return True if folded in _TRUE else False if folded in _FALSE else None


def _opposite(text: str) -> str:
    """Return the opposite of a text, written alike."""
    folded = text.lower()
    known, other = (_TRUE, _FALSE) if folded in _TRUE else (_FALSE, _TRUE)
    opposite = other[known.index(folded)] if folded in known else text
    styles = (str.upper, str.title, str.lower)
    return next((one for one in styles if one(folded) == text), str.lower)(opposite)


# --- writing -------------------------------------------------------------------------------------


def _feature(name: str, source: Source, spec: InputSpec) -> Any:
    """Return how a site file maps a source to a feature."""
    options: dict[str, Any] = {"from": source.place} if source.place else {}
    if unit := _conversion_of(source, spec, name):
        options["unit"] = unit
    if states := _states(source, spec):
        options["states"] = states
    if len(source.times) >= _LEAST_TIMES:
        gaps = [after - before for before, after in pairwise(source.times)]
        options["max_age"] = spell_duration(max(2 * EVERY, ceil(learned_age(gaps))))
    elif source.is_kept and not _sends_on_change(source):
        options["retained"] = True
    return options["from"] if list(options) == ["from"] else options


def _sends_on_change(source: Source) -> bool:
    return bool(source.template) and TEMPLATES[source.template].is_retained


def _remarks(name: str, source: Source, spec: InputSpec) -> Iterator[str]:
    """Yield remarks on a feature for the reader."""
    numbers = source.numbers
    if len(source.times) < _LEAST_TIMES:
        yield "few messages; if the device sends on change, give max_age: 12h"
    if _conversion_of(source, spec, name):
        yield "converted, since the values as they are sent are not in the training range"
    elif not _share(numbers, spec) and spec.low is not None and spec.high is not None:
        width = (spec.high - spec.low) / 3.0
        yield (
            f"values are {min(numbers):g} to {max(numbers):g}, and the training range is "
            f"{spec.low + width:g} to {spec.high - width:g}; is there a unit to convert?"
        )
