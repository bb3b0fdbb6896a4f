"""Whatever names and values metrics have, Prometheus reads them back from the text."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from solah.metrics_text import Metric, Sample, metrics_text

LABEL = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)')
ESCAPES = {r"\\": "\\", r"\n": "\n", r"\"": '"'}


def unescaped(text):
    return re.sub(r"\\.", lambda found: ESCAPES[found[0]], text)


def samples(text):
    """Read samples as Prometheus does, which ends a line at a line feed only."""
    found = {}
    for line in text.removesuffix("\n").split("\n"):
        if not line.startswith("#"):
            name, labels, value = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? (\S+)", line).groups()
            pairs = tuple((key, unescaped(one)) for key, one in LABEL.findall(labels or ""))
            assert LABEL.sub("", labels or "") == ""
            assert (name, pairs) not in found
            found[name, pairs] = float(value)
    return found


label_texts = st.text(max_size=20) | st.text('\\n"{}=, \n\r', max_size=8)


@given(first=label_texts, second=label_texts, value=st.floats(allow_nan=False) | st.integers(0))
@example(first="\\n", second='"\n', value=0)
@example(first="\\", second='",b="', value=1.5)
def test_any_label_comes_back(first, second, value):
    text = metrics_text([Metric("x", "gauge", "An x.", [Sample(value, {"a": first, "b": second})])])
    assert samples(text) == {("x", (("a", first), ("b", second))): value}


@given(about=label_texts)
@example(about='a\\b\nc "quoted"')
def test_what_a_metric_is_about_stays_on_its_line(about):
    head, kind, sample, end = metrics_text(
        [Metric("x_total", "counter", about, [Sample(1, {})])]
    ).split("\n")
    assert unescaped(head.removeprefix("# HELP x_total ")) == about
    assert (kind, sample, end) == ("# TYPE x_total counter", "x_total 1", "")


def test_equal_labels_are_written_once():
    same = [Sample(1, {"a": "b"}), Sample(2, {"a": "b"})]
    assert samples(metrics_text([Metric("x", "gauge", "An x.", same)])) == {("x", (("a", "b"),)): 2}


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "1"), (7, "7"), (0.5, "0.5"), (1e-9, "1e-09"), (np.float64(0.25), "0.25")],
)
def test_a_value_is_written_as_a_number(value, text):
    written = metrics_text([Metric("x", "gauge", "An x.", [Sample(value, {})])])
    assert written.endswith(f"\nx {text}\n")
