"""A picture of a network in, the text that Prometheus collects out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from solah.network.observing import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Picture = Mapping[str, Any]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Sample(NamedTuple):
    labels: Mapping[str, str]
    value: float


class _Metric(NamedTuple):
    name: str
    kind: str
    about: str
    samples: list[_Sample]


def metrics(snapshot: Picture) -> str:
    """Write counters and gauges in Prometheus' text format.

    Parameters
    ----------
    snapshot : mapping
        As :meth:`solah.network.observing.Observer.snapshot` returns it.

    Returns
    -------
    text : str
        A metric without a value is left out.

    Examples
    --------
    >>> from solah.network.observing import Observer
    >>> from solah.network.topics import Topics
    >>> print(metrics(Observer(Topics("house")).snapshot(now=0.0)).splitlines()[0])
    # HELP solah_decisions_total Decisions that were heard.
    """
    site = {"site": snapshot["site"]}
    every = (*_of_decisions(snapshot), *_of_nodes(snapshot), *_of_beliefs(snapshot))
    return "".join(line for metric in every if metric.samples for line in _lines(metric, site))


def _of_decisions(snapshot: Picture) -> Iterator[_Metric]:
    decisions, messages = snapshot["decisions"], snapshot["messages"]
    yield _counter("solah_decisions", "Decisions that were heard.", decisions["total"])
    yield _counter(
        "solah_decisions_incomplete",
        "Decisions without the evidence of some tree or fusion.",
        decisions["incomplete_total"],
    )
    yield _counters(
        "solah_decided", "Decisions by class.", "decision", decisions["by_decision"].items()
    )
    yield _counters(
        "solah_missing", "Decisions that lacked a part.", "part", decisions["by_missing"].items()
    )
    latency = decisions["latency"] or {}
    quantiles = {"0.5": latency.get("p50"), "0.99": latency.get("p99")}
    yield _Metric(
        "solah_decision_latency_seconds",
        "gauge",
        "Seconds from a reading to hearing of its decision.",
        [_Sample({"quantile": at}, value) for at, value in quantiles.items() if value is not None],
    )
    yield _counter("solah_messages", "Messages that were heard.", messages["messages"])
    refused = [(why, messages[why]) for why in REFUSALS]
    yield _counters("solah_messages_refused", "Messages that were not taken.", "why", refused)


def _of_nodes(snapshot: Picture) -> Iterator[_Metric]:
    nodes = snapshot["nodes"]
    online = [_Sample({"node": one["name"]}, one["state"] == "online") for one in nodes]
    heard = [
        _Sample({"node": one["name"]}, one["heard"]) for one in nodes if one["heard"] is not None
    ]
    yield _Metric("solah_node_online", "gauge", "Whether a node is online.", online)
    yield _Metric("solah_node_heard_seconds", "gauge", "When a node was heard last.", heard)
    for what, about in (("rows", "Rows that a node spoke of."), ("readings", "Rows read there.")):
        of_nodes = [(one["name"], one[what]) for one in nodes]
        yield _counters(f"solah_node_{what}", about, "node", of_nodes)
    yield _Metric(
        "solah_node_events_total",
        "counter",
        "What a node counted itself.",
        [
            _Sample({"node": one["name"], "event": event}, times)
            for one in nodes
            for event, times in one["counters"].items()
        ],
    )


def _of_beliefs(snapshot: Picture) -> Iterator[_Metric]:
    model = snapshot["model"]
    labels = model["classes"] if model else []
    beliefs = [
        _Sample({"part": part["name"], "class": label}, share)
        for part in snapshot["parts"]
        if len(part["belief"]) == len(labels)
        for label, share in zip(labels, part["belief"], strict=True)
    ]
    yield _Metric("solah_belief", "gauge", "What a tree or a fusion believed last.", beliefs)
    named = [_Sample({"hash": model["hash"], "goal": model["goal"]}, 1)] if model else []
    yield _Metric("solah_model_info", "gauge", "The newest model.", named)


def _counter(name: str, about: str, value: float) -> _Metric:
    return _Metric(f"{name}_total", "counter", about, [_Sample({}, value)])


def _counters(name: str, about: str, label: str, values: Any) -> _Metric:
    samples = [_Sample({label: key}, value) for key, value in values]
    return _Metric(f"{name}_total", "counter", about, samples)


def _lines(metric: _Metric, site: Mapping[str, str]) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.about}\n# TYPE {metric.name} {metric.kind}\n"
    # Two long names may be the same once they are cut, and one such pair spoils the whole text.
    values = {_spelt_labels({**site, **one.labels}): one.value for one in metric.samples}
    for labels, value in values.items():
        yield f"{metric.name}{{{labels}}} {_spelt(value)}\n"


def _spelt_labels(labels: Mapping[str, str]) -> str:
    return ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _spelt(value: float) -> str:
    return repr(value) if isinstance(value, float) else str(int(value))
