"""Follow the messages of a site and keep a snapshot of it, without a network or a clock.

Any message on the site's topics may be put in. What cannot be read or does not fit the plan is
counted and changes nothing else, and what is kept has bounds.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

from solah.exceptions import SolahError
from solah.network.bundle import read_bundle
from solah.network.compact import decode_rows, decode_terms
from solah.network.fitting import Fitting
from solah.network.messages import (
    MAX_SEQUENCE,
    decode_ask,
    decode_decisions,
    decode_progress,
    decode_readings,
    decode_status,
)
from solah.network.plan import check_name
from solah.network.trust import refuse_older
from solah.network.watched import (
    WINDOW,
    Rate,
    WatchedDecision,
    WatchedNode,
    WatchedPart,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.network.bundle import Bundle
    from solah.network.messages import Decided
    from solah.network.topics import Topics
    from solah.network.trust import Trust
    from solah.network.watched import Output

MOST_DECISIONS = 200
MOST_STRANGERS = 100
"""How many nodes are kept of which the plan does not know."""
REFUSALS = ("unreadable", "unfit", "other_model", "elsewhere")
"""Why messages are not taken."""

_MOST_BUNDLES = 4
_MOST_NAMES = 50
# A row that is further off tells of a replay or of a clock, not of a way through the network.
_MOST_LATENCY = 3_600.0


class _RefusedError(Exception):
    """A message that can be read, and is not taken; tells why."""


class Observer:
    """Watches a site; its methods may be called from any thread.

    Parameters
    ----------
    topics : Topics
        The topics of the site.
    trust : Trust, default=None
        Of whom plans are taken, as :func:`solah.network.trust.load_trust` reads it, and none that
        is older than the newest; None where everyone's are.

    Examples
    --------
    >>> from solah.network.messages import Status, encode
    >>> from solah.network.topics import Topics
    >>> topics = Topics("house")
    >>> observer = Observer(topics)
    >>> observer.take(topics.status("kitchen"), encode(Status("kitchen", "online")), now=7.0)
    >>> [(node["name"], node["state"]) for node in observer.snapshot(now=8.0)["nodes"]]
    [('kitchen', 'online')]
    """

    def __init__(self, topics: Topics, trust: Trust | None = None) -> None:
        self._topics, self._trust = topics, trust
        self._lock = threading.RLock()
        self._fittings: OrderedDict[str, Fitting] = OrderedDict()
        self._nodes: dict[str, WatchedNode] = {}
        self._parts: dict[str, WatchedPart] = {}
        self._decided: OrderedDict[tuple[str, int, float], WatchedDecision] = OrderedDict()
        self._rate = Rate()
        self._totals: Counter[str] = Counter()
        self._by_decision: Counter[str] = Counter()
        self._by_missing: Counter[str] = Counter()
        self._progress: int | None = None

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
            if bundle.hash not in self._fittings:
                for of_model in (self._parts, self._by_decision, self._by_missing):
                    of_model.clear()
            self._fittings[bundle.hash] = Fitting(bundle)
            self._fittings.move_to_end(bundle.hash)
            while len(self._fittings) > _MOST_BUNDLES:
                self._fittings.popitem(last=False)
            for gone in self._strangers()[MOST_STRANGERS:]:
                del self._nodes[gone]

    def take(self, topic: str, payload: bytes, now: float) -> None:
        """Take in a message.

        Parameters
        ----------
        topic : str
        payload : bytes
        now : float
            The time on the wall, in seconds.
        """
        with self._lock:
            self._totals["messages"] += 1
            try:
                self._take(topic, payload, now)
            except _RefusedError as refused:
                self._totals[str(refused)] += 1
            # A stranger's text may be nested too deeply, or have letters that cannot be written.
            except (SolahError, ValueError, RecursionError):
                self._totals["unreadable"] += 1

    def snapshot(self, now: float, last: int = MOST_DECISIONS) -> dict[str, Any]:
        """Return the picture, ready for JSON.

        Parameters
        ----------
        now : float
            The time on the wall, in seconds.
        last : int, default=200
            How many of the last decisions to list.

        Returns
        -------
        picture : dict
            ``site``, ``now``, ``model``, ``nodes``, ``parts`` (the trees and fusions, from bottom
            to top), ``decisions``, ``progress`` and ``messages``. Every text in it can be shown on
            a terminal as it is.
        """
        with self._lock:
            newest, decided = self._newest, list(self._decided.values())
            missing = decided[-1].missing if decided else ()
            names = [*(newest.nodes if newest else ()), *self._strangers()]
            return {
                "site": self.site,
                "now": now,
                "model": newest.describe() if newest else None,
                "nodes": [self._describe_node(name, now) for name in names],
                "parts": newest.describe_parts(self._parts, missing) if newest else [],
                "decisions": self._describe_decisions(decided, now, last),
                "progress": self._progress,
                "messages": {kind: self._totals[kind] for kind in ("messages", *REFUSALS)},
            }

    @property
    def _newest(self) -> Fitting | None:
        return next(reversed(self._fittings.values()), None)

    def _strangers(self) -> list[str]:
        """Name the nodes that are not in the plan."""
        planned = self._newest.nodes if self._newest else {}
        return sorted(self._nodes.keys() - planned.keys())

    # --- taking in -------------------------------------------------------------------------------

    def _take(self, topic: str, payload: bytes, now: float) -> None:
        address = self._topics.parse(topic)
        if address is None:
            raise _RefusedError("elsewhere")
        if not payload:
            return  # somebody let the broker forget what it kept
        of_site: dict[str, Callable[[bytes, float], None]] = {
            "model": self._take_bundle,
            "decision": self._take_decisions,
            "progress": self._take_progress,
            "terms": self._take_terms,
        }
        of_node: dict[str, Callable[[str, bytes, float], None]] = {
            "status": self._take_status,
            "out": self._take_beliefs,
            "in": self._take_readings,
            "ask": self._take_ask,
            "influx": self._pass_over,
        }
        if not address.node and address.what in of_site:
            of_site[address.what](payload, now)
        elif address.node and address.what in of_node:
            of_node[address.what](check_name(address.node), payload, now)
        else:
            raise _RefusedError("elsewhere")

    def _take_bundle(self, payload: bytes, _now: float) -> None:
        bundle = read_bundle(payload, self._trust)
        if bundle.plan.site != self.site:
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
        node.last_seen, node.state, node.model = now, status.state, shown(status.model)
        if status.counters:  # a last will has none
            some = sorted(status.counters.items())[:_MOST_NAMES]
            node.counters = {shown(what): min(count, MAX_SEQUENCE) for what, count in some}

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
        for key, row in new.items():
            self._decide(key, row, fitting, now)

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
        """Note what a part believes, unless an old row is only sent again."""
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
        )
        while len(self._decided) > MOST_DECISIONS:
            self._decided.popitem(last=False)
        self._totals["decisions"] += 1
        self._totals["incomplete"] += bool(row.missing)
        if fitting is not None:  # else anybody could make up names without end
            self._believe(fitting.root, fitting.root_output(row), row.sequence, now)
            self._by_missing.update(map(shown, row.missing))
            self._by_decision.update([shown(row.decision)] if fitting.labels else [])

    # --- describing ------------------------------------------------------------------------------

    def _describe_node(self, name: str, now: float) -> dict[str, Any]:
        node, newest = self._nodes.get(name, WatchedNode()), self._newest
        plan = newest.nodes.get(name) if newest else None
        return {
            "name": name,
            "is_planned": plan is not None,
            "decides": newest is not None and newest.decider == name,
            "runs": [shown(part) for part in plan.runs] if plan else [],
            "state": node.state,
            "model": node.model,
            "has_newest": newest is not None and newest.hash == node.model,
            "heard": node.last_seen,
            "rows": node.rows.total,
            "rate": node.rows.at(now),
            "readings": node.readings.total,
            "reading_rate": node.readings.at(now),
            "counters": dict(node.counters),
        }

    def _describe_decisions(
        self, decided: list[WatchedDecision], now: float, last: int
    ) -> dict[str, Any]:
        n_kept = len(decided)
        missing = Counter(part for one in decided for part in one.missing)
        latencies = sorted(one.latency for one in decided if one.latency is not None)
        return {
            "total": self._totals["decisions"],
            "incomplete_total": self._totals["incomplete"],
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
            "last": [
                {**vars(one), "missing": list(one.missing)}
                for one in reversed(decided[max(n_kept - last, 0) :])
            ],
        }


def _percentiles(ordered: list[float]) -> dict[str, float] | None:
    """Return the values below which half and nearly all lie."""
    if not ordered:
        return None
    last = len(ordered) - 1
    return {"p50": ordered[last // 2], "p99": ordered[int(last * 0.99)]}
