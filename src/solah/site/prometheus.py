"""Write the snapshot of a network as the metrics that Prometheus collects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from solah.metrics_text import Metric, Sample, metrics_text
from solah.site.observed import NODE_STATES
from solah.site.observer import REFUSALS
from solah.site.site_state import STATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Picture = Mapping[str, Any]


def metrics(snapshot: Picture) -> str:
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
    return metrics_text(site_metrics(snapshot), {"site": snapshot["site"]})


def site_metrics(snapshot: Picture) -> tuple[Metric, ...]:
    """Return all metrics of a snapshot; those that have no value now have no samples."""
    return (
        *_of_site(snapshot),
        *_of_decisions(snapshot),
        *_of_nodes(snapshot),
        *_of_beliefs(snapshot),
        *_of_shadow(snapshot),
    )


def _of_site(snapshot: Picture) -> Iterator[Metric]:
    yield Metric(
        "solah_site_state",
        "gauge",
        "How the site is doing: 1 for the state that it is in.",
        _one_of(STATES, snapshot["condition"]["state"]),
    )
    is_connected = snapshot["link"]["is_connected"]
    yield Metric(
        "solah_broker_connected",
        "gauge",
        "Whether who watches has a connection to the broker.",
        [] if is_connected is None else [Sample(is_connected, {})],
    )
    alerts = [Sample(1, {"alert": one["name"]}) for one in snapshot["alerts"]]
    yield Metric("solah_alert", "gauge", "1 for each alert that is raised.", alerts)


def _of_decisions(snapshot: Picture) -> Iterator[Metric]:
    decisions, messages = snapshot["decisions"], snapshot["messages"]
    yield _counter("solah_decisions", "Decisions that were received.", decisions["total"])
    yield _counter(
        "solah_decisions_incomplete",
        "Decisions without the values of some part of the model.",
        decisions["incomplete_total"],
    )
    yield _counter(
        "solah_decisions_held_back",
        "Decisions that the policy withheld.",
        decisions["held_back_total"],
    )
    yield _counters(
        "solah_decided", "Decisions by class.", "decision", decisions["by_decision"].items()
    )
    yield _counters(
        "solah_doubts",
        "Decisions with a abstain_reason.",
        "abstain_reason",
        decisions["by_doubt"].items(),
    )
    yield _counters(
        "solah_missing", "Decisions that lacked a part.", "part", decisions["by_missing"].items()
    )
    last_at = decisions["last_at"]
    yield Metric(
        "solah_decision_last_seconds",
        "gauge",
        "When the last decision came.",
        [] if last_at is None else [Sample(last_at, {})],
    )
    yield Metric(
        "solah_decision_age_seconds",
        "gauge",
        "Seconds since the last decision came.",
        [] if last_at is None else [Sample(max(snapshot["now"] - last_at, 0.0), {})],
    )
    yield Metric(
        "solah_decisions_stale",
        "gauge",
        "Whether decisions should have come and did not.",
        [Sample(decisions["is_stale"], {})],
    )
    known = decisions["known"]
    yield Metric(
        "solah_decision_known_ratio",
        "gauge",
        "The share of the model's knowledge that the last decision is based on.",
        [] if known is None else [Sample(known, {})],
    )
    latency = decisions["latency"] or {}
    quantiles = {"0.5": latency.get("p50"), "0.99": latency.get("p99")}
    yield Metric(
        "solah_decision_latency_seconds",
        "gauge",
        "Seconds from a reading to receiving its decision.",
        [Sample(value, {"quantile": at}) for at, value in quantiles.items() if value is not None],
    )
    yield _counter("solah_messages", "Messages that were received.", messages["messages"])
    refused = [(why, messages[why]) for why in REFUSALS]
    yield _counters("solah_messages_refused", "Messages that were refused.", "why", refused)


def _of_nodes(snapshot: Picture) -> Iterator[Metric]:
    nodes = snapshot["nodes"]
    online = [Sample(one["state"] == "online", {"node": one["name"]}) for one in nodes]
    last_seen = [
        Sample(one["heard"], {"node": one["name"]}) for one in nodes if one["heard"] is not None
    ]
    yield Metric(
        "solah_node_online", "gauge", "Whether a node is online and sends messages.", online
    )
    states = [
        Sample(one.value, {"node": node["name"], **one.labels})
        for node in nodes
        for one in _one_of(NODE_STATES, node["state"])
    ]
    yield Metric("solah_node_state", "gauge", "1 for the state that a node is in.", states)
    yield Metric(
        "solah_node_heard_seconds", "gauge", "When the last message of a node came.", last_seen
    )
    for what, about in (("rows", "Rows that a node sent."), ("readings", "Rows read there.")):
        of_nodes = [(one["name"], one[what]) for one in nodes]
        yield _counters(f"solah_node_{what}", about, "node", of_nodes)
    yield Metric(
        "solah_node_events_total",
        "counter",
        "What a node counted itself.",
        [
            Sample(times, {"node": one["name"], "event": event})
            for one in nodes
            for event, times in one["counters"].items()
        ],
    )
    yield from _of_sensors(snapshot)


def _of_sensors(snapshot: Picture) -> Iterator[Metric]:
    sensors = [
        (one, {"node": node["name"], "feature": one["feature"]})
        for node in snapshot["nodes"]
        for one in node["sensors"]
    ]
    yield Metric(
        "solah_sensor_known",
        "gauge",
        "Whether a feature has a reading that is not too old.",
        [Sample(one["is_known"], labels) for one, labels in sensors],
    )
    yield Metric(
        "solah_sensor_age_seconds",
        "gauge",
        "How old the last reading of a feature is.",
        [Sample(one["age"], labels) for one, labels in sensors if one["age"] is not None],
    )
    yield Metric(
        "solah_sensor_messages_total",
        "counter",
        "What became of the messages of a feature's sensor.",
        [
            Sample(times, {**labels, "event": event})
            for one, labels in sensors
            for event, times in one["counts"].items()
        ],
    )


def _of_beliefs(snapshot: Picture) -> Iterator[Metric]:
    model = snapshot["model"]
    labels = model["classes"] if model else []
    beliefs = [
        Sample(share, {"part": part["name"], "class": label})
        for part in snapshot["parts"]
        if len(part["belief"]) == len(labels)
        for label, share in zip(labels, part["belief"], strict=True)
    ]
    yield Metric("solah_belief", "gauge", "The last probability of a part of the model.", beliefs)
    named = [Sample(1, {"hash": model["hash"], "target": model["target"]})] if model else []
    yield Metric("solah_model_info", "gauge", "The newest model.", named)


def _of_shadow(snapshot: Picture) -> Iterator[Metric]:
    shadow = snapshot["shadow"]
    counts = {
        "rows": "Rows decided by both models.",
        "agreed": "Rows decided alike by both.",
    }
    for what, about in counts.items():
        samples = [Sample(shadow[what], {})] if shadow else []
        yield Metric(f"solah_shadow_{what}_total", "counter", about, samples)
    yield Metric(
        "solah_shadow_differing_total",
        "counter",
        "Rows decided otherwise by the shadow model, by both decisions.",
        [
            Sample(one["times"], {"decision": one["decision"], "shadow": one["shadow"]})
            for one in (shadow["differing"] if shadow else ())
        ],
    )


def _one_of(states: Iterable[str], current: str) -> list[Sample]:
    return [Sample(state == current, {"state": state}) for state in states]


def _counter(name: str, about: str, value: float) -> Metric:
    return Metric(f"{name}_total", "counter", about, [Sample(value, {})])


def _counters(name: str, about: str, label: str, values: Iterable[tuple[str, float]]) -> Metric:
    samples = [Sample(value, {label: key}) for key, value in values]
    return Metric(f"{name}_total", "counter", about, samples)
