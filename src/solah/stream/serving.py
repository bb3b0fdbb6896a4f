"""Serve the metrics of a stream to Prometheus over HTTP."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError
from solah.metrics_text import CONTENT_TYPE, Metric, Sample, metrics_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from solah.stream.events import Metrics

_COUNTERS = {
    "rows": "Rows that came.",
    "labelled": "Rows that had a class.",
    "decided": "Rows decided on before they were learnt from.",
    "as_before": "Decisions that used the class before.",
    "reorganisations": "How often the hierarchy was learnt again.",
    "swapped": "New models that took over.",
    "refused": "New models that were no better.",
    "failed": "New models that could not be learnt.",
}
_GAUGES = {
    "accuracy": "Accuracy of the last decisions, each made before its row was learnt from.",
    "log_loss": "Log-loss of the last decisions.",
    "accuracy_overall": "Accuracy of all decisions.",
    "log_loss_overall": "Log-loss of all decisions.",
    "rows_per_second": "Rows that the learner takes in a second.",
    "rows_since_swap": "Labelled rows that the model in use has served.",
    "n_rules": "Rules of the model in use.",
    "kept_rows": "Rows kept to learn again from.",
}


def prometheus_text(metrics: Metrics) -> str:
    """Write metrics in Prometheus' text format; what has no value is left out.

    Examples
    --------
    >>> from solah.stream import StreamLearner
    >>> print(prometheus_text(StreamLearner().metrics).splitlines()[2])
    solah_stream_rows_total 0
    """
    return metrics_text(_metrics(metrics.as_dict()))


def _metrics(figures: dict[str, Any]) -> Iterator[Metric]:
    for name, about in _COUNTERS.items():
        yield Metric(f"solah_stream_{name}_total", "counter", about, [Sample(figures[name], {})])
    drifts = [Sample(times, {"cause": cause}) for cause, times in figures["drifts"].items()]
    about = "Drifts that were detected, by cause."
    yield Metric("solah_stream_drifts_total", "counter", about, drifts)
    for name, about in _GAUGES.items():
        if figures[name] is not None:
            yield Metric(f"solah_stream_{name}", "gauge", about, [Sample(figures[name], {})])


class MetricsServer:
    """Serves metrics at ``/metrics``, in a thread of its own, as long as its context lasts.

    Parameters
    ----------
    port : int
        0 for any that is free.
    host : str, default="127.0.0.1"
        The address to listen at; the default is for this machine alone.

    Raises
    ------
    ParameterError
        Nothing can listen at this address.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        try:
            self._server = ThreadingHTTPServer((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise ParameterError(
                f"metrics cannot be served at {host!r}, port {port}: {error}; choose another"
            ) from None
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self.show("")

    @property
    def url(self) -> str:
        """Where the metrics are."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/metrics"

    def show(self, text: str) -> None:
        """Set what is served."""
        self._server.text = text  # type: ignore[attr-defined]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404, "metrics are at /metrics")
            return
        content = self.server.text.encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: a terminal shows the stream."""
