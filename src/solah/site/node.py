"""Run a node's core on a broker until it is stopped.

A message is acknowledged when its rows are safe: their decisions are with the broker, or the rows
are in the state file. So a node that is killed loses nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from solah.exceptions import SolahError
from solah.model.format import MAX_BYTES as MAX_PLAN_BYTES
from solah.site.backlog import Backlog, Complaints, Item
from solah.site.client import Client
from solah.site.compact_messages import decode_rows, decode_terms, encode_rows, encode_terms
from solah.site.health import Health
from solah.site.logs import Event, quietly
from solah.site.messages import (
    MAX_BYTES,
    Ask,
    Beliefs,
    Measured,
    MessageError,
    Status,
    decode_ask,
    decode_progress,
    decode_readings,
    document_id,
    encode,
)
from solah.site.plan_versions import Adoption, NoRoomError
from solah.site.row_reader import RowReader
from solah.site.shadow import next_shadow
from solah.site.state_file import Memory, StateFile
from solah.site.topics import SHADOW, Topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from solah.site.bundle import Bundle
    from solah.site.client import Broker, Receipt
    from solah.site.core import NodeCore, Outbox
    from solah.site.feed import Feed
    from solah.site.logs import Fact, Level
    from solah.site.trust import Trust

_MOST_WAITING = 20_000
_BYTES_A_READING = 100  # in memory, about
_A_BATCH = 1_000
_LOOK_EVERY = 5.0  # seconds between two checks of the status
_STATUS_EVERY = 60.0  # seconds after which a status is sent though nothing changed
_IDLE = 0.2
_MOST_CHANGED = 1_000  # rows that are evaluated at once
_REPEATED = 60.0  # seconds of decisions that are sent again when a broker comes back
_MOST_REPEATED = 4 * 1024 * 1024  # bytes
_STALLED = 30.0  # seconds without a step after which the node is not alive
_KEEP_EVERY = 0.2
_MOST_RECEIPTS = 10  # brokers have few messages under way, 20 by default
_LAST_WAIT = 5.0


@dataclass(frozen=True)
class NodeOptions:
    """How a node works.

    Attributes
    ----------
    trust : whose plans are taken; None for everyone's
    allow_rollback : whether a plan is taken that was signed before the one in use
    state : the file in which it remembers how far it came; None for none
    root : the first part of all topics
    announcements : topics and payloads to publish, retained, when it connects
    log : called with what an operator should know
    is_patient : whether it waits for a broker that starts later
    feed : what makes rows of sensors' messages, and counts them; None without a site file
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
        self._backlog = Backlog(_MOST_WAITING, MAX_PLAN_BYTES)
        self._complaints = Complaints(self._options.log)
        self._stopping = threading.Event()
        self._problem: BaseException | None = None
        self._next_look = self._next_status = 0.0
        self._reported: Any = None  # the parts of the last status that are worth a new one
        self._refused = ("", "")
        self._shadow: NodeCore | None = None
        self._stepped = time.monotonic()
        self._decided: deque[tuple[float, bytes]] = deque()
        self._decided_bytes = 0
        self._done = self._brought = -1
        self._receipts: deque[Receipt] = deque()  # of messages whose rows are not safe yet
        self._pending: tuple[Memory, list[Receipt], int] | None = None
        self._next_keep = 0.0
        self._client = Client(
            broker,
            client_id(self._topics, core.name),
            self._receive,
            on_connect=self._connected,
            on_lost=self._disconnected,
            will=(
                self._topics.status(core.name),
                encode(Status(core.name, "offline", core.bundle.hash)),
            ),
            is_careful=self._options.state is not None,
        )
        self._reader = RowReader(
            self._bring, core, self._client, is_live=self._options.feed is not None
        )
        self._state = StateFile(self._options.state, self.counters, self._options.log)
        self._adoption = Adoption(core, self._options.trust, self._options.allow_rollback)

    def run(self, rows: Callable[[int], Iterable[Measured]] | None = None) -> None:
        """Work until :meth:`stop`; rows are measured here, beside those that come by topic.

        Parameters
        ----------
        rows : function that returns rows from one on
            They are requested again for nodes that ask for rows which this node has forgotten.
        """
        self._resume()
        self._subscribe()
        self._client.start(is_patient=self._options.is_patient)
        if rows is not None:
            self._reader.start(rows, self._brought + 1, self.fail)
        try:
            while not self._stopping.is_set():
                self._step()
        finally:
            self._reader.stop()
            self._complaints.report(time.monotonic(), all_of_it=True)
            self._publish_status("offline", time.monotonic())
            self._finish()
            self._client.stop()
        if self._problem is not None:
            raise self._problem

    def stop(self) -> None:
        """End the work, from any thread."""
        self._stopping.set()  # and no more: signals come while locks are held

    def fail(self, problem: BaseException) -> None:
        """End the node with an error; from any thread."""
        self._problem = problem
        self.stop()

    @property
    def health(self) -> Health:
        """How the node is doing, for service managers; from any thread."""
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

    def is_behind(self, row: Measured) -> bool:
        """Whether others wait for a row already, or do no longer; from any thread."""
        return self._reader.is_behind(row)

    def _step(self) -> None:
        """Take in what has come, evaluate, publish the results."""
        cores = (self.core,) if self._shadow is None else (self.core, self._shadow)
        times = [due for core in cores if (due := core.next_deadline()) is not None]
        wait = min([_IDLE, *(max(due - time.monotonic(), 1e-3) for due in times)])
        for kind, items in groupby(self._backlog.take(wait, _A_BATCH), lambda item: item.kind):
            self._take(kind, [*items])
        now = self._stepped = time.monotonic()
        self._publish(self.core.advance(now))
        self._advance_shadow(now)
        self._reader.note_wanted(self.core.reached)
        self._keep(now)
        if now >= self._next_look:
            self._next_look = now + _LOOK_EVERY
            self._publish_status("online", now)
            if not self._client.is_connected:
                reason = self._client.refusal or "it does not answer"
                self._complaints.add("the broker", f"no connection: {reason}", now)
            self._complaints.report(now)
            if self._adoption.waiting:
                self._try(self._topics.model, self._adoption.waiting[0], self._adopt)

    # --- taking in -------------------------------------------------------------------------------

    def _receive(self, topic: str, payload: bytes, receipt: Receipt | None = None) -> None:
        """Put a message aside; this is the network's thread."""
        is_plan = topic in (self._topics.model, self._topics.shadow.model)
        if len(payload) > (MAX_PLAN_BYTES if is_plan else MAX_BYTES):
            self.counters["refused_models" if is_plan else "malformed"] += 1
            payload = b""
            topic = ""
        self._put(Item(topic, payload, len(payload), receipt))

    def _bring(self, row: Measured) -> None:
        """Put a row aside that is measured here; this is the reader's thread."""
        self._put(Item("row", row, _BYTES_A_READING * (1 + len(row.readings))))

    def _put(self, item: Item) -> None:
        """Let an item wait. Without room, the oldest goes, and is counted."""
        for gone in self._backlog.put(item):
            self.counters["overflow"] += 1
            self.counters["overflow_bytes"] += gone.size
            if gone.receipt is not None:
                self._receipts.append(gone.receipt)

    def _take(self, kind: str, items: Sequence[Item]) -> None:
        """Take in items of one kind: rows, or messages of one topic."""
        if kind == "row":
            rows = [item.content for item in items]
            self._read_rows(rows)
            numbers = [row.sequence for row in rows if row.sequence is not None]
            self._brought = max(self._brought, *numbers, -1)
        for item in items:
            if kind != "row":
                self._try(kind, item.content, self._take_message)
            if item.receipt is not None:
                self._receipts.append(item.receipt)
            if self.core.n_changed >= _MOST_CHANGED:
                self._publish(self.core.advance(time.monotonic()))

    def _try(self, topic: str, payload: bytes, take: Callable[[str, bytes], None]) -> None:
        """Take a message; count and report one that is wrong."""
        is_again = payload in self._adoption.waiting
        try:
            take(topic, payload)
        except MessageError as error:
            self.counters["malformed"] += 1
            self._complaints.add(topic, str(error), time.monotonic())
        except SolahError as error:
            is_waiting = isinstance(error, NoRoomError)
            if not is_waiting or not is_again:
                self.counters["refused_models"] += 1
                self._refused = document_id(payload), str(error)
                self._next_look = 0.0
                self._complaints.add(topic, str(error), time.monotonic())
            if is_waiting:
                self._state.keep_plans(self._adoption.documents)

    def _read_rows(self, rows: Sequence[Measured]) -> None:
        before, now, wall = self.core.counters["unnumbered"], time.monotonic(), time.time()
        self.core.read(rows, now, wall)
        if self._shadow is not None:
            self._shadow.read(rows, now, wall)
        if not before and self.core.counters["unnumbered"]:
            text = "readings without a number 'seq' are dropped; give one"
            self._log(text, "unnumbered_readings", "warning")

    def _take_message(self, topic: str, payload: bytes) -> None:
        address, now, shadow = self._topics.parse(topic), time.monotonic(), self._shadow
        node, what = ("", "") if address is None else address
        if what == "out":
            self.core.hear(beliefs_of(node, payload, self.core.bundles), now)
        elif what == "in":
            self._read_rows(decode_readings(payload))
        elif what == "ask":
            ask = decode_ask(payload)
            self._reader.look_again(ask)
            self.core.repeat(ask)
        elif what == "progress" and not self.core.decides:
            self._note_progress(decode_progress(payload))
        elif what == "terms" and payload:
            if (terms := decode_terms(payload, self.core.bundles)) is not None:
                self.core.take_terms(terms)
        elif what == "model" and payload:
            self._adopt(topic, payload)
        elif what == f"{SHADOW}model":
            self._take_shadow(payload)
        elif what == f"{SHADOW}out" and shadow is not None:
            shadow.hear(beliefs_of(node, payload, shadow.bundles), now)
        elif what == f"{SHADOW}ask" and shadow is not None:
            shadow.repeat(decode_ask(payload))

    def _adopt(self, _topic: str, payload: bytes) -> None:
        """Take a plan."""
        bundle = self._adoption.take(payload)
        self._state.keep_plans(self._adoption.documents)
        if bundle is not None:
            text = f"model {bundle.hash} from row {bundle.starts} on"
            self._log(text, "model_adopted", model=bundle.hash, starts=bundle.starts)
            self._subscribe()
            self._refused, self._next_look = ("", ""), 0.0
            if self._shadow is not None and self._shadow.bundle.hash == bundle.as_shadow().hash:
                self._shadow = None
                self._log("the shadow model is in use now", "shadow_ended")

    def _take_shadow(self, payload: bytes) -> None:
        """Begin a shadow, or end it."""
        before = self._shadow
        self._shadow = next_shadow(before, payload, self.core, self._options.trust)
        if self._shadow is None and before is not None:
            self._log("the shadow ended", "shadow_ended")
        elif self._shadow is not None and self._shadow is not before:
            model, self._next_look = self._shadow.bundle.hash, 0.0
            self._log(f"model {model} is a shadow", "shadow_started", model=model)
            self._subscribe()

    def _note_progress(self, done: int) -> None:
        self.core.note_progress(done)
        self._reader.note_progress(done)

    # --- publishing ------------------------------------------------------------------------------

    def _publish(self, outbox: Outbox) -> None:
        topics, name = self._topics, self.core.name
        bundles = {bundle.hash: bundle for bundle in self.core.bundles}
        for beliefs in outbox.beliefs:
            self._send(topics.said(name), encode_rows(beliefs, bundles[beliefs.model]))
        for node, ask in outbox.asks:
            self._send(topics.asked(node), encode(ask))
        for terms in outbox.terms:
            self._send(topics.terms, encode_terms(terms, bundles[terms.model]), retain=True)
        for decided in outbox.decisions:
            payload = encode(decided)
            self._state.keep_decided(payload)
            self._send(topics.decisions, payload)
            self._note_decided(payload)
        if self._client.is_connected:
            self._forget_decided()

    def _advance_shadow(self, now: float) -> None:
        """Let the shadow model evaluate; the node goes on even if it fails."""
        if self._shadow is None:
            return
        try:
            outbox = self._shadow.advance(now)
        except Exception as problem:
            self.counters["shadow_failed"] += 1
            self._shadow = None
            self._log(f"the shadow failed and ended: {problem}", "shadow_failed", "error")
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

    def _publish_status(self, state: Literal["online", "offline"], now: float) -> None:
        """Publish how the node is doing, if that changed or was not published for a while."""
        feed, core = self._options.feed, self.core
        counters = Counter({**core.counters, **self.counters})
        if feed is not None:
            counters.update(feed.all_counters())
        status = Status(
            node=core.name,
            state=state,
            model=core.bundle.hash,
            counters={name: times for name, times in counters.items() if times},
            sensors=feed.report(time.time()) if feed is not None else {},
            starts=core.bundle.starts,
            shadow="" if self._shadow is None else self._shadow.bundle.hash,
            refused=self._refused,
        )
        known = {name: (one.is_known, {*one.counts}) for name, one in status.sensors.items()}
        about = (status.model, status.starts, status.shadow, status.refused)
        reported = (state, *about, known, status.counters.keys())
        if reported != self._reported or now >= self._next_status:
            self._reported, self._next_status = reported, now + _STATUS_EVERY
            self._send(self._topics.status(core.name), encode(status), retain=True)

    def _publish_progress(self) -> None:
        self._send(self._topics.progress, json.dumps(self._done).encode(), retain=True)

    def _connected(self) -> None:
        """Publish what others must know first; this is the network's thread."""
        self._log(f"node {self.core.name} of {self._topics.site} is connected", "connected")
        self._next_look = self._next_status = 0.0
        for topic, payload in self._options.announcements:
            self._client.publish(topic, payload, retain=True)
        # What was published while we were away, or just before, may be lost with the broker.
        for _, payload in self._decided.copy():
            self._client.publish(self._topics.decisions, payload)
        if self.core.decides and self._done >= 0:
            self._publish_progress()
        since = encode(Ask(since=self._done + 1))
        for node in set(dict(self.core.plan.hears).values()):
            self._client.publish(self._topics.asked(node), since)

    def _disconnected(self) -> None:
        """Note that the connection is lost; this is the network's thread."""
        if not self._stopping.is_set():
            self._log("the connection to the broker is lost", "connection_lost", "warning")

    def _subscribe(self) -> None:
        name, topics = self.core.name, self._topics
        others = {topics.said(node) for _, node in self.core.plan.hears}
        own = [topics.asked(name), topics.model, topics.progress, topics.readings(name)]
        own += [topics.terms] if self.core.bundle.plan.sending and self.core.plan.sends else []
        shadow = [topics.shadow.model]
        if self._shadow is not None:
            shadows = {topics.shadow.said(node) for _, node in self._shadow.plan.hears}
            shadow += [topics.shadow.asked(name), *sorted(shadows)]
        self._client.subscribe([*own, *sorted(others), *shadow])

    # --- remembering -----------------------------------------------------------------------------

    def _resume(self) -> None:
        """Go on where this node was before it was restarted, with the plans that it had."""
        memory = self._state.memory

        def refuse(error: SolahError) -> None:
            self.counters["refused_models"] += 1
            self._complaints.add(self._topics.model, str(error), time.monotonic())

        self._adoption.resume(self._state.plans, self._options.state, refuse)
        if memory != Memory():
            self.core.resume(memory, time.monotonic())
        self._done, self._brought = memory.done, memory.brought
        for payload in self._state.decided:
            self._note_decided(payload)
        if self.core.decides:
            self._note_progress(memory.done)

    def _keep(self, now: float) -> None:
        """Keep how far the node came, and acknowledge messages, when all is sent and confirmed."""
        if self._pending is None and (
            now >= self._next_keep or len(self._receipts) >= _MOST_RECEIPTS
        ):
            self._next_keep = now + _KEEP_EVERY
            receipts = [self._receipts.popleft() for _ in range(len(self._receipts))]
            self._pending = self.core.memory(self._brought), receipts, self._client.published
        if self._pending is None or self._client.confirmed < self._pending[2]:
            return
        (memory, receipts, _), self._pending = self._pending, None
        self._state.keep_memory(memory)
        for receipt in receipts:
            self._client.acknowledge(receipt)
        is_new, self._done = memory.done != self._done, memory.done
        if is_new and self.core.decides:
            self._note_progress(self._done)
            self._publish_progress()

    def _finish(self) -> None:
        """Keep everything once more, if the broker confirms soon enough what was sent."""
        give_up = time.monotonic() + _LAST_WAIT
        for _ in range(2):  # what is pending, and the rest
            self._next_keep = 0.0
            while self._client.is_connected and time.monotonic() < give_up:
                self._keep(time.monotonic())
                if self._pending is None:
                    break
                time.sleep(0.01)

    def _log(self, text: str, name: str, level: Level = "info", **facts: Fact) -> None:
        self._options.log(Event(text, name, level, **{"node": self.core.name, **facts}))


def beliefs_of(node: str, payload: bytes, bundles: Sequence[Bundle]) -> Beliefs:
    """Read scores that came on the topic of a node, and that it must have sent itself."""
    beliefs = decode_rows(payload, node, bundles)
    if beliefs.node != node:
        raise MessageError(f"{beliefs.node!r} publishes on the topic of {node!r}")
    return beliefs


def client_id(topics: Topics, node: str) -> str:
    """Name a node for the broker; no two nodes of any sites have the same name there.

    Examples
    --------
    >>> client_id(Topics("house-west"), "cellar"), client_id(Topics("house"), "west-cellar")
    ('solah:house-west:cellar', 'solah:house:west-cellar')
    """
    return ":".join((topics.root, topics.site, node))  # names of sites and nodes have no colon
