"""A node's core, a broker and readings in, a node that runs until it is told to stop out."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.exceptions import ParameterError, SolahError
from solah.model.format import MAX_BYTES as MOST_OF_A_PLAN
from solah.network.backlog import Backlog, Complaints
from solah.network.bundle import BundleError, load_bundle, read_bundle
from solah.network.client import Client
from solah.network.messages import (
    MAX_BYTES,
    Ask,
    Measured,
    MessageError,
    Status,
    decode_ask,
    decode_beliefs,
    decode_progress,
    decode_readings,
    encode,
)
from solah.network.topics import Topics
from solah.network.trust import refuse_older

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from solah.network.bundle import Bundle
    from solah.network.client import Broker
    from solah.network.core import NodeCore, Outbox
    from solah.network.messages import Wire
    from solah.network.trust import Trust

_MOST_WAITING = 20_000
_MOST_WAITING_BYTES = MOST_OF_A_PLAN
_BYTES_A_READING = 100  # in memory, about
_A_BATCH = 1_000
_STATUS_EVERY = 5.0
_PROGRESS_EVERY = 0.2
_IDLE = 0.2
_AHEAD = 1_000
_MOST_UNCONFIRMED = 200


@dataclass(frozen=True)
class NodeOptions:
    """How a node works.

    Attributes
    ----------
    wire : how it writes messages
    trust : whose plans are taken; None where everyone's are
    allow_rollback : whether a plan is taken that was signed before the one in use
    state : a file in which it remembers how far it came; None for none. The last signed plan that
        was taken is kept beside it.
    root : what all topics begin with
    extras : called with decisions, returns topics and payloads to say beside them
    announcements : topics and payloads to say, and to be kept, at the start
    log : called with what an operator should know
    """

    wire: Wire = "json"
    trust: Trust | None = None
    allow_rollback: bool = False
    state: Path | None = None
    root: str = "solah"
    extras: Callable[[Any], Iterable[tuple[str, bytes]]] | None = None
    announcements: tuple[tuple[str, bytes], ...] = ()
    log: Callable[[str], None] = lambda _: None


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
        self._options = options or NodeOptions()
        self._topics = Topics(core.bundle.plan.site, self._options.root)
        self._backlog = Backlog(_MOST_WAITING, _MOST_WAITING_BYTES)
        self._complaints = Complaints(self._options.log)
        self._stopping = threading.Event()
        # What other threads may know of the core, which is this thread's own.
        self._progress = self._settled = self._saved = -1
        self._reading: threading.Thread | None = None
        self._problem: BaseException | None = None
        self._next_status = self._next_progress = 0.0
        will = encode(Status(core.name, "offline", core.bundle.hash))
        self._client = Client(
            broker,
            client_id(self._topics, core.name),
            self._heard,
            on_connect=self._connected,
            will=(self._topics.status(core.name), will),
        )

    def run(self, rows: Iterable[Measured] | None = None) -> None:
        """Work until :meth:`stop`; rows are measured here, beside those that come by topic."""
        self._remember()
        self._resume_plan()
        self._subscribe()
        self._client.start()
        if rows is not None:
            self._reading = threading.Thread(target=self._read, args=(rows,), daemon=True)
            self._reading.start()
        try:
            while not self._stopping.is_set():
                self._step()
        finally:
            self._complaints.tell(time.monotonic(), all_of_it=True)
            self._say_status("offline")
            self._save(force=True)
            self._client.stop()
        if self._problem is not None:
            raise self._problem

    def stop(self) -> None:
        """End the work, from any thread."""
        self._stopping.set()  # and no more: signals come while locks are held

    @property
    def is_done(self) -> bool:
        """Whether all rows were read, and all that was said is confirmed."""
        reading = self._reading is not None and self._reading.is_alive()
        return not (reading or self._backlog or self._client.in_flight)

    def _step(self) -> None:
        """Take in what has come, evaluate, say what there is to say."""
        for kind, content in self._next_items():
            self._take(kind, content)
        now = time.monotonic()
        self._publish(self.core.advance(now))
        self._settled = self.core.settled
        if now >= self._next_progress:
            self._next_progress = now + _PROGRESS_EVERY
            self._save()
        if now >= self._next_status:
            self._next_status = now + _STATUS_EVERY
            self._say_status("online")
            self._complaints.tell(now)

    def _next_items(self) -> list[tuple[str, Any]]:
        due = self.core.next_deadline()
        wait = _IDLE if due is None else min(max(due - time.monotonic(), 0.0), _IDLE)
        return self._backlog.take(max(wait, 1e-3), _A_BATCH)

    # --- taking in -------------------------------------------------------------------------------

    def _heard(self, topic: str, payload: bytes) -> None:
        """Put a message aside; this is the network's thread."""
        is_plan = topic == self._topics.model
        if len(payload) > (MOST_OF_A_PLAN if is_plan else MAX_BYTES):
            self.counters["refused_models" if is_plan else "malformed"] += 1
            return
        self._put(topic, payload, len(payload))

    def _put(self, kind: str, content: Any, size: int) -> None:
        """Let something wait; where there is no room, the oldest goes."""
        gone = self._backlog.put(kind, content, size)
        self.counters["overflow"] += len(gone)
        self.counters["overflow_bytes"] += sum(gone)

    def _take(self, kind: str, content: Any) -> None:
        if kind == "rows":
            self._read_rows(content)
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
            self._complaints.add(kind, str(error), time.monotonic())

    def _read_rows(self, rows: Iterable[Measured]) -> None:
        before = self.core.counters["unnumbered"]
        self.core.read(rows, time.monotonic(), time.time())
        if not before and self.core.counters["unnumbered"]:
            self._options.log(
                "readings without a number 'seq' are left out; give one, or tell rows apart by "
                "time with --window"
            )

    def _take_message(self, node: str, what: str, payload: bytes) -> None:
        now = time.monotonic()
        if what == "out":
            said = decode_beliefs(payload)
            if said.node != node:
                raise MessageError(f"{said.node!r} speaks in the place of {node!r}")
            self.core.hear(said, now)
        elif what == "in":
            self._read_rows(decode_readings(payload))
        elif what == "ask":
            self.core.repeat(decode_ask(payload))
        elif what == "progress":
            self._progress = decode_progress(payload)
        elif what == "model" and payload:
            self._adopt(payload)

    def _adopt(self, payload: bytes) -> None:
        bundle = read_bundle(payload, self._options.trust)
        self._check_plan(bundle)
        if self.core.adopt(bundle, time.monotonic()):
            self._options.log(f"model {bundle.hash} from row {bundle.starts} on")
            self._keep_plan(payload)
            self._subscribe()
            self._next_status = 0.0

    def _check_plan(self, bundle: Bundle) -> None:
        if bundle.plan.site != self._topics.site:
            raise BundleError(f"the plan is of the site {bundle.plan.site!r}")
        if self._options.trust is not None and not self._options.allow_rollback:
            refuse_older(bundle, self.core.bundle)

    def _keep_plan(self, payload: bytes) -> None:
        """Keep a signed plan, so that after a restart an older one is still known as such."""
        kept = self._kept_plan()
        if kept is not None:
            write_whole(kept, payload)

    def _kept_plan(self) -> Path | None:
        state, trust = self._options.state, self._options.trust
        return None if state is None or trust is None else state.with_name(f"{state.name}.plan")

    def _resume_plan(self) -> None:
        """Go on with the last plan that was taken, if it is newer than the one we started with."""
        kept = self._kept_plan()
        if kept is None or not kept.exists() or self._options.allow_rollback:
            return
        # Its counter counts, whoever signed it; it is used only if they are still trusted.
        if load_bundle(kept).counter <= self.core.bundle.counter:
            return
        bundle = load_bundle(kept, self._options.trust)
        self._check_plan(bundle)
        self.core.adopt(bundle, time.monotonic())

    # --- saying ----------------------------------------------------------------------------------

    def _publish(self, outbox: Outbox) -> None:
        wire, topics = self._options.wire, self._topics
        for said in outbox.beliefs:
            self._say(topics.said(self.core.name), encode(said, wire))
        for node, ask in outbox.asks:
            self._say(topics.asked(node), encode(ask, wire))
        for decided in outbox.decisions:
            self._say(topics.decisions, encode(decided, wire))
            for topic, payload in self._options.extras(decided) if self._options.extras else ():
                self._say(topic, payload)

    def _say(self, topic: str, payload: bytes, *, retain: bool = False) -> None:
        if not self._client.publish(topic, payload, retain=retain):
            self.counters["unsaid"] += 1

    def _say_status(self, state: Any) -> None:
        counters = {**self.core.counters, **self.counters}
        status = Status(self.core.name, state, self.core.bundle.hash, counters)
        self._say(self._topics.status(self.core.name), encode(status), retain=True)

    def _connected(self) -> None:
        """Begin to speak; this is the network's thread."""
        self._options.log(f"node {self.core.name} of {self._topics.site} is connected")
        self._next_status = 0.0
        for topic, payload in self._options.announcements:
            self._client.publish(topic, payload, retain=True)
        # What was said while we were away may be lost with the broker.
        since = encode(Ask(since=self._settled + 1))
        for node in set(dict(self.core.plan.hears).values()):
            self._client.publish(self._topics.asked(node), since)

    def _subscribe(self) -> None:
        name, topics = self.core.name, self._topics
        heard = {topics.said(node) for _, node in self.core.plan.hears}
        own = (topics.readings(name), topics.asked(name), topics.model, topics.progress)
        self._client.subscribe([*own, *sorted(heard)])

    # --- reading ---------------------------------------------------------------------------------

    def _read(self, rows: Iterable[Measured]) -> None:
        """Bring rows in; this is a thread of its own, whose problems end the node."""
        try:
            self._read_all(rows)
        except BaseException as problem:
            self._problem = problem
            self.stop()

    def _read_all(self, rows: Iterable[Measured]) -> None:
        """Bring rows in, not faster than the network decides."""
        part: list[Measured] = []
        for row in rows:
            while self._is_ahead(row) and not self._stopping.is_set():
                self._flush(part)
                time.sleep(0.005)
            if self._stopping.is_set():
                return
            part.append(row)
            if len(part) >= 100 or not self._backlog:
                self._flush(part)
        self._flush(part)

    def _flush(self, part: list[Measured]) -> None:
        if part:
            size = _BYTES_A_READING * sum(1 + len(row.readings) for row in part)
            self._put("rows", list(part), size)
            part.clear()

    def _is_ahead(self, row: Measured) -> bool:
        if self._client.in_flight > _MOST_UNCONFIRMED or not self._client.is_connected:
            return True
        decided = self._settled if self.core.decides else self._progress
        return row.sequence is not None and row.sequence > decided + _AHEAD

    # --- remembering -----------------------------------------------------------------------------

    def _remember(self) -> None:
        self._settled = self._saved = remembered(self._options.state)
        if self._saved >= 0:
            self.core.resume(self._saved)

    def _save(self, *, force: bool = False) -> None:
        """Note how far everything is done and confirmed; who decides tells the others."""
        settled = self._settled
        if settled == self._saved or (self._client.in_flight and not force):
            return
        self._saved = settled
        if self.core.decides:
            self._say(self._topics.progress, json.dumps(settled).encode(), retain=True)
        if self._options.state is not None:
            draft = self._options.state.with_suffix(".part")
            draft.write_text(json.dumps(settled), encoding="utf-8")
            draft.replace(self._options.state)


def client_id(topics: Topics, node: str) -> str:
    """Name a node for the broker; no two nodes of any sites have the same name there.

    Examples
    --------
    >>> client_id(Topics("house-west"), "cellar"), client_id(Topics("house"), "west-cellar")
    ('solah:house-west:cellar', 'solah:house:west-cellar')
    """
    return f"{topics.root}:{topics.site}:{node}"  # names of sites and nodes have no colon


def remembered(state: Path | None) -> int:
    """Return the last row that a node has noted as done; -1 where it has noted none."""
    if state is None:
        return -1
    if not state.parent.is_dir():
        raise ParameterError(f"the folder {state.parent} is not there; make it first")
    if not state.exists():
        return -1
    try:
        return decode_progress(state.read_bytes())
    except MessageError:
        raise ParameterError(
            f"{state} does not say how far a node came; delete it to begin anew"
        ) from None
