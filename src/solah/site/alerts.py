"""Raise alerts when something has held for a while, once each, and clear them when it is over.

The rules look at snapshots of a site (:class:`solah.site.observer.Observer`), without a network
or a clock. An alert keeps its state while it cannot be evaluated, as while the broker is away.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal

from solah.data.json_reader import JsonParser
from solah.data.spelling import spell
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.model.json_fields import read_record
from solah.site.fields import either, items, kind, number, record, setting, text, texts
from solah.site.messages import MAX_BYTES, MAX_SEQUENCE, VERSION, MessageError
from solah.site.site_state import DOUBTS, standing
from solah.site.webhook import Webhook

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from solah.data.json_reader import Reader
    from solah.site.bundle import Bundle

    Snapshot = Mapping[str, Any]

KINDS = ("decision", "abstains", "completeness_below", "offline", "stale")
_ANY = "any"
_MOST_SECONDS = 30 * 86_400.0
_MOST_ACTIVE = 1_000
_PARSER = JsonParser("the alerts", MessageError, MAX_BYTES)


def _printable(name: str) -> str:
    if not name.isprintable():
        raise ParameterError(f"must be a text that can be printed. Got {shorten(name)} instead.")
    return name


def _read_any(reader: Reader) -> tuple[str, ...]:
    if reader.value != _ANY:
        raise reader.fail(f"'{_ANY}' or a list")
    return ()


def _read_true(reader: Reader) -> bool:
    if reader.value is not True:
        raise reader.fail("true")
    return True


_NAMES = texts(1, 1_000)
_SOME = either((list, _NAMES), otherwise=kind(_read_any, const=_ANY))  # an empty tuple for any
_SECONDS = number(0.0, _MOST_SECONDS)


@dataclass(frozen=True)
class AlertRule:
    """When an alert is raised: after its one condition has held for some seconds.

    Attributes
    ----------
    name : what the alert is called
    hold : the seconds for which the condition must hold before the alert is raised
    clear_after : the seconds for which it must not hold before the alert is cleared
    decision : one of these classes is the stable decision
    abstains : the policy abstains, for one of these reasons; empty for any
    completeness_below : the completeness of decisions is less
    offline : a node of these is offline, silent or was never there, each with an alert of its own;
        empty for all of the plan
    stale : no new decision comes
    """

    name: str = setting(text(_printable, 80))
    hold: float = setting(_SECONDS, key="for")
    clear_after: float = setting(_SECONDS, 0.0)
    decision: tuple[str, ...] | None = setting(_NAMES, None)
    abstains: tuple[str, ...] | None = setting(_SOME, None)
    completeness_below: float | None = setting(number(0.0, 1.0), None)
    offline: tuple[str, ...] | None = setting(_SOME, None)
    stale: bool | None = setting(kind(_read_true, const=True), None)

    def __post_init__(self) -> None:
        if sum(getattr(self, one) is not None for one in KINDS) != 1:
            raise ParameterError(f"a rule must have one of {', '.join(KINDS)}")
        if not set(self.abstains or ()).issubset(DOUBTS):
            raise ParameterError(f"'abstains' must be '{_ANY}' or a list of {', '.join(DOUBTS)}")


@dataclass(frozen=True)
class Alerting:
    """The alerts of a site, and who gets them beside the broker."""

    rules: tuple[AlertRule, ...] = setting(items(record(AlertRule), 1, 100))
    webhook: Webhook | None = setting(record(Webhook), None)

    def __post_init__(self) -> None:
        if len({rule.name for rule in self.rules}) < len(self.rules):
            raise ParameterError("'rules' must have different names")


@dataclass(frozen=True)
class Alert:
    """An alert that is raised, or was.

    Attributes
    ----------
    name : what it is called
    text : what holds, in words
    since : since when it holds, in seconds since 1970
    state : ``raised`` or ``cleared``
    time : when it was raised or cleared
    """

    name: str
    text: str
    since: float
    state: Literal["raised", "cleared"] = "raised"
    time: float = 0.0


def check_alerts(alerting: Alerting, bundle: Bundle) -> None:
    """Refuse rules about classes and nodes that a plan does not have.

    Raises
    ------
    ParameterError
        It begins with the place of the rule.
    """
    known = {
        "decision": ("class", [spell(one) for one in bundle.model.target.classes]),
        "offline": ("node", [one.name for one in bundle.plan.nodes]),
    }
    for index, rule in enumerate(alerting.rules):
        for key, (what, names) in known.items():
            for name in getattr(rule, key) or ():
                if name not in names:
                    raise ParameterError(
                        f"site.alerts.rules[{index}].{key}: there is no {what} {shorten(name)}"
                        f"{did_you_mean(name, names)}"
                    )


# --- raising -------------------------------------------------------------------------------------


@dataclass
class _Watch:
    """How long the condition of a rule has held, and whether an alert is raised."""

    rule: AlertRule
    since: float | None = None  # when it began to hold
    until: float | None = None  # when it stopped to hold
    raised: Alert | None = None

    def step(self, name: str, holds: bool | None, text: str, now: float) -> Alert | None:
        """Note whether the condition holds, if known; return an alert that is raised or cleared."""
        if holds is None:
            self.since = self.until = None
        elif holds:
            self.until = None
            self.since = now if self.since is None else self.since
            if self.raised is None and now - self.since >= self.rule.hold:
                self.raised = Alert(name, text, self.since, "raised", now)
                return self.raised
        else:
            self.since = None
            self.until = now if self.until is None else self.until
            if self.raised is not None and now - self.until >= self.rule.clear_after:
                before, self.raised = self.raised, None
                return Alert(name, f"no longer: {before.text}", before.since, "cleared", now)
        return None


class Alarms:
    """Follows the rules of a site from snapshot to snapshot.

    Parameters
    ----------
    rules : sequence of AlertRule

    Examples
    --------
    >>> from solah.site.observer import Observer
    >>> from solah.site.topics import Topics
    >>> alarms = Alarms([AlertRule("nothing comes", 60.0, stale=True)])
    >>> observer = Observer(Topics("house"))
    >>> for now in (0.0, 59.0, 61.0, 90.0):
    ...     print([one.name for one in alarms.update(observer.snapshot(now))])
    []
    []
    ['nothing comes']
    []
    """

    def __init__(self, rules: Sequence[AlertRule]) -> None:
        self._rules = tuple(rules)
        self._watches: dict[str, _Watch] = {}
        self._last: tuple[Any, ...] | None = None
        self._has_begun = False

    @property
    def active(self) -> list[Alert]:
        """The alerts that are raised."""
        return [watch.raised for watch in self._watches.values() if watch.raised is not None]

    def update(self, snapshot: Snapshot) -> list[Alert]:
        """Evaluate a snapshot; return the alerts that it raises or clears."""
        new = self._new_decisions(snapshot)
        changes = []
        for rule in self._rules:
            for name, holds, what in _evaluate(rule, snapshot, new):
                watch = self._watches.setdefault(name, _Watch(rule))
                if not self._has_begun:  # the broker keeps what is raised, so that it is not again
                    kept = (one for one in snapshot["alerts"] if one["name"] == name)
                    watch.raised = next((Alert(name, a["text"], a["since"]) for a in kept), None)
                if change := watch.step(name, holds, what, snapshot["now"]):
                    changes.append(change)
        self._has_begun = True
        return changes

    def _new_decisions(self, snapshot: Snapshot) -> list[Snapshot]:
        """Return the decisions since the last snapshot, so that none between two is missed."""
        last = snapshot["decisions"]["last"]
        new = list(takewhile(lambda one: (one["row"], one["time"]) != self._last, last))
        if last:
            self._last = (last[0]["row"], last[0]["time"])
        return new or last[:1]


def _evaluate(
    rule: AlertRule, snapshot: Snapshot, new: Sequence[Snapshot]
) -> Iterator[tuple[str, bool | None, str]]:
    """Yield each alert of a rule: its name, whether it holds if that is known, and its text."""
    is_lost = snapshot["link"]["is_connected"] is False
    is_dead = is_lost or snapshot["decisions"]["is_stale"] or not new
    if rule.offline is not None:
        states = {one["name"]: one["state"] for one in snapshot["nodes"]}
        planned = [one["name"] for one in snapshot["nodes"] if one["is_planned"]]
        for node in rule.offline or planned:
            state = states.get(node, "unknown")
            holds = None if is_lost else state != "online"
            yield f"{rule.name} ({node})", holds, f"node {node} is {state}"
    elif rule.stale:
        yield rule.name, is_dead, "no new decision comes"
    elif is_dead:
        yield rule.name, None, ""
    elif rule.decision is not None:
        decided = [standing(one) for one in new]
        holds = None if None in decided else True  # abstaining neither raises nor clears
        if any(one is not None and one not in rule.decision for one in decided):
            holds = False
        yield rule.name, holds, f"{decided[0]} is decided"
    elif rule.abstains is not None:
        reasons = set(rule.abstains or DOUBTS)
        why = ", ".join(new[0]["abstain_reasons"]) or "it is not stable yet"
        holds = all(
            standing(one) is None
            and (not rule.abstains or not reasons.isdisjoint(one["abstain_reasons"]))
            for one in new
        )
        yield rule.name, holds, f"the site abstains: {why}"
    else:
        limit = rule.completeness_below or 0.0
        holds = all(one["completeness"] < limit for one in new)
        yield rule.name, holds, f"completeness is below {limit:.0%}"


# --- messages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Raised:
    """An alert in the list of those that are raised."""

    name: str = setting(text(most=500))
    text: str = setting(kind(lambda reader: reader.text(0, 500)))
    since: float = setting(number(0.0, float(MAX_SEQUENCE)))


@dataclass(frozen=True)
class _AllRaised:
    """The list of those that are raised."""

    v: int = setting(kind(lambda reader: reader.integer(VERSION, VERSION)))
    alerts: tuple[_Raised, ...] = setting(items(record(_Raised), 0, _MOST_ACTIVE))


def encode_alert(alert: Alert, site: str) -> bytes:
    """Write an alert as JSON, for the broker and for webhooks."""
    return json.dumps({"v": VERSION, "site": site, **vars(alert)}, ensure_ascii=False).encode()


def encode_alerts(alerts: Sequence[Alert]) -> bytes:
    """Write all alerts that are raised."""
    plain = [{"name": one.name, "text": one.text, "since": one.since} for one in alerts]
    return json.dumps({"v": VERSION, "alerts": plain}, ensure_ascii=False).encode()


def decode_alerts(payload: bytes) -> tuple[Alert, ...]:
    """Read all alerts that are raised.

    Examples
    --------
    >>> decode_alerts(encode_alerts([Alert("damp", "wet is decided", 7.0)]))[0].name
    'damp'
    """
    found = read_record(_PARSER.read(payload), _AllRaised)
    return tuple(Alert(one.name, one.text, one.since) for one in found.alerts)
