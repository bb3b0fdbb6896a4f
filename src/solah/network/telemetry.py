"""Send the metrics of a site by OpenTelemetry: those that Prometheus collects, to a collector."""

from __future__ import annotations

import logging
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from solah.exceptions import require
from solah.network.logs import Event
from solah.network.prometheus import site_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from solah.metrics_text import Metric
    from solah.network.observing import Observer

_PURPOSE = "sending metrics by OpenTelemetry"
_SAME_PICTURE = 0.5  # seconds; all metrics of one collection are of one picture
_TELL_AGAIN = 60.0
_LAST_WAIT = 5_000  # milliseconds


@contextmanager
def exporting(observer: Observer, log: Callable[[str], None]) -> Iterator[None]:
    """Send what an observer sees to a collector (OTLP over HTTP) as long as the context lasts.

    Where it is, how often and with which headers is said by OpenTelemetry's own variables of the
    environment, such as ``OTEL_EXPORTER_OTLP_ENDPOINT`` and ``OTEL_METRIC_EXPORT_INTERVAL``.

    Parameters
    ----------
    observer : Observer
    log : callable
        Called with what an operator should know, as that the collector does not answer.
    """
    metrics = require("opentelemetry.sdk.metrics", "otel", _PURPOSE)
    export = require("opentelemetry.sdk.metrics.export", "otel", _PURPOSE)
    resources = require("opentelemetry.sdk.resources", "otel", _PURPOSE)
    otlp = require("opentelemetry.exporter.otlp.proto.http.metric_exporter", "otel", _PURPOSE)
    with _told(log):
        reader = export.PeriodicExportingMetricReader(otlp.OTLPMetricExporter())
        name = os.environ.get("OTEL_SERVICE_NAME", "solah")
        resource = resources.Resource.create({"service.name": name})
        provider = metrics.MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        _Instruments(observer).register(provider.get_meter("solah"))
        try:
            yield
        finally:
            provider.shutdown(timeout_millis=_LAST_WAIT)


class _Instruments:
    """The metrics of an observer's picture, as OpenTelemetry asks for them one by one."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._looked = -float("inf")
        self._metrics: dict[str, Metric] = {}

    def register(self, meter: Any) -> None:
        for metric in self._current().values():
            make = (
                meter.create_observable_counter
                if metric.kind == "counter"
                else meter.create_observable_gauge
            )
            make(metric.name.removesuffix("_total"), [self._asked(metric.name)], "", metric.about)

    def _asked(self, name: str) -> Callable[[Any], Iterator[Any]]:
        api = require("opentelemetry.metrics", "otel", _PURPOSE)

        def observe(_options: Any) -> Iterator[Any]:
            for sample in self._current()[name].samples:
                labels = {"site": self._observer.site, **sample.labels}
                yield api.Observation(float(sample.value), labels)

        return observe

    def _current(self) -> dict[str, Metric]:
        now = time.monotonic()
        if now > self._looked + _SAME_PICTURE:
            every = site_metrics(self._observer.snapshot(time.time()))
            self._metrics, self._looked = {one.name: one for one in every}, now
        return self._metrics


@contextmanager
def _told(log: Callable[[str], None]) -> Iterator[None]:
    """Let OpenTelemetry's own warnings go to the log, each at most once a minute."""
    logger = logging.getLogger("opentelemetry")
    handler = _Handler(log)
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    logger.addHandler(logging.NullHandler())  # a thread that ends later tells nobody
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


class _Handler(logging.Handler):
    def __init__(self, log: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._told: dict[str, float] = {}

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        if now < self._told.get(record.msg, -float("inf")) + _TELL_AGAIN:
            return
        self._told[record.msg] = now
        text = f"metrics: {record.getMessage()}"
        self._log(Event(text, "metrics_unsent", "warning"))
