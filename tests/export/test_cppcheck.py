"""cppcheck finds no fault in exported models, nor in the runtime that comes with them."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from judged_models import STEADY, judged_model
from signal_programs import describe_everything, model_of, noise
from sklearn.datasets import load_wine

from random_models import random_model
from solah import RuleClassifier
from solah.export import export_c

# It knows the C library without the headers, so that nothing needs to be suppressed.
OPTIONS = (
    *("--quiet", "--std=c99", "--inline-suppr", "--error-exitcode=1"),
    "--max-configs=24",
    "--enable=warning,style,performance,portability",
)


@pytest.fixture
def found_in(find_tool, tmp_path):
    """Return a function that writes an export and returns what cppcheck says of it."""
    cppcheck = find_tool("cppcheck")

    def check(files):
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        command = [cppcheck, *OPTIONS, "m.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode == 0) == (done.stderr == ""), done
        return done.stderr

    return check


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize("shape", ["tree", "over a sum"])
def test_nothing_is_found_in_trees(shape, numbers, found_in):
    model = random_model(np.random.default_rng(2), shape, 3)
    assert found_in(export_c(model, name="m", numbers=numbers).files) == ""


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_nothing_is_found_in_broken_lines(numbers, found_in):
    X, y = load_wine(return_X_y=True)
    model = RuleClassifier(max_rules=12).fit(X, y).model_
    assert found_in(export_c(model, name="m", numbers=numbers).files) == ""


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_nothing_is_found_in_plain_c(numbers, found_in):
    model = random_model(np.random.default_rng(2), "words and pairs", 3)
    assert found_in(export_c(model, name="m", numbers=numbers, style="plain").files) == ""


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_nothing_is_found_in_signals(numbers, found_in):
    rng = np.random.default_rng(0)
    model = model_of(rng, describe_everything(), noise(rng, 2000))
    assert found_in(export_c(model, name="m", numbers=numbers).files) == ""


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_nothing_is_found_in_policies(numbers, found_in):
    model = replace(judged_model(np.random.default_rng(2), "groups"), policy=STEADY)
    assert found_in(export_c(model, name="m", numbers=numbers).files) == ""


@pytest.mark.parametrize(
    ("numbers", "runtime"),
    [("float", "solah_core.h"), ("float", "solah_float.h"), ("q15", "solah_fixed.h")],
)
def test_a_fault_in_the_runtime_would_be_found(numbers, runtime, found_in):
    model = random_model(np.random.default_rng(2), "tree", 3)
    files = dict(export_c(model, name="m", numbers=numbers).files)
    beyond = "\n{\n    int two[2];\n    two[2] = 0;\n"
    files[runtime] = files[runtime].replace("\n{\n", beyond, 1)
    assert "arrayIndexOutOfBounds" in found_in(files)
