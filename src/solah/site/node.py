"""Run a node's core on a broker until it is stopped."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from solah.exceptions import SolahError
from solah.model.format import MAX_BYTES as MOST_OF_A_PLAN
from solah.site.backlog import Backlog, Complaints
from solah.site.client import Client
from solah.site.compact_messages import (
    decode_terms,
    encode_rows,
    encode_terms,
)
from solah.site.health import Health
from solah.site.logs import Event, quietly
from solah.site.message_log import Keeper
from solah.site.messages import (
    MAX_BYTES,
    Ask,
    Measured,
    MessageError,
    Status,
    decode_ask,
    decode_progress,
    decode_readings,
    document_id,
    encode,
)
from solah.site.plan_updates import Adoption
from solah.site.row_reader import RowReader
from solah.site.shadow import beliefs_of, next_shadow
from solah.site.state_file import Memory, read_memory, read_plans
from solah.site.topics import SHADOW, Topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from solah.site.bundle import Bundle
    from solah.site.client import Broker, Receipt
    from solah.site.core import NodeCore, Outbox
    from solah.site.feed import Feed
    from solah.site.logs import Fact, Level
    from solah.site.shadow import Shadow
    from solah.site.trust import Trust

_MOST_WAITING = 20_000
_MOST_WAITING_BYTES = MOST_OF_A_PLAN
_BYTES_A_READING = 100  # in memory, about
_A_BATCH = 1_000
_ROWS_AT_ONCE = 100
_LOOK_EVERY = 5.0  # seconds between two looks at what a status would tell
_STATUS_EVERY = 60.0  # seconds after which a status is sent though nothing changed
_IDLE = 0.2
_MOST_CHANGED = 1_000  # rows that are evaluated at once
_REPEATED = 60.0  # seconds of decisions that are sent again when a broker comes back
_MOST_REPEATED = 4 * 1024 * 1024  # bytes
_STALLED = 30.0  # seconds without a step after which the node is not alive
_RECEIPT = "receipt"  # of the message that was put aside before it


@dataclass(frozen=True)
class NodeOptions:
    """How a node works.

    Attributes
    ----------
    trust : whose plans are taken; None where everyone's are
    allow_rollback : whether a plan is taken that was signed before the one in use
    state : a file in which it remembers how far it came, with the plans that it took beside it
        (``<state>.plans``); None for none
    root : what all topics begin with
    announcements : topics and payloads to publish, retained, when it connects
    log : called with what an operator should know
    is_patient : whether it waits for a broker that starts later
    feed : what makes rows of sensors' messages, and counts them; None where no site file says how
    """

    trust: Trust | None = None
    allow_rollback: bool = False
    state: Path | None = None
    root: str = "solah"
    announcements: tuple[tuple[str, bytes], ...] = ()
    log: Callable[[str], None] = lambda _: None
    is_patient: bool = False
    feed: Feed | None = None


class Node:
    """Runs a node's core on a broker.

    Parameters
    ----------
    core : NodeCore
    broker : Broker
    options : NodeOptions
    """

    def __init__(self, core: NodeCore, broker: Broker, options: NodeOptions | None = None) -> None:
        self.core = core
        self.counters: Counter[str] = Counter()
        options = options or NodeOptions()
        self._options = replace(options, log=quietly(options.log, self.counters))
        self._topics = Topics(core.bundle.plan.site, self._options.root)
        self._backlog = Backlog(_MOST_WAITING, _MOST_WAITING_BYTES)
        self._complaints = Complaints(self._options.log)
        self._stopping = threading.Event()
        self._problem: BaseException | None = None
        self._next_look = self._next_status = 0.0
        self._told: Any = None  # what the last status told that is worth a new one
        self._refused = ("", "")
        self._shadow: Shadow | None = None
        self._stepped = time.monotonic()
        self._without_message: deque[Receipt] = deque()  # whose messages had to go
        self._decided: deque[tuple[float, bytes]] = deque()
        self._decided_bytes = 0
        self._brought = -1
        self._client = Client(
            broker,
            client_id(self._topics, core.name),
            self._receive,
            on_connect=self._connected,
            on_lost=self._disconnected,
            will=self._will(),
            is_careful=self._options.state is not None,
        )
        self._reader = RowReader(
            self._bring, core, self._client, is_live=self._options.feed is not None
        )
        self._keeper = Keeper(self._options.state, self._client, self.counters, self._options.log)
        self._adoption = Adoption(
            core,
            self._topics.site,
            self._options.trust,
            self._options.allow_rollback,
            keep=self._keeper.keep_plans,
            announce=self._announce_plan,
            refuse=self._refuse_plan,
        )

    def _will(self) -> tuple[str, bytes]:
        """Return what the broker publishes when we vanish."""
        gone = encode(Status(self.core.name, "offline", self.core.bundle.hash))
        return self._topics.status(self.core.name), gone

    def run(
        self, rows: Iterable[Measured] | Callable[[int], Iterable[Measured]] | None = None
    ) -> None:
        """Work until :meth:`stop`; rows are measured here, beside those that come by topic.

        Parameters
        ----------
        rows : iterable of Measured, or a function that returns them from a row on
            What a function returns can be had again, for those who ask for rows that this node
            has forgotten.
        """
        self._remember()
        self._subscribe()
        self._client.start(is_patient=self._options.is_patient)
        if rows is not None:
            self._reader.start(rows, self._brought + 1, self.fail)
        try:
            while not self._stopping.is_set():
                self._step()
        finally:
            self._reader.stop()
            self._complaints.tell(time.monotonic(), all_of_it=True)
            self._publish_status("offline", time.monotonic())
            self._keeper.finish(self._memory)
            self._client.stop()
        if self._problem is not None:
            raise self._problem

    def stop(self) -> None:
        """End the work, from any thread."""
        self._stopping.set()  # and no more: signals come while locks are held

    def fail(self, problem: BaseException) -> None:
        """Let what went wrong end the node; from any thread."""
        self._problem = problem
        self.stop()

    @property
    def health(self) -> Health:
        """How the node is doing, for what restarts services; from any thread."""
        idle = time.monotonic() - self._stepped
        return Health(
            is_alive=idle < _STALLED,
            is_ready=idle < _STALLED and self._client.is_connected,
            facts={
                "node": self.core.name,
                "site": self._topics.site,
                "model": self.core.bundle.hash,
                "connected": self._client.is_connected,
                "seconds_since_step": round(idle, 1),
            },
        )

    @property
    def wanted(self) -> int:
        """The last row that others came to, or asked for; -1 for none."""
        return self._reader.wanted

    def is_behind(self, row: Measured) -> bool:
        """Whether others wait for a row already, or do no longer; from any thread."""
        return self._reader.is_behind(row)

    def _step(self) -> None:
        """Take in what has come, evaluate, publish the results."""
        for kind, content in self._next_items():
            self._take(kind, content)
            if self.core.n_changed >= _MOST_CHANGED:
                self._publish(self.core.advance(time.monotonic()))
        while self._without_message:
            self._keeper.add(self._without_message.popleft())
        now = self._stepped = time.monotonic()
        self._publish(self.core.advance(now))
        self._advance_shadow(now)
        self._reader.note_wanted(self.core.reached)
        if self._keeper.step(now, self._memory) and self.core.decides:
            self._note_progress(self._keeper.settled)
            self._publish_progress()
        if now >= self._next_look:
            self._next_look = now + _LOOK_EVERY
            self._publish_status("online", now)
            if not self._client.is_connected:
                reason = self._client.refusal or "it does not answer"
                self._complaints.add("the broker", f"no connection: {reason}", now)
            self._complaints.tell(now)
            self._adoption.retry()

    def _next_items(self) -> list[tuple[str, Any]]:
        cores = (self.core,) if self._shadow is None else (self.core, self._shadow.core)
        times = [due for core in cores if (due := core.next_deadline()) is not None]
        due = min(times, default=None)
        wait = _IDLE if due is None else min(max(due - time.monotonic(), 0.0), _IDLE)
        return self._backlog.take(max(wait, 1e-3), _A_BATCH)

    # --- taking in -------------------------------------------------------------------------------

    def _receive(self, topic: str, payload: bytes, receipt: Receipt | None = None) -> None:
        """Put a message aside; this is the network's thread."""
        is_plan = topic in (self._topics.model, self._topics.shadow.model)
        if len(payload) > (MOST_OF_A_PLAN if is_plan else MAX_BYTES):
            self.counters["refused_models" if is_plan else "malformed"] += 1
        else:
            self._put(topic, payload, len(payload))
        if receipt is not None:
            self._put(_RECEIPT, receipt, 0)

    def _bring(self, row: Measured) -> None:
        """Put a row aside that is measured here; this is the reader's thread."""
        size = _BYTES_A_READING * (1 + len(row.readings))
        self._note_gone(self._backlog.add("rows", row, size, most=_ROWS_AT_ONCE))

    def _put(self, kind: str, content: Any, size: int) -> None:
        """Let something wait; where there is no room, the oldest goes."""
        self._note_gone(self._backlog.put(kind, content, size))

    def _note_gone(self, gone: Iterable[tuple[str, Any, int]]) -> None:
        """Count what had to go, and keep its receipts."""
        for kind, content, size in gone:
            if kind == _RECEIPT:
                self._without_message.append(content)
            else:
                self.counters["overflow"] += 1
                self.counters["overflow_bytes"] += size

    def _take(self, kind: str, content: Any) -> None:
        if kind == "rows":
            self._read_rows(content)
            numbers = [row.sequence for row in content if row.sequence is not None]
            self._brought = max(self._brought, *numbers, -1)
            return
        if kind == _RECEIPT:
            self._keeper.add(content)
            return
        address = self._topics.parse(kind)
        if address is None:
            return
        try:
            self._take_message(address.node, address.what, content)
        except MessageError as error:
            self.counters["malformed"] += 1
            self._complaints.add(kind, str(error), time.monotonic())
        except SolahError as error:
            self.counters["refused_models"] += 1
            self._refused = document_id(content), str(error)
            self._next_look = 0.0
            self._complaints.add(kind, str(error), time.monotonic())

    def _read_rows(self, rows: Iterable[Measured]) -> None:
        before, rows = self.core.counters["unnumbered"], list(rows)
        now, wall = time.monotonic(), time.time()
        self.core.read(rows, now, wall)
        if self._shadow is not None:
            self._shadow.core.read(rows, now, wall)
        if not before and self.core.counters["unnumbered"]:
            self._log(
                "readings without a number 'seq' are left out; give one, or tell rows apart by "
                "time with --window",
                "unnumbered_readings",
                "warning",
            )

    def _take_message(self, node: str, what: str, payload: bytes) -> None:
        now = time.monotonic()
        if what == "out":
            self.core.hear(beliefs_of(node, payload, self.core.bundles), now)
        elif what == "in":
            self._read_rows(decode_readings(payload))
        elif what == "ask":
            ask = decode_ask(payload)
            self._reader.look_again(ask)
            self.core.repeat(ask)
        elif what == "progress":
            if not self.core.decides:
                self._note_progress(decode_progress(payload))
        elif what == "terms" and payload:
            if (terms := decode_terms(payload, self.core.bundles)) is not None:
                self.core.take_terms(terms)
        elif what == "model" and payload:
            self._adoption.take(payload)
        elif what == f"{SHADOW}model":
            self._take_shadow(payload)
        elif self._shadow is not None:
            self._shadow.take(node, what.removeprefix(SHADOW), payload, now)

    def _announce_plan(self, bundle: Bundle) -> None:
        text = f"model {bundle.hash} from row {bundle.starts} on"
        self._log(text, "model_adopted", model=bundle.hash, starts=bundle.starts)
        self._subscribe()
        self._refused = ("", "")
        self._next_look = 0.0
        if self._shadow is not None and self._shadow.core.bundle.hash == bundle.as_shadow().hash:
            self._shadow = None
            self._log("the shadow model is in use now", "shadow_ended")

    def _refuse_plan(self, error: SolahError) -> None:
        self.counters["refused_models"] += 1
        self._complaints.add(self._topics.model, str(error), time.monotonic())

    def _take_shadow(self, payload: bytes) -> None:
        """Begin to try a model out, or end it."""
        before, self._shadow = (
            self._shadow,
            next_shadow(self._shadow, payload, self.core, self._options.trust),
        )
        if self._shadow is None and before is not None:
            self._log("the shadow model is not tried out any more", "shadow_ended")
        elif self._shadow is not None and self._shadow is not before:
            model = self._shadow.core.bundle.hash
            self._next_look = 0.0
            self._log(f"model {model} is tried out as a shadow", "shadow_started", model=model)
            self._subscribe()

    def _note_progress(self, settled: int) -> None:
        self.core.note_progress(settled)
        self._reader.note_progress(settled)

    # --- publishing ------------------------------------------------------------------------------

    def _publish(self, outbox: Outbox) -> None:
        topics = self._topics
        bundles = {bundle.hash: bundle for bundle in self.core.bundles}
        for beliefs in outbox.beliefs:
            payload = encode_rows(beliefs, bundles[beliefs.model])
            self._send(topics.said(self.core.name), payload)
        for node, ask in outbox.asks:
            self._send(topics.asked(node), encode(ask))
        for terms in outbox.terms:
            payload = encode_terms(terms, bundles[terms.model])
            self._send(topics.terms, payload, retain=True)
        for decided in outbox.decisions:
            payload = encode(decided)
            self._keeper.keep_decided(payload)
            self._send(topics.decisions, payload)
            self._note_decided(payload)
            if self._shadow is not None:
                self._shadow.compare(decided)
        if self._client.is_connected:
            self._forget_decided()

    def _advance_shadow(self, now: float) -> None:
        """Let the shadow model evaluate; whatever becomes of it, the node goes on."""
        if self._shadow is None:
            return
        try:
            outbox = self._shadow.advance(now)
        except Exception as problem:
            self.counters["shadow_failed"] += 1
            self._shadow = None
            text = f"the shadow model failed, and is not tried out any more: {problem}"
            self._log(text, "shadow_failed", "error")
            return
        topics = self._topics.shadow
        for beliefs in outbox.beliefs:
            self._send(topics.said(self.core.name), encode(beliefs))
        for node, ask in outbox.asks:
            self._send(topics.asked(node), encode(ask))
        for decided in outbox.decisions:
            self._send(topics.decisions, encode(decided))

    def _note_decided(self, payload: bytes) -> None:
        """Note what is to be sent again when a broker comes back."""
        self._decided.append((time.monotonic(), payload))
        self._decided_bytes += len(payload)

    def _forget_decided(self) -> None:
        """Forget the decisions that a broker surely has passed on."""
        old = time.monotonic() - _REPEATED
        while self._decided and (self._decided[0][0] < old or self._decided_bytes > _MOST_REPEATED):
            self._decided_bytes -= len(self._decided.popleft()[1])

    def _send(self, topic: str, payload: bytes, **options: Any) -> None:
        if not self._client.publish(topic, payload, **options):
            self.counters["unsaid"] += 1

    def _publish_status(self, state: Any, now: float) -> None:
        """Publish how the node is doing, if that changed or was not told for a while."""
        feed, core = self._options.feed, self.core
        counters = {**core.counters, **self.counters}
        if self._shadow is not None:
            counters |= self._shadow.counters()
        if feed is not None:
            counters |= feed.all_counters()
        counters = {name: times for name, times in counters.items() if times}
        status = Status(
            node=core.name,
            state=state,
            model=core.bundle.hash,
            counters=counters,
            sensors=feed.report(time.time()) if feed is not None else {},
            starts=core.bundle.starts,
            shadow="" if self._shadow is None else self._shadow.core.bundle.hash,
            refused=self._refused,
        )
        known = {name: (one.is_known, {*one.counts}) for name, one in status.sensors.items()}
        about = (status.model, status.starts, status.shadow, status.refused)
        told = (state, *about, known, counters.keys())
        if told != self._told or now >= self._next_status:
            self._told, self._next_status = told, now + _STATUS_EVERY
            self._send(self._topics.status(core.name), encode(status), retain=True)

    def _publish_progress(self) -> None:
        self._send(self._topics.progress, json.dumps(self._keeper.settled).encode(), retain=True)

    def _connected(self) -> None:
        """Publish what others must know first; this is the network's thread."""
        self._log(f"node {self.core.name} of {self._topics.site} is connected", "connected")
        self._next_look = self._next_status = 0.0
        for topic, payload in self._options.announcements:
            self._client.publish(topic, payload, retain=True)
        # What was published while we were away, or just before, may be lost with the broker.
        for _, payload in self._decided.copy():
            self._client.publish(self._topics.decisions, payload)
        if self.core.decides and self._keeper.settled >= 0:
            self._publish_progress()
        since = encode(Ask(since=self._keeper.settled + 1))
        for node in set(dict(self.core.plan.hears).values()):
            self._client.publish(self._topics.asked(node), since)

    def _disconnected(self) -> None:
        """Tell that the connection is lost; this is the network's thread."""
        if not self._stopping.is_set():
            self._log("the connection to the broker is lost", "connection_lost", "warning")

    def _subscribe(self) -> None:
        name, topics = self.core.name, self._topics
        others = {topics.said(node) for _, node in self.core.plan.hears}
        own = [topics.asked(name), topics.model, topics.progress, topics.readings(name)]
        own += [topics.terms] if self.core.bundle.plan.sending and self.core.plan.sends else []
        shadow = [topics.shadow.model]
        if self._shadow is not None:
            tried = {topics.shadow.said(node) for _, node in self._shadow.core.plan.hears}
            shadow += [topics.shadow.asked(name), *sorted(tried)]
        self._client.subscribe([*own, *sorted(others), *shadow])

    # --- remembering -----------------------------------------------------------------------------

    def _remember(self) -> None:
        """Go on where this node was before it was restarted, with the plans that it had."""
        memory, unconfirmed = self._keeper.resume_decided(read_memory(self._options.state))
        self._adoption.resume(read_plans(self._options.state), self._options.state)
        if memory != Memory():
            self.core.resume(memory, time.monotonic())
        self._adoption.begin()
        self._keeper.begin(memory)
        self._brought = memory.brought
        for payload in unconfirmed:
            self._note_decided(payload)
        if self.core.decides:
            self._note_progress(memory.settled)

    def _memory(self) -> Memory:
        return self.core.memory(self._brought)

    def _log(self, text: str, name: str, level: Level = "info", **facts: Fact) -> None:
        self._options.log(Event(text, name, level, **{"node": self.core.name, **facts}))


def client_id(topics: Topics, node: str) -> str:
    """Name a node for the broker; no two nodes of any sites have the same name there.

    Examples
    --------
    >>> client_id(Topics("house-west"), "cellar"), client_id(Topics("house"), "west-cellar")
    ('solah:house-west:cellar', 'solah:house:west-cellar')
    """
    return ":".join((topics.root, topics.site, node))  # names of sites and nodes have no colon
