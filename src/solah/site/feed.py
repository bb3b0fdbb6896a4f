"""Make rows of what sensors publish, on a clock that all nodes of a site share.

A row's number is the time divided by the seconds between two rows, so that nodes whose clocks agree
number their rows alike, also after a restart. A model that decides on windows of samples says
itself how they follow each other; a row is then made when the samples of a step are there.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.site.aligner import Aligner
from solah.site.journal import Journal
from solah.site.kafka import KafkaBroker, KafkaSource
from solah.site.logs import quietly
from solah.site.messages import Measured, SensorReport
from solah.site.payloads import Message
from solah.site.sample_windows import MOST_TICKS, signals_of
from solah.site.sampler import Sampler
from solah.site.sensor_mapping import (
    Mapper,
    all_specs,
    n_wildcards,
    placeholders,
    specs_of,
)
from solah.site.sensor_source import SensorClient
from solah.site.sparkplug import UNTIL_DEATH, Decoder, command_topic, metrics_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from solah.model.signals import Signals
    from solah.site.aligner import Row
    from solah.site.bundle import Bundle
    from solah.site.sensor_mapping import InputSpec
    from solah.site.sensor_source import SensorMessage, Source
    from solah.site.settings import BrokerAccess, KafkaAccess, Site
    from solah.site.sparkplug import Decoded

_MOST_STRANGERS = 50
_OTHERS = "others"
_LOOK_EVERY = 0.25
_LEAST_WAIT = 0.001


class Feed:
    """The readings of one node: from its sensors' messages to rows.

    Parameters
    ----------
    site : Site
    bundle : Bundle
    node : str
        The node's name.
    log : callable
        Called with what an operator should know.

    Notes
    -----
    :meth:`take` and :meth:`tick` need neither a broker nor a clock; :meth:`start` gives them both.
    """

    def __init__(
        self, site: Site, bundle: Bundle, node: str, log: Callable[[str], None] = lambda _: None
    ) -> None:
        check_sensors(site, bundle)
        self.counters: Counter[str] = Counter()
        self._deciding, self._log = site.deciding, quietly(log, self.counters)
        specs = specs_of(bundle.model, bundle.plan.node(node).reads)
        self._mapper = Mapper(site.sensors, specs)
        self._of_any_node = Mapper(site.sensors, all_specs(bundle.model))
        ages = {one.feature: one.max_age for one in site.sensors if one.max_age is not None}
        self._every = site.every(bundle.model)
        self._aligner = Aligner(specs, ages, self._every)
        metrics = _metrics(site, specs)
        self._sparkplug = Decoder(metrics) if metrics else None
        self._journal = Journal(site.state / f"{node}.journal", site.store, self._log)
        signals, last = signals_of(bundle, bundle.plan.node(node)), self._journal.last
        self._sampler = (
            Sampler(signals, specs, ages, site.deciding.deadline, self.counters, last, self._log)
            if signals is not None
            else None
        )
        self._taker = self._sampler or self._aligner
        self._woken = threading.Event()  # by samples, which may complete a row
        self._strangers: Counter[str] = Counter()
        self._last_row: tuple[Any, ...] | None = None
        self._number = self._journal.last
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._source: Source | None = None

    # --- readings --------------------------------------------------------------------------------

    def take(
        self,
        topic: str,
        payload: bytes | None,
        now: float,
        *,
        is_retained: bool = False,
        published: float | None = None,
    ) -> None:
        """Take in a message of a sensor, whatever is in it."""
        if self._sparkplug is not None and self._sparkplug.is_about(topic):
            with self._lock:
                self.counters["sensor_messages"] += 1
                self._take_decoded(self._sparkplug.read(topic, payload or b""), now, is_retained)
            self._woken.set()
            self._ask_for_births(now)
            return
        found = self._mapper.read(topic, Message(payload, published))
        with self._lock:
            self.counters["sensor_messages"] += 1
            if not found and not self._of_any_node.wants(topic):
                self._note_stranger(topic)
            for one in found:
                self._taker.take(one, topic, now, is_retained=is_retained)
        self._woken.set()

    def _take_decoded(self, decoded: list[Decoded], now: float, is_retained: bool = False) -> None:
        """Take in what messages of Sparkplug say."""
        for place, metrics, begins in decoded:
            for one in self._mapper.read(place, Message.of(metrics, begins=begins)):
                self._taker.take(one, place, now, is_retained=is_retained)

    def _ask_for_births(self, now: float) -> None:
        """Ask edge nodes of Sparkplug for births that are missing."""
        if self._sparkplug is None or not isinstance(self._source, SensorClient):
            return
        with self._lock:
            requests = self._sparkplug.requests(now) if self._source.is_connected else []
        for topic, command in requests:
            self._source.command(topic, command)

    def _note_stranger(self, topic: str) -> None:
        """Count a topic that is for no feature, and tell the first message of it."""
        self.counters["unmatched"] += 1
        if topic not in self._strangers and len(self._strangers) < _MOST_STRANGERS:
            self._log(f"{shorten(topic)} matches a sensor's topic, and no feature of the model")
            self._strangers[topic] = 0
        self._strangers[topic if topic in self._strangers else _OTHERS] += 1

    def tick(self, now: float) -> Measured | None:
        """Make the row of this moment, or the next of those that samples complete by now.

        None where there is nothing new to decide.
        """
        if self._sampler is not None:
            return self._tick_samples(self._sampler, now)
        number = int(now // self._every)
        with self._lock:
            if number <= self._number:
                self.counters["clock_back"] += number < self._number
                return None
            row = self._aligner.row(now)
            if self._is_idle(row):
                return None
            self.counters["skipped_rows"] += self._n_skipped(number)
            self._number = number
        measured = Measured(row.readings, number, now, row.oldest, row.missing)
        self._journal.append(measured)
        return measured

    def _tick_samples(self, sampler: Sampler, now: float) -> Measured | None:
        with self._lock:
            measured = sampler.next_row(now)
            if measured is None or self._is_cut_off(measured.oldest):
                return None
        self._journal.append(measured)
        return measured

    def _is_cut_off(self, oldest: float | None) -> bool:
        """Whether there is no connection and no reading; then nobody knows anything."""
        is_away = self._source is not None and not self._source.is_connected
        is_cut_off = is_away and oldest is None
        self.counters["cut_off"] += is_cut_off
        return is_cut_off

    def _is_idle(self, row: Row) -> bool:
        """Whether there is nothing to say: no connection and no reading, or no change."""
        if self._is_cut_off(row.oldest):
            return True
        content = tuple(row.readings.items())
        is_same = self._deciding.on_change and content == self._last_row
        self._last_row = content
        return is_same

    def _n_skipped(self, number: int) -> int:
        """Return how many rows could not be made in time."""
        is_continued = self._number >= 0 and not self._deciding.on_change
        return min(number - self._number - 1, 1_000_000) if is_continued else 0

    def report(self, now: float) -> dict[str, SensorReport]:
        """Say how the readings of each feature come in."""
        with self._lock:
            states = self._taker.states(now)
            return {
                name: SensorReport(
                    state.age,
                    None if state.max_age == UNTIL_DEATH else state.max_age,
                    state.is_known,
                    state.counts,
                )
                for name, state in states.items()
            }

    def strangers(self) -> dict[str, int]:
        """Return the topics from which no feature gets anything, and how often they came."""
        with self._lock:
            return dict(self._strangers.most_common())

    # --- running ---------------------------------------------------------------------------------

    def start(
        self,
        access: BrokerAccess | KafkaAccess,
        name: str,
        on_problem: Callable[[BaseException], None],
    ) -> None:
        """Subscribe to the sensors, under a name, and make rows until :meth:`stop`.

        Parameters
        ----------
        access : where sensors publish
        name : what we are known by there
        on_problem : called with what ends one of the threads, without which rows would be wrong
        """
        guarded = partial(_guarded, on_problem)

        def take(message: SensorMessage) -> None:
            topic, payload, is_retained, published = message
            self.take(topic, payload, time.time(), is_retained=is_retained, published=published)

        filters, broker = self._mapper.filters, access.find()
        if isinstance(broker, KafkaBroker):
            self._source = KafkaSource(
                broker, name, filters, take, self._log, on_problem=on_problem
            )
        else:
            links = {"on_connect": guarded(self._connected), "on_lost": guarded(self._lost)}
            self._source = SensorClient(broker, name, filters, guarded(take), **links)
        self._source.start()
        threading.Thread(target=guarded(self._run_clock), daemon=True).start()

    def _connected(self) -> None:
        """Ask for births: what does not change is told by nothing else."""
        if self._sparkplug is not None:
            with self._lock:
                self._sparkplug.ask_all()
            self._ask_for_births(time.time())

    def _lost(self) -> None:
        """Hold nothing that waits for a death, which might be missed now."""
        if self._sparkplug is not None and not self._stopping.is_set():
            with self._lock:
                self._take_decoded(self._sparkplug.lose_all(), time.time())

    def stop(self) -> None:
        """End what :meth:`start` began."""
        self._stopping.set()
        self._woken.set()
        if self._source is not None:
            self._source.stop()
        self._journal.close()

    def rows_from(self, first: int) -> Iterator[Measured]:
        """Yield the rows from a number on, those on disk first, then the new ones as they come."""
        number, before = first - 1, self._lead(first)
        while not self._stopping.is_set():
            rows = self._journal.after(number, wait=_LOOK_EVERY)
            for row in rows:
                number = max(number, row.sequence or 0)
                if before and self._sampler is not None:
                    row, before = self._sampler.with_lead(before, row), []
                yield row

    def _lead(self, first: int) -> list[Measured]:
        """Return the rows before one that have samples of its window."""
        found: list[Measured] = []
        number = first - 1 - (0 if self._sampler is None else self._sampler.n_lead)
        while number < first - 1 and (rows := self._journal.after(number)):
            found += [row for row in rows if (row.sequence or 0) < first]
            number = rows[-1].sequence or 0
        return found

    def all_counters(self) -> Counter[str]:
        """Return what was counted, of the journal and where messages come from, too."""
        total: Counter[str] = Counter()
        for part in (self, self._journal, self._source, self._sparkplug):
            if part is not None:
                total.update(dict(part.counters))  # as it is now; other threads go on counting
        return total

    def _run_clock(self) -> None:
        if self._sampler is not None:
            self._run_samples(self._sampler)
            return
        every = self._every
        while True:
            now = time.time()
            if self._stopping.wait((now // every + 1) * every - now):
                return
            self.tick(time.time())
            self._ask_for_births(time.time())

    def _run_samples(self, sampler: Sampler) -> None:
        while not self._stopping.is_set():
            self._woken.clear()
            while self.tick(time.time()) is not None:
                pass
            self._ask_for_births(time.time())
            with self._lock:
                wait = sampler.seconds_to_next(time.time())
            self._woken.wait(min(max(wait, _LEAST_WAIT), _LOOK_EVERY))


def _guarded(
    on_problem: Callable[[BaseException], None], work: Callable[..., None]
) -> Callable[..., None]:
    """Let what goes wrong in a thread be told, instead of ending it in silence."""

    def guarded(*given: Any) -> None:
        try:
            work(*given)
        except BaseException as problem:
            on_problem(problem)

    return guarded


def sensor_topics(site: Site, bundle: Bundle) -> dict[str, list[str]]:
    """List the topics of sensors to which each node subscribes at the broker of the nodes."""
    return {
        node.name: Mapper(site.sensors, specs_of(bundle.model, node.reads)).filters
        for node in bundle.plan.nodes
        if node.reads and node.name not in site.sensor_brokers
    }


def sensor_commands(site: Site, bundle: Bundle) -> dict[str, list[str]]:
    """List the topics by which each node asks edge nodes of Sparkplug for births, as above."""
    specs = {
        node: specs_of(bundle.model, bundle.plan.node(node).reads)
        for node in sensor_topics(site, bundle)
    }
    return {
        node: sorted({command_topic(place) for place in _metrics(site, own)})
        for node, own in specs.items()
    }


def _metrics(site: Site, specs: Mapping[str, InputSpec]) -> dict[str, list[str]]:
    """Return which metrics of Sparkplug are for these features, by the place of their device."""
    return metrics_of(one for one in site.sensors if one.feature in specs)


def check_sensors(site: Site, bundle: Bundle) -> None:
    """Refuse a site whose sensors cannot feed its model.

    Raises
    ------
    ParameterError
        The error names the feature, the channel or the node.
    """
    names, signals = all_specs(bundle.model), bundle.model.signals
    known = {*names, *unasked(site, bundle)}
    for sensor in site.sensors:
        if not n_wildcards(sensor.topic) and sensor.feature not in known:
            why = _why_not_asked(sensor.feature, signals)
            raise ParameterError(
                f"the sensor on {sensor.topic} is for {shorten(sensor.feature)}, {why}"
                f"{did_you_mean(sensor.feature, names)}"
            )
    site.every(bundle.model)
    if signals is not None:
        _check_windows(site, signals)
    reading = [node.name for node in bundle.plan.nodes if node.reads]
    if site.deciding.on_change and len(bundle.plan.nodes) > 1:
        raise ParameterError(
            "'decide.when: changed' is for a site with one node, since rows of several nodes are "
            f"put together by their number; this one has {len(bundle.plan.nodes)}, of which "
            f"{', '.join(reading)} measure. Leave it out"
        )


def unfed(site: Site, bundle: Bundle) -> list[str]:
    """Name the features, or the channels, for which no sensor can be."""
    fed = {one.feature for one in site.sensors}
    if any(placeholders(one) for one in fed):
        return []  # the topics tell
    return [name for name in all_specs(bundle.model) if name not in fed]


def unasked(site: Site, bundle: Bundle) -> list[str]:
    """Name what is measured, and not asked by the model, as one that is fitted again may ask less.

    A name that stands below no node is one only if all that is asked has a sensor; else it is taken
    for a misspelt one.
    """
    asked, signals = all_specs(bundle.model), bundle.model.signals
    computed = set() if signals is None else {*signals.names, *signals.channel_names}
    placed = {name for names in site.nodes.values() for name in names}
    named = dict.fromkeys(one.feature for one in site.sensors)
    others = [name for name in named if name not in asked and name not in computed]
    return [name for name in others if name in placed or not unfed(site, bundle)]


def _why_not_asked(name: str, signals: Signals | None) -> str:
    """Say why a sensor cannot be for a name."""
    if signals is None:
        return "which the model does not ask"
    for feature in signals.features:
        if name == feature.name:
            of = ", ".join(_axes(signals, feature.channels))
            return f"a feature that is computed here; the sensors' samples are for {of}"
    if name in signals.channel_names:
        of = ", ".join(_axes(signals, (name,)))
        return f"which is computed here of {of}; the sensors' samples are for those"
    return "which is no channel that the model asks"


def _axes(signals: Signals, channels: Iterable[str]) -> list[str]:
    """Return the measured channels behind some."""
    return [one for name in channels for one in signals.channel(name).axes or (name,)]


def _check_windows(site: Site, signals: Signals) -> None:
    """Refuse what does not go with windows of samples."""
    if site.deciding.on_change:
        raise ParameterError(
            "'decide.when: changed' does not go with a model that decides on windows of samples; "
            "leave it out"
        )
    if signals.step > MOST_TICKS:
        raise ParameterError(
            f"the model's windows are {signals.step:,} samples apart, and a site takes "
            f"{MOST_TICKS:,} at the most"
        )
