"""Hypothesis draws the same examples whatever else a process has imported."""

import importlib
import os

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.skipif(bool(os.environ.get("SOLAH_THOROUGH")), reason="examples are random")
def test_an_import_changes_no_example(tmp_path, monkeypatch):
    seen = []

    @hypothesis.settings(max_examples=200)
    @given(st.integers(-(10**6), 10**6), st.floats(), st.text())
    def draw(number, amount, text):
        seen.append(repr((number, amount, text)))

    draw()
    before, seen = seen, []
    (tmp_path / "constants_of_a_module.py").write_text("A, B, C = 31_415, 27.1828, 'sqrt two'")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("constants_of_a_module")
    draw()
    assert seen == before
