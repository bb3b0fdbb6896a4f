"""Raise alerts when something has held for a while, once each, and clear them when it is over.

The rules look at snapshots of a site (:class:`solah.site.observer.Observer`), without a network
or a clock. What cannot be known, as while the broker is away, neither raises nor clears an alert.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from solah.data.json_reader import JsonParser, Reader
from solah.data.spelling import spell
from solah.exceptions import ParameterError, did_you_mean, shorten
from solah.site.messages import MAX_BYTES, MAX_SEQUENCE, VERSION, MessageError
from solah.site.observed import DOUBTS, standing
from solah.site.webhook import Webhook, read_webhook
from solah.site.yaml_reader import parse_yaml

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from solah.site.bundle import Bundle

    Picture = Mapping[str, Any]

Kind = Literal["decision", "held_back", "known_below", "offline", "stale"]
KINDS: tuple[Kind, ...] = ("decision", "held_back", "known_below", "offline", "stale")
ANY = "any"
_MOST_RULES = 100
_MOST_CLASSES = 1_000
_MOST_NAME = 80
_MOST_SECONDS = 30 * 86_400.0
_MOST_ACTIVE = 1_000
_PARSER = JsonParser("the alerts", MessageError, MAX_BYTES)
_FILE = JsonParser("the file", ParameterError, MAX_BYTES)


@dataclass(frozen=True)
class AlertRule:
    """When an alert is raised.

    Attributes
    ----------
    name : what the alert is called
    kind : ``decision`` (one of some classes is decided, and stands), ``held_back`` (the policy says
        that it does not know), ``known_below`` (decisions rest on less than a share of the model's
        knowledge), ``offline`` (a node is offline, silent, or was never there; each node has an
        alert of its own) or ``stale`` (no new decision comes)
    hold : the seconds for which that must hold before the alert is raised
    clear_after : the seconds for which it must not hold before the alert is cleared
    decisions : the classes
    limit : the share of the model's knowledge
    nodes : the nodes; empty for all of the plan
    abstain_reasons : those for which decisions are held back; empty for whatever reason
    """

    name: str
    kind: Kind
    hold: float
    clear_after: float = 0.0
    decisions: tuple[str, ...] = ()
    limit: float = 0.0
    nodes: tuple[str, ...] = ()
    abstain_reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alerting:
    """The alerts of a site, and who gets them beside the broker.

    Attributes
    ----------
    rules : when alerts are raised
    webhook : where they are posted; None for nowhere
    """

    rules: tuple[AlertRule, ...]
    webhook: Webhook | None = None


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


def read_alerting(section: Any, place: str = "alerts") -> Alerting:
    """Read what a settings file has about alerts.

    Parameters
    ----------
    section : what stands behind ``alerts`` in the file
    place : str, default="alerts"
        What errors call it.

    Examples
    --------
    >>> rule = {"name": "damp", "decision": ["wet"], "for": 60}
    >>> read_alerting({"rules": [rule]}).rules[0].decisions
    ('wet',)

    Raises
    ------
    ParameterError
        It names what is wrong.
    """
    fields = Reader(section, place, ParameterError).record(("rules",), ("webhook",))
    rules = tuple(map(_read_rule, fields["rules"].items(1, _MOST_RULES)))
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names):
        raise fields["rules"].fail("a list of rules with different names")
    webhook = read_webhook(fields["webhook"]) if "webhook" in fields else None
    return Alerting(rules, webhook)


def load_alerting(path: str | os.PathLike[str]) -> Alerting:
    """Read the alerts of a file: .json, .yaml or .yml, with all of it below ``alerts``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "alerts.json")
    ...     rule = '{"name": "gone", "offline": "any", "for": 60}'
    ...     _ = file.write_text(f'{{"alerts": {{"rules": [{rule}]}}}}')
    ...     load_alerting(file).rules[0].kind
    'offline'

    Raises
    ------
    ParameterError
        It names the file and what is wrong.
    """
    place = Path(path)
    if place.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise ParameterError(
            f"{path}: alerts are read from .json, .yaml and .yml. "
            f"Got {shorten(place.suffix)} instead."
        )
    data = place.read_bytes()
    try:
        if place.suffix.lower() == ".json":
            value = _FILE.read(data).value
        else:
            value, _ = parse_yaml(data, _FILE.what)
        if not isinstance(value, dict) or "alerts" not in value:
            raise ParameterError("there is no 'alerts' at the top")
        return read_alerting(value["alerts"])
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def check_alerts(alerting: Alerting, bundle: Bundle, place: str = "alerts") -> None:
    """Refuse rules about classes and nodes that a plan does not have.

    Raises
    ------
    ParameterError
        It begins with the place of the rule.
    """
    classes = [spell(one) for one in bundle.model.target.classes]
    nodes = [one.name for one in bundle.plan.nodes]
    for number, rule in enumerate(alerting.rules):
        for what, names, known in (
            ("decision", rule.decisions, classes),
            ("offline", rule.nodes, nodes),
        ):
            for name in names:
                if name not in known:
                    kind = "class" if what == "decision" else "node"
                    raise ParameterError(
                        f"{place}.rules[{number}].{what}: there is no {kind} {shorten(name)}"
                        f"{did_you_mean(name, known)}"
                    )


def _read_rule(reader: Reader) -> AlertRule:
    fields = reader.record(("name", "for"), ("clear_after", *KINDS))
    kinds = [kind for kind in KINDS if kind in fields]
    if len(kinds) != 1:
        raise ParameterError(f"{reader.place} must have one of {', '.join(KINDS)}")
    (kind,) = kinds
    about = fields[kind]
    name = fields["name"].text(1, _MOST_NAME)
    if not name.isprintable():
        raise fields["name"].fail("a text that can be printed")
    if kind == "stale" and about.value is not True:
        raise about.fail("true")
    return AlertRule(
        name=name,
        kind=kind,
        hold=fields["for"].number(0.0, _MOST_SECONDS),
        clear_after=(
            fields["clear_after"].number(0.0, _MOST_SECONDS) if "clear_after" in fields else 0.0
        ),
        decisions=about.texts(1, _MOST_CLASSES) if kind == "decision" else (),
        limit=about.number(0.0, 1.0) if kind == "known_below" else 0.0,
        nodes=about.texts(1, _MOST_CLASSES) if kind == "offline" and about.value != ANY else (),
        abstain_reasons=_read_doubts(about) if kind == "held_back" and about.value != ANY else (),
    )


def _read_doubts(abstain_reasons: Reader) -> tuple[str, ...]:
    names = abstain_reasons.texts(1, len(DOUBTS))
    for name in names:
        if name not in DOUBTS:
            raise abstain_reasons.fail(f"'{ANY}', or a list of {', '.join(DOUBTS)}")
    return names


# --- judging ---------------------------------------------------------------------------------


@dataclass
class _Watch:
    """How long something has held, and whether an alert is raised."""

    rule: AlertRule
    since: float | None = None  # when it began to hold
    until: float | None = None  # when it stopped to hold
    raised: Alert | None = None


class Alarms:
    """Follows the rules of a site from snapshot to snapshot.

    Parameters
    ----------
    rules : sequence of AlertRule

    Examples
    --------
    >>> from solah.site.observer import Observer
    >>> from solah.site.topics import Topics
    >>> alarms = Alarms([AlertRule("nothing comes", "stale", hold=60.0)])
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

    def update(self, snapshot: Picture) -> list[Alert]:
        """Judge a snapshot; return the alerts that are raised or cleared by it."""
        new = self._new_decisions(snapshot)
        found = [one for rule in self._rules for one in _judge(rule, snapshot, new)]
        if not self._has_begun:
            self._resume(snapshot, {name: rule for name, rule, _, _ in found})
        changes = []
        for name, rule, holds, text in found:
            watch = self._watches.setdefault(name, _Watch(rule))
            if holds is not None and (change := _step(watch, name, holds, text, snapshot["now"])):
                changes.append(change)
            elif holds is None:
                watch.since = watch.until = None
        return changes

    def _resume(self, snapshot: Picture, rules: Mapping[str, AlertRule]) -> None:
        """Go on with the alerts that the broker keeps, so that none is raised again."""
        self._has_begun = True
        for one in snapshot["alerts"]:
            if one["name"] in rules:
                alert = Alert(one["name"], one["text"], one["since"])
                self._watches[alert.name] = _Watch(rules[alert.name], raised=alert)

    def _new_decisions(self, snapshot: Picture) -> list[Picture]:
        """Return the decisions since the last snapshot, so that none between two is missed."""
        last = snapshot["decisions"]["last"]
        new = list(takewhile(lambda one: (one["row"], one["time"]) != self._last, last))
        if last:
            self._last = (last[0]["row"], last[0]["time"])
        return new or last[:1]


def _step(watch: _Watch, name: str, holds: bool, text: str, now: float) -> Alert | None:
    """Note whether something holds now; return an alert that is raised or cleared."""
    if holds:
        watch.until = None
        watch.since = now if watch.since is None else watch.since
        if watch.raised is None and now - watch.since >= watch.rule.hold:
            watch.raised = Alert(name, text, watch.since, "raised", now)
            return watch.raised
        return None
    watch.since = None
    watch.until = now if watch.until is None else watch.until
    if watch.raised is not None and now - watch.until >= watch.rule.clear_after:
        before, watch.raised = watch.raised, None
        return Alert(name, f"no longer: {before.text}", before.since, "cleared", now)
    return None


_Found = tuple[str, AlertRule, bool | None, str]


def _judge(rule: AlertRule, snapshot: Picture, new: Sequence[Picture]) -> Iterator[_Found]:
    """Yield each alert of a rule: whether it holds, None where nobody knows, and what in words."""
    decisions = snapshot["decisions"]
    is_lost = snapshot["link"]["is_connected"] is False
    if rule.kind == "offline":
        states = {one["name"]: one["state"] for one in snapshot["nodes"]}
        planned = [one["name"] for one in snapshot["nodes"] if one["is_planned"]]
        for node in rule.nodes or planned:
            state = states.get(node, "unknown")
            holds = None if is_lost else state != "online"
            yield f"{rule.name} ({node})", rule, holds, f"node {node} is {state}"
        return
    is_dead = is_lost or decisions["is_stale"] or not new
    if rule.kind == "stale":
        yield rule.name, rule, is_dead, "no new decision comes"
    elif is_dead:
        yield rule.name, rule, None, ""
    elif rule.kind == "decision":
        yield rule.name, rule, _is_decided(rule, new), f"{standing(new[0])} is decided"
    elif rule.kind == "held_back":
        holds = all(_is_held_back(rule, one) for one in new)
        why = ", ".join(new[0]["abstain_reasons"]) or "it has not settled"
        yield rule.name, rule, holds, f"no decision stands: {why}"
    else:
        holds = all(one["known"] < rule.limit for one in new)
        text = f"completeness is below {rule.limit:.0%}"
        yield rule.name, rule, holds, text


def _is_decided(rule: AlertRule, new: Sequence[Picture]) -> bool | None:
    """Whether one of some classes stands, on all rows; None where it is "don't know" on some."""
    standings = [standing(one) for one in new]
    if any(one is not None and one not in rule.decisions for one in standings):
        return False
    return None if None in standings else True


def _is_held_back(rule: AlertRule, decision: Picture) -> bool:
    has_doubt = not rule.abstain_reasons or not set(rule.abstain_reasons).isdisjoint(
        decision["abstain_reasons"]
    )
    return standing(decision) is None and has_doubt


# --- messages --------------------------------------------------------------------------------


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
    fields = _PARSER.read(payload).record(("v", "alerts"))
    if fields["v"].value != VERSION:
        raise fields["v"].fail(f"{VERSION}")
    return tuple(map(_read_alert, fields["alerts"].items(0, _MOST_ACTIVE)))


def _read_alert(reader: Reader) -> Alert:
    fields = reader.record(("name", "text", "since"))
    since = fields["since"].number(0.0, float(MAX_SEQUENCE))
    return Alert(fields["name"].text(1, 500), fields["text"].text(0, 500), since)
