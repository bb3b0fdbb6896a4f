"""Write metrics in the text format that Prometheus collects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """A value of a metric, identified by its labels."""

    value: float
    labels: Mapping[str, str]


class Metric(NamedTuple):
    """A metric and its samples; the name of a counter ends with ``_total``."""

    name: str
    kind: Literal["counter", "gauge"]
    about: str
    samples: Iterable[Sample]


def metrics_text(metrics: Iterable[Metric], labels: Mapping[str, str] | None = None) -> str:
    r"""Write metrics as text.

    Parameters
    ----------
    metrics : iterable of Metric
        One without samples is skipped. Of samples with equal labels the last is written, since
        Prometheus refuses a text that has both.
    labels : mapping, default=None
        Labels that every sample has.

    Returns
    -------
    text : str

    Examples
    --------
    >>> rooms = [Sample(21.5, {"room": 'the "den"'}), Sample(4, {"room": "cellar"})]
    >>> print(metrics_text([Metric("temperature", "gauge", "In degrees.", rooms)]), end="")
    # HELP temperature In degrees.
    # TYPE temperature gauge
    temperature{room="the \"den\""} 21.5
    temperature{room="cellar"} 4
    """
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric, labels or {}))


def _lines(metric: Metric, labels: Mapping[str, str]) -> Iterator[str]:
    values = {_labels_text({**labels, **one.labels}): one.value for one in metric.samples}
    if values:
        yield f"# HELP {metric.name} {_escaped(metric.about)}"
        yield f"# TYPE {metric.name} {metric.kind}"
    for text, value in values.items():
        yield f"{metric.name}{text} {_value_text(value)}"


def _labels_text(labels: Mapping[str, str]) -> str:
    pairs = (f'{key}="{_escaped(text, quote=True)}"' for key, text in labels.items())
    return f"{{{','.join(pairs)}}}" if labels else ""


def _escaped(text: str, *, quote: bool = False) -> str:
    escaped = text.replace("\\", r"\\").replace("\n", r"\n")
    return escaped.replace('"', r"\"") if quote else escaped


def _value_text(value: float) -> str:
    return repr(float(value)) if isinstance(value, float) else str(int(value))
