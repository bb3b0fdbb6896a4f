"""Follow the messages of a site and keep a snapshot of it, without a network or a clock.

Any message on the site's topics may be put in. What cannot be read or does not fit the plan is
counted and changes nothing else, and what is kept has bounds.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from typing import TYPE_CHECKING, Any

from solah.exceptions import SolahError
from solah.site.alerts import decode_alerts
from solah.site.bundle import read_bundle
from solah.site.bundle_reader import Fitting
from solah.site.compact_messages import decode_rows, decode_terms
from solah.site.comparison import Comparison
from solah.site.messages import (
    MAX_SEQUENCE,
    decode_ask,
    decode_decisions,
    decode_progress,
    decode_readings,
    decode_status,
)
from solah.site.observed import (
    WINDOW,
    Rate,
    WatchedDecision,
    WatchedNode,
    WatchedPart,
    shown,
)
from solah.site.plan import check_name
from solah.site.site_state import judge, stale_after
from solah.site.trust import refuse_older

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.site.bundle import Bundle
    from solah.site.messages import Decided, SensorReport
    from solah.site.observed import Output
    from solah.site.topics import Topics
    from solah.site.trust import Trust

MOST_DECISIONS = 200
MOST_STRANGERS = 100
"""How many nodes are kept of which the plan does not know."""
MOST_SENSORS = 500
"""How many sensors of a node are kept."""
REFUSALS = ("unreadable", "unfit", "other_model", "elsewhere")
"""Why messages are not taken."""

_MOST_BUNDLES = 4
_MOST_NAMES = 50
_MOST_ARRIVALS = 64
# A row that is further off shows a replay or a wrong clock, not a delay in the network.
_MOST_LATENCY = 3_600.0


class _RefusedError(Exception):
    """A readable message that is not taken, with the reason."""


class Observer:
    """Watches a site; its methods may be called from any thread.

    Parameters
    ----------
    topics : Topics
        The topics of the site.
    trust : Trust, default=None
        Of whom plans are taken, as :func:`solah.site.trust.load_trust` reads it, and none that
        is older than the newest; None where everyone's are.
    stale_after : float, default=None
        Seconds without a decision after which the site is stale; None for five times the usual time
        between decisions, and half a minute at least.

    Examples
    --------
    >>> from solah.site.messages import Status, encode
    >>> from solah.site.topics import Topics
    >>> topics = Topics("house")
    >>> observer = Observer(topics)
    >>> observer.take(topics.status("kitchen"), encode(Status("kitchen", "online")), now=7.0)
    >>> [(node["name"], node["state"]) for node in observer.snapshot(now=8.0)["nodes"]]
    [('kitchen', 'online')]
    """

    def __init__(
        self, topics: Topics, trust: Trust | None = None, stale_after: float | None = None
    ) -> None:
        self._topics, self._trust, self._stale_after = topics, trust, stale_after
        self._lock = threading.RLock()
        self._fittings: OrderedDict[str, Fitting] = OrderedDict()
        self._nodes: dict[str, WatchedNode] = {}
        self._parts: dict[str, WatchedPart] = {}
        self._decided: OrderedDict[tuple[str, int, float], WatchedDecision] = OrderedDict()
        self._rate = Rate()
        self._totals: Counter[str] = Counter()
        self._by_decision: Counter[str] = Counter()
        self._by_missing: Counter[str] = Counter()
        self._by_doubt: Counter[str] = Counter()
        self._progress: int | None = None
        self._arrivals: deque[float] = deque(maxlen=_MOST_ARRIVALS)
        self._link: dict[str, Any] = {"is_connected": None, "since": None}
        self._shadow: tuple[Fitting, Comparison] | None = None
        self._alerts: list[dict[str, Any]] = []
        self._changes = 0
        self._is_retained = False

    @property
    def changes(self) -> int:
        """Grows with everything that is noted; what depends on time alone does not count."""
        return self._changes

    @property
    def is_connected(self) -> bool | None:
        """Whether there is a connection to the broker; None if unknown."""
        is_connected: bool | None = self._link["is_connected"]
        return is_connected

    @property
    def site(self) -> str:
        """The name of the network."""
        return self._topics.site

    @property
    def bundle(self) -> Bundle | None:
        """The newest plan and its model; None while none was received."""
        with self._lock:
            return self._newest.bundle if self._newest else None

    def adopt(self, bundle: Bundle) -> None:
        """Read messages by a plan and its model from now on."""
        with self._lock:
            self._changes += 1
            if bundle.hash not in self._fittings:
                for of_model in (self._parts, self._by_decision, self._by_missing, self._by_doubt):
                    of_model.clear()
            self._fittings[bundle.hash] = Fitting(bundle)
            self._fittings.move_to_end(bundle.hash)
            while len(self._fittings) > _MOST_BUNDLES:
                self._fittings.popitem(last=False)
            for gone in self._strangers()[MOST_STRANGERS:]:
                del self._nodes[gone]

    def note_link(self, is_connected: bool, now: float) -> None:
        """Note that the connection to the broker is up, or lost."""
        with self._lock:
            self._changes += 1
            self._link = {"is_connected": is_connected, "since": now}

    def take(self, topic: str, payload: bytes, now: float, *, is_retained: bool = False) -> None:
        """Take in a message.

        Parameters
        ----------
        topic : str
        payload : bytes
        now : float
            The time on the wall, in seconds.
        is_retained : bool, default=False
            Whether the broker had kept it, so that its sender need not be there any more.
        """
        with self._lock:
            self._changes += 1
            self._totals["messages"] += 1
            self._is_retained = is_retained
            try:
                self._take(topic, payload, now)
            except _RefusedError as refused:
                self._totals[str(refused)] += 1
            # An untrusted text may be nested too deeply, or have letters that cannot be written.
            except (SolahError, ValueError, RecursionError):
                self._totals["unreadable"] += 1

    def snapshot(self, now: float, last: int = MOST_DECISIONS) -> dict[str, Any]:
        """Return the snapshot, ready for JSON.

        Parameters
        ----------
        now : float
            The time on the wall, in seconds.
        last : int, default=200
            How many of the last decisions to list.

        Returns
        -------
        snapshot : dict
            ``site``, ``now``, ``condition`` (see :mod:`solah.site.site_state`), ``link`` (to the
            broker), ``model``, ``nodes``, ``parts`` (the parts of the model, from bottom to top),
            ``decisions``, ``shadow``, ``alerts``, ``progress`` and ``messages``. Every text in it
            can be shown on a terminal as it is.
        """
        with self._lock:
            newest, decided = self._newest, list(self._decided.values())
            missing = decided[-1].missing if decided else ()
            names = [*(newest.nodes if newest else ()), *self._strangers()]
            nodes = [self._describe_node(name, now) for name in names]
            decisions = self._describe_decisions(decided, now, last)
            return {
                "site": self.site,
                "now": now,
                "condition": judge(nodes, decisions, self.is_connected).describe(),
                "link": self._link,
                "model": newest.describe() if newest else None,
                "nodes": nodes,
                "parts": newest.describe_parts(self._parts, missing) if newest else [],
                "decisions": decisions,
                "shadow": self._describe_shadow(),
                "alerts": self._alerts,
                "progress": self._progress,
                "messages": {kind: self._totals[kind] for kind in ("messages", *REFUSALS)},
            }

    @property
    def _newest(self) -> Fitting | None:
        return next(reversed(self._fittings.values()), None)

    @property
    def _keep_alive(self) -> float:
        """How long nodes may be silent though all is well, in seconds."""
        sending = self._newest.bundle.plan.sending if self._newest else None
        return sending.keep_alive if sending else 0.0

    def _strangers(self) -> list[str]:
        """Name the nodes that are not in the plan."""
        planned = self._newest.nodes if self._newest else {}
        return sorted(self._nodes.keys() - planned.keys())

    # --- taking in -------------------------------------------------------------------------------

    def _take(self, topic: str, payload: bytes, now: float) -> None:
        address = self._topics.parse(topic)
        if address is None:
            raise _RefusedError("elsewhere")
        if not payload:  # somebody let the broker forget what it kept
            if topic == self._topics.shadow.model:
                self._shadow = None
            return
        of_site: dict[str, Callable[[bytes, float], None]] = {
            "model": self._take_bundle,
            "decision": self._take_decisions,
            "progress": self._take_progress,
            self._topics.shadow.lane + "model": self._take_shadow_bundle,
            self._topics.shadow.lane + "decision": self._take_shadow_decisions,
            "alerts": self._take_alerts,
            "alert": self._pass_over_alert,
            "terms": self._take_terms,
        }
        of_node: dict[str, Callable[[str, bytes, float], None]] = {
            "status": self._take_status,
            "out": self._take_beliefs,
            "in": self._take_readings,
            "ask": self._take_ask,
            self._topics.shadow.lane + "out": self._pass_over,
            self._topics.shadow.lane + "ask": self._pass_over,
        }
        if not address.node and address.what in of_site:
            of_site[address.what](payload, now)
        elif address.node and address.what in of_node:
            of_node[address.what](check_name(address.node), payload, now)
        else:
            raise _RefusedError("elsewhere")

    def _take_bundle(self, payload: bytes, _now: float) -> None:
        bundle = read_bundle(payload, self._trust)
        if bundle.plan.site != self.site or bundle.is_shadow:
            raise _RefusedError("unfit")
        if self._trust is not None and self._newest is not None:
            refuse_older(bundle, self._newest.bundle)
        self.adopt(bundle)

    def _take_progress(self, payload: bytes, _now: float) -> None:
        self._progress = decode_progress(payload)

    def _take_terms(self, payload: bytes, _now: float) -> None:
        decode_terms(payload, self._bundles())  # only to be counted where it cannot be read

    def _take_status(self, name: str, payload: bytes, now: float) -> None:
        status = decode_status(payload)
        node = self._node(name, status.node)
        node.told, node.told_at, node.model = status.state, now, shown(status.model)
        if not self._is_retained:
            node.last_seen = now
        if status.counters:  # a last will has none
            some = sorted(status.counters.items())[:_MOST_NAMES]
            counters = {shown(what): min(count, MAX_SEQUENCE) for what, count in some}
            node.counters = Counter(counters)
            node.sensors = dict(sorted(status.sensors.items())[:MOST_SENSORS])

    def _take_readings(self, name: str, payload: bytes, now: float) -> None:
        self._node(name, name).readings.add(len(decode_readings(payload)), now)

    def _take_ask(self, _name: str, payload: bytes, _now: float) -> None:
        decode_ask(payload)  # only to be counted where it cannot be read

    def _pass_over(self, _name: str, _payload: bytes, _now: float) -> None:
        """Ignore what is for others."""

    def _take_beliefs(self, name: str, payload: bytes, now: float) -> None:
        message = decode_rows(payload, name, self._bundles())
        fitting = self._fittings.get(message.model)
        if fitting is None:
            raise _RefusedError("other_model")
        if not all(fitting.may_send(name, row) for row in message.rows):
            raise _RefusedError("unfit")
        self._note(self._node(name, message.node), len(message.rows), now)
        for row in message.rows[-1:]:
            for part, signal in row.signals.items():
                self._believe(part, fitting.output(part, signal), row.sequence, now)

    def _take_decisions(self, payload: bytes, now: float) -> None:
        message = decode_decisions(payload)
        fitting = self._fittings.get(message.model)
        if self._fittings and fitting is None:
            raise _RefusedError("other_model")
        if fitting and not all(fitting.may_decide(message.node, row) for row in message.rows):
            raise _RefusedError("unfit")
        rows = {(message.model, row.sequence, row.time): row for row in message.rows}
        new = {key: row for key, row in rows.items() if key not in self._decided}
        self._note(self._node(check_name(message.node), message.node), len(new), now)
        self._rate.add(len(new), now)
        if new:
            self._arrivals.append(now)
        for key, row in new.items():
            self._decide(key, row, fitting, now)
            if self._shadow is not None:
                self._shadow[1].act(row.sequence, shown(row.decision))

    def _take_shadow_bundle(self, payload: bytes, _now: float) -> None:
        bundle = read_bundle(payload, self._trust)
        if bundle.plan.site != self.site or not bundle.is_shadow:
            raise _RefusedError("unfit")
        if self._shadow is None or self._shadow[0].hash != bundle.hash:
            fitting = Fitting(bundle)
            self._shadow = (fitting, Comparison(is_number=not fitting.labels))

    def _take_shadow_decisions(self, payload: bytes, _now: float) -> None:
        message = decode_decisions(payload)
        if self._shadow is None or self._shadow[0].hash != message.model:
            raise _RefusedError("other_model")
        fitting, comparison = self._shadow
        if not all(fitting.may_decide(message.node, row) for row in message.rows):
            raise _RefusedError("unfit")
        for row in message.rows:
            comparison.shadow(row.sequence, shown(row.decision))

    def _take_alerts(self, payload: bytes, _now: float) -> None:
        self._alerts = [
            {"name": shown(one.name), "text": shown(one.text), "since": one.since}
            for one in decode_alerts(payload)[:_MOST_NAMES]
        ]

    def _pass_over_alert(self, _payload: bytes, _now: float) -> None:
        """Ignore single alerts; all that are raised come together."""

    def _bundles(self) -> list[Bundle]:
        return [fitting.bundle for fitting in self._fittings.values()]

    def _node(self, name: str, speaker: str) -> WatchedNode:
        """Find a node, or begin to watch it."""
        if name != speaker:
            raise _RefusedError("unfit")
        if name not in self._nodes:
            is_planned = self._newest is not None and name in self._newest.nodes
            if not is_planned and len(self._strangers()) >= MOST_STRANGERS:
                raise _RefusedError("unfit")
            self._nodes[name] = WatchedNode()
        return self._nodes[name]

    def _note(self, node: WatchedNode, n_rows: int, now: float) -> None:
        node.last_seen = now
        node.rows.add(n_rows, now)

    def _believe(self, part: str, output: Output, row: int, now: float) -> None:
        """Note the output of a part, unless an old row is only sent again."""
        before = self._parts.get(part)
        if before is None or row >= before.row or now - before.received > WINDOW:
            self._parts[part] = WatchedPart(output, row, now)

    def _decide(
        self, key: tuple[str, int, float], row: Decided, fitting: Fitting | None, now: float
    ) -> None:
        late = now - row.time
        self._decided[key] = WatchedDecision(
            row=row.sequence,
            time=row.time,
            decision=shown(row.decision),
            place=fitting.place(row.decision) if fitting else None,
            certainty=row.beliefs.get(row.decision),
            missing=tuple(map(shown, row.missing[:_MOST_NAMES])),
            known=row.known,
            latency=round(late, 4) if abs(late) < _MOST_LATENCY else None,
            age=None if row.oldest is None else round(max(row.time - row.oldest, 0.0), 3),
            settled=shown(row.settled) if row.settled else row.settled,
            abstain_reasons=tuple(map(shown, row.abstain_reasons[:_MOST_NAMES])),
        )
        while len(self._decided) > MOST_DECISIONS:
            self._decided.popitem(last=False)
        self._totals["decisions"] += 1
        self._totals["incomplete"] += bool(row.missing)
        self._totals["held_back"] += row.settled is None
        if fitting is not None:  # else anybody could make up names without end
            self._believe(fitting.root, fitting.root_output(row), row.sequence, now)
            self._by_missing.update(map(shown, row.missing))
            self._by_decision.update([shown(row.decision)] if fitting.labels else [])
            self._by_doubt.update(row.abstain_reasons)

    # --- describing ------------------------------------------------------------------------------

    def _describe_node(self, name: str, now: float) -> dict[str, Any]:
        node, newest = self._nodes.get(name, WatchedNode()), self._newest
        plan = newest.nodes.get(name) if newest else None
        return {
            "name": name,
            "is_planned": plan is not None,
            "decides": newest is not None and newest.decider == name,
            "runs": [shown(part) for part in plan.runs] if plan else [],
            "state": node.state(now),
            "model": node.model,
            "has_newest": newest is not None and newest.hash == node.model,
            "heard": node.last_seen,
            "rows": node.rows.total,
            "rate": node.rows.at(now),
            "readings": node.readings.total,
            "reading_rate": node.readings.at(now),
            "counters": dict(node.counters),
            "sensors": [_describe_sensor(name, one) for name, one in node.sensors.items()],
        }

    def _describe_decisions(
        self, decided: list[WatchedDecision], now: float, last: int
    ) -> dict[str, Any]:
        n_kept = len(decided)
        missing = Counter(part for one in decided for part in one.missing)
        latencies = sorted(one.latency for one in decided if one.latency is not None)
        last_at = self._arrivals[-1] if self._arrivals else None
        limit = self._stale_after or stale_after(self._arrivals, self._keep_alive)
        return {
            "last_at": last_at,
            "last_missing": list(decided[-1].missing) if decided else [],
            "stale_after": limit,
            "is_stale": last_at is not None and now - last_at > limit,
            "total": self._totals["decisions"],
            "incomplete_total": self._totals["incomplete"],
            "held_back_total": self._totals["held_back"],
            "rate": self._rate.at(now),
            "kept": n_kept,
            "known": decided[-1].known if decided else None,
            "incomplete": sum(bool(one.missing) for one in decided) / max(n_kept, 1),
            "missing": [
                {"part": part, "times": times} for part, times in missing.most_common(_MOST_NAMES)
            ],
            "latency": _percentiles(latencies),
            "by_decision": dict(sorted(self._by_decision.items())),
            "by_missing": dict(sorted(self._by_missing.items())),
            "by_doubt": dict(sorted(self._by_doubt.items())),
            "last": [
                {
                    **vars(one),
                    "missing": list(one.missing),
                    "abstain_reasons": list(one.abstain_reasons),
                }
                for one in reversed(decided[max(n_kept - last, 0) :])
            ],
        }

    def _describe_shadow(self) -> dict[str, Any] | None:
        if self._shadow is None:
            return None
        fitting, comparison = self._shadow
        return {"hash": fitting.hash, "starts": fitting.bundle.starts, **comparison.describe()}


def _describe_sensor(name: str, report: SensorReport) -> dict[str, Any]:
    return {
        "feature": shown(name),
        "age": report.age,
        "max_age": report.max_age,
        "is_known": report.is_known,
        "counts": {shown(what): count for what, count in report.counts.items()},
    }


def _percentiles(ordered: list[float]) -> dict[str, float] | None:
    """Return the values below which half and nearly all lie."""
    if not ordered:
        return None
    last = len(ordered) - 1
    return {"p50": ordered[last // 2], "p99": ordered[int(last * 0.99)]}
