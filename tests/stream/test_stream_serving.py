"""Metrics over HTTP, as Prometheus reads them."""

import re
import urllib.error
import urllib.request

import pytest
from stream_rows import turning

from solah import LinguisticTreeClassifier
from solah.exceptions import ParameterError
from solah.metrics_text import CONTENT_TYPE
from solah.stream import StreamLearner
from solah.stream.serving import MetricsServer, prometheus_text


def samples(text):
    return dict(re.findall(r"^(solah_\S+?(?:\{.*?\})?) (\S+)$", text, re.MULTILINE))


def test_figures_are_written_one_a_line():
    X, y = turning(300, 300)
    stream = StreamLearner(LinguisticTreeClassifier())
    stream.learn(X, y)
    text = prometheus_text(stream.metrics)
    found = samples(text)
    assert found["solah_stream_rows_total"] == "300"
    assert float(found["solah_stream_accuracy"]) == stream.metrics.accuracy
    assert found['solah_stream_drifts_total{cause="new class"}'] == "0"
    names = {name.partition("{")[0] for name in found}
    assert set(re.findall(r"^# TYPE (\S+) (?:counter|gauge)$", text, re.MULTILINE)) == names


def test_what_has_no_value_is_left_out():
    assert "solah_stream_accuracy" not in samples(prometheus_text(StreamLearner().metrics))


def test_they_are_served_until_the_end():
    with MetricsServer(0) as server:
        server.show("solah_stream_rows_total 7\n")
        with urllib.request.urlopen(server.url, timeout=60) as answer:
            assert answer.read() == b"solah_stream_rows_total 7\n"
            assert answer.headers["Content-Type"] == CONTENT_TYPE
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(server.url.replace("/metrics", "/"), timeout=60)
        port = int(server.url.split(":")[2].partition("/")[0])
        with pytest.raises(ParameterError, match=f"port {port}.*choose another"):
            MetricsServer(port)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(server.url, timeout=60)
