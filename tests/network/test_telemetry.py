"""Metrics by OpenTelemetry: a collector gets what Prometheus would; none is waited for."""

import gzip
import re
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from processes import until
from test_formats import collected
from watched_site import START, Site, feed, make_bundle

from solah.network.observing import Observer
from solah.network.prometheus import metrics
from solah.network.telemetry import exporting


@contextmanager
def collector():
    """Run a collector; yield its address and the requests that it got."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            requests.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def received(request):
    """Return the value of each sample, by its name and labels."""
    found = {}
    for scope in request.resource_metrics[0].scope_metrics:
        for metric in scope.metrics:
            kind = metric.WhichOneof("data")
            name = metric.name + ("_total" if kind == "sum" else "")
            for point in getattr(metric, kind).data_points:
                labels = {one.key: one.value.string_value for one in point.attributes}
                found[name, frozenset(labels.items())] = point.as_double
    return found


def test_a_collector_gets_what_prometheus_would(monkeypatch):
    site = Site(make_bundle(), silent=("attic",))
    observer = Observer(site.topics)
    feed(observer, site.beginning())
    feed(observer, site.messages(5))
    with collector() as (url, requests):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "100")
        clock = SimpleNamespace(time=lambda: START + 3, monotonic=time.monotonic)
        monkeypatch.setattr("solah.network.telemetry.time", clock)
        with exporting(observer, print):
            until(lambda: requests)
    attributes = requests[0].resource_metrics[0].resource.attributes
    named = {one.key: one.value.string_value for one in attributes}
    assert named["service.name"] == "solah"
    expected = {
        (name, frozenset(re.findall(r'([a-z_]+)="([^"]*)"', labels))): value
        for (name, labels), value in collected(metrics(observer.snapshot(START + 3))).items()
    }
    assert received(requests[-1]) == pytest.approx(expected)
