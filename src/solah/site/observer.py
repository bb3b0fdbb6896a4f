"""Follow the messages of a site and keep a snapshot of it, without a network or a clock.

Any message on the site's topics may be put in. What cannot be read or does not fit the plan is
counted and changes nothing else, and what is kept has bounds.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict, deque
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.spelling import spell, spell_number
from solah.exceptions import SolahError
from solah.model.document import Task
from solah.model.evaluate import part_outputs
from solah.site.alerts import decode_alerts
from solah.site.bundle import read_bundle
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
from solah.site.output_check import Expectation
from solah.site.plan import check_name
from solah.site.site_state import DOUBTS, SILENT_AFTER, condition_of, shown, stale_after
from solah.site.trust import refuse_older

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.site.bundle import Bundle
    from solah.site.messages import Decided, NodeOutput, SensorReport
    from solah.site.topics import Topics
    from solah.site.trust import Trust

MOST_DECISIONS = 200
MOST_STRANGERS = 100
"""How many nodes are kept that are not in the plan."""
MOST_SENSORS = 500
"""How many sensors of a node are kept."""
REFUSALS = ("unreadable", "unfit", "other_model", "elsewhere")
"""Why messages are not taken."""

_WINDOW = 5.0  # seconds over which rates are measured
_BUCKETS_A_SECOND = 4
_MOST_BUNDLES = 4
_MOST_NAMES = 50
_MOST_ARRIVALS = 64
# A row that is further off shows a replay or a wrong clock, not a delay in the network.
_MOST_LATENCY = 3_600.0


class _RefusedError(Exception):
    """A readable message that is not taken, with the reason."""


@dataclass
class _Rate:
    """Counts things, and how many came a second of late."""

    total: int = 0
    first: float | None = None
    buckets: deque[tuple[float, int]] = field(
        default_factory=lambda: deque(maxlen=int(_WINDOW * _BUCKETS_A_SECOND) + 1)
    )

    def add(self, count: int, now: float) -> None:
        self.total += count
        self.first = now if self.first is None else self.first
        start = now * _BUCKETS_A_SECOND // 1 / _BUCKETS_A_SECOND
        if self.buckets and self.buckets[-1][0] == start:
            count += self.buckets.pop()[1]
        self.buckets.append((start, count))

    def at(self, now: float) -> float:
        if self.first is None:
            return 0.0
        late = sum(count for start, count in self.buckets if now - _WINDOW < start <= now)
        return round(late / min(max(now - self.first, 1.0), _WINDOW), 2)


@dataclass
class _Node:
    """A node, as known from its messages."""

    state: str = "unknown"  # by its last status
    state_at: float = 0.0  # when that came; the broker may have kept it for long
    model: str = ""
    last_seen: float | None = None  # when the last message came that the broker had not kept
    counters: dict[str, int] = field(default_factory=dict)
    sensors: dict[str, SensorReport] = field(default_factory=dict)
    rows: _Rate = field(default_factory=_Rate)
    readings: _Rate = field(default_factory=_Rate)


class _Fitting:
    """A plan, by which messages are checked and described."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle, model, plan = bundle, bundle.model, bundle.plan
        self.hash, self.root = bundle.hash, model.root.name
        self.nodes = {node.name: node for node in plan.nodes}
        self.decider = plan.home[self.root]
        self.labels = [spell(state) for state in model.target.classes]
        self._expectation = Expectation(model)
        self._names = {*plan.home, *(one.name for one in model.features)}
        self._sent = {self.root}.union(*(node.sends for node in plan.nodes))

    def may_send(self, node: str, row: NodeOutput) -> bool:
        """Whether this is what that node sends of a row."""
        return (
            node in self.nodes
            and {*row.signals, *row.readings} <= set(self.nodes[node].sends)
            and self._expectation.fits(row)
        )

    def may_decide(self, node: str, row: Decided) -> bool:
        """Whether that node decides, and on one of the classes."""
        is_known = row.decision in self.labels if self.labels else _is_number(row.decision)
        return (
            node == self.decider
            and is_known
            and row.stable in (*self.labels, "", None)
            and set(row.abstain_reasons).issubset(DOUBTS)
            and row.probabilities.keys() == set(self.labels)
            and self._names >= set(row.missing)
        )

    def output(self, part: str, signal: tuple[float, ...]) -> dict[str, Any]:
        """Describe the output of a part: of a term, from its scores."""
        target = self.bundle.model.target
        belief = part_outputs(self.bundle.model.program, part, np.array([signal]))[0]
        if target.is_additive_number:
            return _number(float(belief[0]))
        shares = [round(share, 4) for share in belief.tolist()]
        if target.task is Task.REGRESSION:
            return {**_number(float(np.dot(belief, target.centres))), "belief": shares}
        place = int(target.decide(belief[None])[0])
        return {"belief": shares, "says": shown(self.labels[place]), "certainty": shares[place]}

    def describe(self) -> dict[str, Any]:
        """Describe the model, ready for JSON."""
        target = self.bundle.model.target
        return {
            "hash": self.hash,
            "starts": self.bundle.starts,
            "target": shown(target.name),
            "task": target.task.value,
            "classes": [shown(label) for label in self.labels],
        }

    def describe_parts(
        self, received: Mapping[str, dict[str, Any]], missing: list[str]
    ) -> list[dict[str, Any]]:
        """Describe the parts from bottom to top, given their last outputs."""
        parts = self.bundle.model.parts
        places = {part.name: place for place, part in enumerate(parts)}
        nothing: dict[str, Any] = {
            "row": None,
            "heard": None,
            "belief": [],
            "says": None,
            "certainty": None,
        }
        found = []
        for part in parts:
            state = "waiting" if part.name in self._sent else "inside"
            state = "heard" if part.name in received else state
            found.append(
                {
                    "place": places[part.name],
                    "name": shown(part.name),
                    "node": self.bundle.plan.home[part.name],
                    "kind": part.kind,
                    "hears": [places[one] for one in part.origins if one in places],
                    "asks": [shown(one) for one in part.origins if one not in places],
                    "state": "missing" if shown(part.name) in missing else state,
                    **received.get(part.name, nothing),
                }
            )
        return found


class Observer:
    """Watches a site; its methods may be called from any thread.

    Parameters
    ----------
    topics : Topics
        The topics of the site.
    trust : Trust, default=None
        Whose plans are taken, as :func:`solah.site.trust.load_trust` reads it, and none that is
        older than the newest; None for everyone's.
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
        self._fittings: OrderedDict[str, _Fitting] = OrderedDict()
        self._nodes: dict[str, _Node] = {}
        self._parts: dict[str, dict[str, Any]] = {}  # the last output of each
        self._decided: OrderedDict[tuple[str, int, float], dict[str, Any]] = OrderedDict()
        self._rate = _Rate()
        self._totals: Counter[str] = Counter()
        self._by: dict[str, Counter[str]] = {
            kind: Counter() for kind in ("by_decision", "by_missing", "by_doubt")
        }
        self._progress: int | None = None
        self._arrivals: deque[float] = deque(maxlen=_MOST_ARRIVALS)
        self._link: dict[str, Any] = {"is_connected": None, "since": None}
        self._shadow: tuple[_Fitting, Comparison] | None = None
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
                self._parts.clear()
                for counter in self._by.values():
                    counter.clear()
            self._fittings[bundle.hash] = _Fitting(bundle)
            self._fittings.move_to_end(bundle.hash)
            while len(self._fittings) > _MOST_BUNDLES:
                self._fittings.popitem(last=False)
            for gone in self._unplanned()[MOST_STRANGERS:]:
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
            newest, decisions = self._newest, self._describe_decisions(now, last)
            names = [*(newest.nodes if newest else ()), *self._unplanned()]
            nodes = [self._describe_node(name, now) for name in names]
            missing, shadow = decisions["last_missing"], None
            if self._shadow is not None:
                fitting, comparison = self._shadow
                starts = fitting.bundle.starts
                shadow = {"hash": fitting.hash, "starts": starts, **comparison.describe()}
            return {
                "site": self.site,
                "now": now,
                "condition": condition_of(nodes, decisions, self.is_connected).describe(),
                "link": self._link,
                "model": newest.describe() if newest else None,
                "nodes": nodes,
                "parts": newest.describe_parts(self._parts, missing) if newest else [],
                "decisions": decisions,
                "shadow": shadow,
                "alerts": self._alerts,
                "progress": self._progress,
                "messages": {kind: self._totals[kind] for kind in ("messages", *REFUSALS)},
            }

    @property
    def _newest(self) -> _Fitting | None:
        return next(reversed(self._fittings.values()), None)

    def _unplanned(self) -> list[str]:
        """Name the nodes that are not in the plan."""
        planned = self._newest.nodes if self._newest else {}
        return sorted(self._nodes.keys() - planned.keys())

    # --- taking in -------------------------------------------------------------------------------

    def _take(self, topic: str, payload: bytes, now: float) -> None:
        address = self._topics.parse(topic)
        if address is None:
            raise _RefusedError("elsewhere")
        if not payload:  # the broker forgets what it kept
            if topic == self._topics.shadow.model:
                self._shadow = None
            return
        name, lane = address.node, self._topics.shadow.lane
        bundles = [fitting.bundle for fitting in self._fittings.values()]
        match bool(name), address.what:
            case False, "model":
                self._take_bundle(payload)
            case False, "decision":
                self._take_decisions(payload, now)
            case False, "progress":
                self._progress = decode_progress(payload)
            case False, "alerts":
                self._alerts = [
                    {"name": shown(one.name), "text": shown(one.text), "since": one.since}
                    for one in decode_alerts(payload)[:_MOST_NAMES]
                ]
            case False, "terms":
                decode_terms(payload, bundles)  # only to be counted if it cannot be read
            case False, what if what == f"{lane}model":
                self._take_shadow(payload)
            case False, what if what == f"{lane}decision":
                self._take_shadow_decisions(payload)
            case True, "status":
                self._take_status(check_name(name), payload, now)
            case True, "out":
                self._take_beliefs(check_name(name), payload, bundles, now)
            case True, "in":
                n_rows = len(decode_readings(payload))
                self._node(check_name(name), name).readings.add(n_rows, now)
            case True, "ask":
                check_name(name)
                decode_ask(payload)
            case (False, "alert") | (True, "shadow-out" | "shadow-ask"):
                pass  # is for others
            case _:
                raise _RefusedError("elsewhere")

    def _take_bundle(self, payload: bytes) -> None:
        bundle = read_bundle(payload, self._trust)
        if bundle.plan.site != self.site or bundle.is_shadow:
            raise _RefusedError("unfit")
        if self._trust is not None and self._newest is not None:
            refuse_older(bundle, self._newest.bundle)
        self.adopt(bundle)

    def _take_status(self, name: str, payload: bytes, now: float) -> None:
        status = decode_status(payload)
        node = self._node(name, status.node)
        node.state, node.state_at, node.model = status.state, now, shown(status.model)
        if not self._is_retained:
            node.last_seen = now
        if status.counters:  # a last will has none
            some = sorted(status.counters.items())[:_MOST_NAMES]
            node.counters = {shown(what): min(count, MAX_SEQUENCE) for what, count in some}
            node.sensors = dict(sorted(status.sensors.items())[:MOST_SENSORS])

    def _take_beliefs(self, name: str, payload: bytes, bundles: list[Bundle], now: float) -> None:
        message = decode_rows(payload, name, bundles)
        fitting = self._fittings.get(message.model)
        if fitting is None:
            raise _RefusedError("other_model")
        if not all(fitting.may_send(name, row) for row in message.rows):
            raise _RefusedError("unfit")
        node = self._node(name, message.node)
        node.last_seen = now
        node.rows.add(len(message.rows), now)
        for row in message.rows[-1:]:
            for part, signal in row.signals.items():
                self._note_output(part, fitting.output(part, signal), row.sequence, now)

    def _take_decisions(self, payload: bytes, now: float) -> None:
        message = decode_decisions(payload)
        fitting = self._fittings.get(message.model)
        if self._fittings and fitting is None:
            raise _RefusedError("other_model")
        if fitting and not all(fitting.may_decide(message.node, row) for row in message.rows):
            raise _RefusedError("unfit")
        rows = {(message.model, row.sequence, row.time): row for row in message.rows}
        new = {key: row for key, row in rows.items() if key not in self._decided}
        node = self._node(check_name(message.node), message.node)
        node.last_seen = now
        node.rows.add(len(new), now)
        self._rate.add(len(new), now)
        self._arrivals.extend([now] if new else [])
        for key, row in new.items():
            self._decided[key] = _decision(row, fitting, now)
            self._note_decision(row, fitting, now)
        while len(self._decided) > MOST_DECISIONS:
            self._decided.popitem(last=False)

    def _note_decision(self, row: Decided, fitting: _Fitting | None, now: float) -> None:
        self._totals["decisions"] += 1
        self._totals["incomplete"] += bool(row.missing)
        self._totals["held_back"] += row.stable is None
        if self._shadow is not None:
            self._shadow[1].take(row.sequence, shown(row.decision), is_shadow=False)
        if fitting is not None:  # else anybody could make up names without end
            output = _number(float(row.decision)) if not fitting.labels else None
            if output is None:
                signal = tuple(row.probabilities[label] for label in fitting.labels)
                output = fitting.output(fitting.root, signal)
            self._note_output(fitting.root, output, row.sequence, now)
            self._by["by_missing"].update(map(shown, row.missing))
            self._by["by_decision"].update([shown(row.decision)] if fitting.labels else [])
            self._by["by_doubt"].update(row.abstain_reasons)

    def _take_shadow(self, payload: bytes) -> None:
        bundle = read_bundle(payload, self._trust)
        if bundle.plan.site != self.site or not bundle.is_shadow:
            raise _RefusedError("unfit")
        if self._shadow is None or self._shadow[0].hash != bundle.hash:
            fitting = _Fitting(bundle)
            self._shadow = (fitting, Comparison(is_number=not fitting.labels))

    def _take_shadow_decisions(self, payload: bytes) -> None:
        message = decode_decisions(payload)
        if self._shadow is None or self._shadow[0].hash != message.model:
            raise _RefusedError("other_model")
        fitting, comparison = self._shadow
        if not all(fitting.may_decide(message.node, row) for row in message.rows):
            raise _RefusedError("unfit")
        for row in message.rows:
            comparison.take(row.sequence, shown(row.decision), is_shadow=True)

    def _node(self, name: str, sender: str) -> _Node:
        """Find a node, or begin to watch it."""
        if name != sender:
            raise _RefusedError("unfit")
        if name not in self._nodes:
            is_planned = self._newest is not None and name in self._newest.nodes
            if not is_planned and len(self._unplanned()) >= MOST_STRANGERS:
                raise _RefusedError("unfit")
            self._nodes[name] = _Node()
        return self._nodes[name]

    def _note_output(self, part: str, output: dict[str, Any], row: int, now: float) -> None:
        """Note the output of a part, unless an old row is only sent again."""
        before = self._parts.get(part)
        if before is None or row >= before["row"] or now - before["heard"] > _WINDOW:
            self._parts[part] = {"row": row, "heard": now, **output}

    # --- describing ------------------------------------------------------------------------------

    def _describe_node(self, name: str, now: float) -> dict[str, Any]:
        node, newest = self._nodes.get(name, _Node()), self._newest
        plan = newest.nodes.get(name) if newest else None
        is_old = now - max(node.state_at, node.last_seen or 0.0) > SILENT_AFTER
        return {
            "name": name,
            "is_planned": plan is not None,
            "decides": newest is not None and newest.decider == name,
            "runs": [shown(part) for part in plan.runs] if plan else [],
            "state": "silent" if node.state == "online" and is_old else node.state,
            "model": node.model,
            "has_newest": newest is not None and newest.hash == node.model,
            "heard": node.last_seen,
            "rows": node.rows.total,
            "rate": node.rows.at(now),
            "readings": node.readings.total,
            "reading_rate": node.readings.at(now),
            "counters": node.counters,
            "sensors": [
                {
                    **asdict(one),
                    "feature": shown(name),
                    "counts": {shown(what): count for what, count in one.counts.items()},
                }
                for name, one in node.sensors.items()
            ],
        }

    def _describe_decisions(self, now: float, last: int) -> dict[str, Any]:
        decided = [*self._decided.values()]
        n_kept = len(decided)
        missing = Counter(part for one in decided for part in one["missing"])
        latencies = sorted(one["latency"] for one in decided if one["latency"] is not None)
        last_at = self._arrivals[-1] if self._arrivals else None
        sending = self._newest.bundle.plan.sending if self._newest else None
        keep_alive = sending.keep_alive if sending else 0.0
        limit = self._stale_after or stale_after(self._arrivals, keep_alive)
        return {
            "last_at": last_at,
            "last_missing": decided[-1]["missing"] if decided else [],
            "stale_after": limit,
            "is_stale": last_at is not None and now - last_at > limit,
            "total": self._totals["decisions"],
            "incomplete_total": self._totals["incomplete"],
            "held_back_total": self._totals["held_back"],
            "rate": self._rate.at(now),
            "kept": n_kept,
            "completeness": decided[-1]["completeness"] if decided else None,
            "incomplete": sum(bool(one["missing"]) for one in decided) / max(n_kept, 1),
            "missing": [
                {"part": part, "times": times} for part, times in missing.most_common(_MOST_NAMES)
            ],
            "latency": {
                name: latencies[int((len(latencies) - 1) * share)]
                for name, share in (("p50", 0.5), ("p99", 0.99))
            }
            if latencies
            else None,
            **{kind: dict(sorted(counts.items())) for kind, counts in self._by.items()},
            "last": decided[: -last - 1 : -1] if last else [],
        }


def _decision(row: Decided, fitting: _Fitting | None, now: float) -> dict[str, Any]:
    """Describe a decision, ready for JSON."""
    late, labels = now - row.time, fitting.labels if fitting else []
    return {
        "row": row.sequence,
        "time": row.time,
        "decision": shown(row.decision),
        "place": labels.index(row.decision) if labels else None,
        "certainty": row.probabilities.get(row.decision),
        "missing": [shown(one) for one in row.missing[:_MOST_NAMES]],
        "completeness": row.completeness,
        "latency": round(late, 4) if abs(late) < _MOST_LATENCY else None,
        "age": None if row.oldest is None else round(max(row.time - row.oldest, 0.0), 3),
        "stable": shown(row.stable) if row.stable else row.stable,
        "abstain_reasons": [shown(one) for one in row.abstain_reasons[:_MOST_NAMES]],
    }


def _number(number: float) -> dict[str, Any]:
    return {"belief": [], "says": f"about {spell_number(number)}", "certainty": None}


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
