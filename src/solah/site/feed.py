"""Make rows of what sensors publish, on a clock that all nodes of a site share.

A row's number is the time divided by the seconds between two rows, so that nodes whose clocks agree
number their rows alike, also after a restart.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from solah.exceptions import shorten
from solah.site.aligner import Aligner
from solah.site.journal import Journal
from solah.site.kafka import KafkaSource
from solah.site.logs import quietly
from solah.site.payloads import Message, read_availability
from solah.site.sensor_mapping import Mapper, all_specs, specs_of
from solah.site.sensor_source import SensorClient
from solah.site.site_check import check_site
from solah.site.sparkplug import Decoder, command_topic, metrics_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from solah.site.bundle import Bundle
    from solah.site.messages import Measured, SensorReport
    from solah.site.sensor_mapping import InputSpec
    from solah.site.settings import Access, Site

_MOST_STRANGERS = 50
_OTHERS = "others"
_LOOK_EVERY = 0.25


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
        check_site(site, bundle)
        self.counters: Counter[str] = Counter()
        self._deciding, self._log = site.deciding, quietly(log, self.counters)
        specs = specs_of(bundle.model, bundle.plan.node(node).reads)
        self._mapper = Mapper(site.sensors, specs)
        self._of_any_node = Mapper(site.sensors, all_specs(bundle.model))
        ages = {one.feature: one.max_age for one in site.sensors if one.max_age is not None}
        self._every = site.deciding.every
        self._aligner = Aligner(specs, ages, self._every)
        metrics = _metrics(site, specs)
        self._sparkplug = Decoder(metrics) if metrics else None
        self._journal = Journal(site.state / f"{node}.journal", site.store, self._log)
        self._devices: dict[str, set[str]] = {}  # the features of devices, by their topics
        for one in site.sensors:
            for topic in one.availability if one.feature in specs else ():
                self._devices.setdefault(topic, set()).add(one.feature)
        self._was_connected = False
        self._strangers: Counter[str] = Counter()
        self._last_row: tuple[Any, ...] | None = None
        self._number = self._journal.last
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._source: SensorClient | KafkaSource | None = None

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
            self._ask_for_births(now)
            return
        found = self._mapper.read(topic, Message(payload, published))
        with self._lock:
            self.counters["sensor_messages"] += 1
            if topic in self._devices:
                is_online = read_availability(payload)
                if is_online is not None:
                    self._aligner.note_device(self._devices[topic], is_online=is_online)
            elif not found and not self._of_any_node.wants(topic):
                self._note_stranger(topic)
            for one in found:
                self._aligner.take(one, topic, now, is_retained=is_retained)

    def _take_decoded(
        self, decoded: list[tuple[str, Message]], now: float, is_retained: bool = False
    ) -> None:
        """Take messages of Sparkplug."""
        for place, message in decoded:
            for one in self._mapper.read(place, message):
                self._aligner.take(one, place, now, is_retained=is_retained)

    def _ask_for_births(self, now: float) -> None:
        """Ask edge nodes of Sparkplug for births that are missing."""
        if self._sparkplug is None or not isinstance(self._source, SensorClient):
            return
        with self._lock:
            requests = self._sparkplug.requests(now) if self._source.is_connected else []
        for topic, command in requests:
            self._source.command(topic, command)

    def _note_stranger(self, topic: str) -> None:
        """Count a topic without a feature, and report its first message."""
        self.counters["unmatched"] += 1
        if topic not in self._strangers and len(self._strangers) < _MOST_STRANGERS:
            self._log(f"{shorten(topic)} matches a sensor's topic, and no feature of the model")
            self._strangers[topic] = 0
        self._strangers[topic if topic in self._strangers else _OTHERS] += 1

    def tick(self, now: float) -> Measured | None:
        """Make the row of this moment; None where there is nothing new to decide."""
        number = int(now // self._every)
        with self._lock:
            if number <= self._number:
                self.counters["clock_back"] += number < self._number
                return None
            row = self._aligner.row(now, number)
            if self._is_idle(row):
                return None
            self.counters["skipped_rows"] += self._n_skipped(number)
            self._number = number
        self._journal.append(row)
        return row

    def _is_idle(self, row: Measured) -> bool:
        """Whether there is nothing to decide: no connection yet, or no change."""
        if self._source is not None:
            self._was_connected |= self._source.is_connected
            if not self._was_connected:
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
        """Report how the readings of each feature arrive."""
        with self._lock:
            return self._aligner.reports(now)

    def strangers(self) -> dict[str, int]:
        """Return the topics from which no feature gets anything, and how often they came."""
        with self._lock:
            return dict(self._strangers.most_common())

    # --- running ---------------------------------------------------------------------------------

    def start(
        self,
        access: Access,
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

        def take(
            topic: str, payload: bytes | None, is_retained: bool, published: float | None = None
        ) -> None:
            self.take(topic, payload, time.time(), is_retained=is_retained, published=published)

        filters = [*self._mapper.filters, *self._devices]
        if access.is_kafka:
            self._source = KafkaSource(
                access.find_kafka(), name, filters, take, self._log, on_problem=on_problem
            )
        else:
            links = {"on_connect": guarded(self._connected), "on_lost": guarded(self._lost)}
            self._source = SensorClient(access.find(), name, filters, guarded(take), **links)
        self._source.start()
        threading.Thread(target=guarded(self._run_clock), daemon=True).start()

    def _connected(self) -> None:
        """Request births: only these have unchanged values."""
        self._was_connected = True
        self._ask_for_births(time.time())

    def _lost(self) -> None:
        """Note that messages may be missed now; hold nothing that waits for a death."""
        if self._stopping.is_set() or not self._was_connected:
            return
        with self._lock:
            self._aligner.lose(time.time())
            if self._sparkplug is not None:
                self._take_decoded(self._sparkplug.lose_all(), time.time())

    def stop(self) -> None:
        """End what :meth:`start` began."""
        self._stopping.set()
        if self._source is not None:
            self._source.stop()

    def rows_from(self, first: int) -> Iterator[Measured]:
        """Yield the rows from a number on, those on disk first, then the new ones as they come."""
        number = first - 1
        while not self._stopping.is_set():
            for row in self._journal.after(number, wait=_LOOK_EVERY):
                number = max(number, row.sequence or 0)
                yield row

    def all_counters(self) -> Counter[str]:
        """Return what was counted, of the journal and where messages come from, too."""
        total: Counter[str] = Counter()
        for part in (self, self._journal, self._source, self._sparkplug):
            if part is not None:
                total.update(dict(part.counters))  # as it is now; other threads go on counting
        return total

    def _run_clock(self) -> None:
        every = self._every
        while True:
            now = time.time()
            if self._stopping.wait((now // every + 1) * every - now):
                return
            self.tick(time.time())
            self._ask_for_births(time.time())


def _guarded(
    on_problem: Callable[[BaseException], None], work: Callable[..., None]
) -> Callable[..., None]:
    """Report what ends a thread, which would end in silence."""

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
