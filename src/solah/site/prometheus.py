"""Write the snapshot of a network as the metrics that Prometheus collects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.metrics_text import Metric, Sample, metrics_text
from solah.site.observer import REFUSALS
from solah.site.site_state import NODE_STATES, STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Snapshot = Mapping[str, Any]
    _Value = tuple[float | None, dict[str, str]]


def metrics(snapshot: Snapshot) -> str:
    """Write counters and gauges in Prometheus' text format.

    Parameters
    ----------
    snapshot : mapping
        As :meth:`solah.site.observer.Observer.snapshot` returns it.

    Returns
    -------
    text : str
        A metric without a value is dropped.

    Examples
    --------
    >>> from solah.site.observer import Observer
    >>> from solah.site.topics import Topics
    >>> print(metrics(Observer(Topics("house")).snapshot(now=0.0)).splitlines()[0])
    # HELP solah_site_state How the site is doing: 1 for the state that it is in.
    """
    parts = (_of_site, _of_decisions, _of_nodes, _of_sensors, _of_models)
    found = (one for part in parts for one in part(snapshot))
    return metrics_text(found, {"site": snapshot["site"]})


def _gauge(name: str, about: str, *samples: _Value) -> Metric:
    return Metric(f"solah_{name}", "gauge", about, _known(samples))


def _counter(name: str, about: str, *samples: _Value) -> Metric:
    return Metric(f"solah_{name}_total", "counter", about, _known(samples))


def _known(samples: Iterable[_Value]) -> list[Sample]:
    return [Sample(value, labels) for value, labels in samples if value is not None]


def _by(
    label: str, counts: Mapping[str, float | None]
) -> list[tuple[float | None, dict[str, str]]]:
    return [(value, {label: key}) for key, value in counts.items()]


def _of_site(snapshot: Snapshot) -> Iterator[Metric]:
    state, messages = snapshot["condition"]["state"], snapshot["messages"]
    states = _by("state", {one: one == state for one in STATES})
    yield _gauge("site_state", "How the site is doing: 1 for the state that it is in.", *states)
    about = "Whether the watcher has a connection to the broker."
    yield _gauge("broker_connected", about, (snapshot["link"]["is_connected"], {}))
    alerts = _by("alert", {one["name"]: 1 for one in snapshot["alerts"]})
    yield _gauge("alert", "1 for each alert that is raised.", *alerts)
    yield _counter("messages", "Messages that were received.", (messages["messages"], {}))
    refused = _by("why", {why: messages[why] for why in REFUSALS})
    yield _counter("messages_refused", "Messages that were refused.", *refused)


def _of_decisions(snapshot: Snapshot) -> Iterator[Metric]:
    found = snapshot["decisions"]
    for name, about, key in (
        ("decisions", "Decisions that were received.", "total"),
        ("decisions_incomplete", "Decisions without some part's values.", "incomplete_total"),
        ("decisions_held_back", "Decisions that the policy withheld.", "held_back_total"),
    ):
        yield _counter(name, about, (found[key], {}))
    for name, about, label, key in (
        ("decided", "Decisions by class.", "decision", "by_decision"),
        ("doubts", "Decisions that were withheld, by reason.", "abstain_reason", "by_doubt"),
        ("missing", "Decisions that lacked a part.", "part", "by_missing"),
    ):
        yield _counter(name, about, *_by(label, found[key]))
    last_at = found["last_at"]
    age = None if last_at is None else max(snapshot["now"] - last_at, 0.0)
    for name, about, value in (
        ("decision_last_seconds", "When the last decision came.", last_at),
        ("decision_age_seconds", "Seconds since the last decision came.", age),
        ("decisions_stale", "Whether new decisions are overdue.", found["is_stale"]),
        (
            "decision_completeness_ratio",
            "The completeness of the last decision.",
            found["completeness"],
        ),
    ):
        yield _gauge(name, about, (value, {}))
    latency = found["latency"] or {}
    quantiles = _by("quantile", {"0.5": latency.get("p50"), "0.99": latency.get("p99")})
    about = "Seconds from a reading to receiving its decision."
    yield _gauge("decision_latency_seconds", about, *quantiles)


def _of_nodes(snapshot: Snapshot) -> Iterator[Metric]:
    nodes = {one["name"]: one for one in snapshot["nodes"]}
    online = _by("node", {name: one["state"] == "online" for name, one in nodes.items()})
    yield _gauge("node_online", "Whether a node is online and sends messages.", *online)
    states = [
        (one["state"] == state, {"node": name, "state": state})
        for name, one in nodes.items()
        for state in NODE_STATES
    ]
    yield _gauge("node_state", "1 for the state that a node is in.", *states)
    heard = _by("node", {name: one["heard"] for name, one in nodes.items()})
    yield _gauge("node_heard_seconds", "When the last message of a node came.", *heard)
    for what, about in (("rows", "Rows that a node sent."), ("readings", "Rows read there.")):
        counts = _by("node", {name: one[what] for name, one in nodes.items()})
        yield _counter(f"node_{what}", about, *counts)
    events = [
        (times, {"node": name, "event": event})
        for name, one in nodes.items()
        for event, times in one["counters"].items()
    ]
    yield _counter("node_events", "What a node counted itself.", *events)


def _of_sensors(snapshot: Snapshot) -> Iterator[Metric]:
    sensors = [
        (one, {"node": node["name"], "feature": one["feature"]})
        for node in snapshot["nodes"]
        for one in node["sensors"]
    ]
    known = [(one["is_known"], labels) for one, labels in sensors]
    yield _gauge("sensor_known", "Whether a feature has a reading that is not too old.", *known)
    ages = [(one["age"], labels) for one, labels in sensors]
    yield _gauge("sensor_age_seconds", "How old the last reading of a feature is.", *ages)
    counts = [
        (times, {**labels, "event": event})
        for one, labels in sensors
        for event, times in one["counts"].items()
    ]
    yield _counter("sensor_messages", "What became of the messages of a feature's sensor.", *counts)


def _of_models(snapshot: Snapshot) -> Iterator[Metric]:
    model, shadow = snapshot["model"], snapshot["shadow"]
    classes = model["classes"] if model else []
    shares = [
        (share, {"part": part["name"], "class": name})
        for part in snapshot["parts"]
        if len(part["belief"]) == len(classes)
        for name, share in zip(classes, part["belief"], strict=True)
    ]
    yield _gauge("belief", "The last probability of a part of the model.", *shares)
    info = [(1, {"hash": model["hash"], "target": model["target"]})] if model else []
    yield _gauge("model_info", "The newest model.", *info)
    if shadow:
        yield _counter("shadow_rows", "Rows decided by both models.", (shadow["rows"], {}))
        yield _counter("shadow_agreed", "Rows decided alike by both.", (shadow["agreed"], {}))
        differing = [
            (one["times"], {"decision": one["decision"], "shadow": one["shadow"]})
            for one in shadow["differing"]
        ]
        about = "Rows decided otherwise by the shadow model, by both decisions."
        yield _counter("shadow_differing", about, *differing)
