"""The types of the package as a program sees them that uses it."""

import subprocess
import sys

import pytest

PROGRAM = """
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from solah import Hierarchy, RuleClassifier, datasets, load_model
from solah.exceptions import SolahError
from solah.model.predictor import Predictor

wine = datasets.load("wine")
model = RuleClassifier(max_rules=12).fit(wine.table, wine.target)
assert_type(model, RuleClassifier)
assert_type(load_model("wine.json"), Predictor)
assert_type(Hierarchy.parse("y <- a, b"), Hierarchy)
beliefs: NDArray[np.float64] = load_model("wine.json").predict_proba([[1.0]])
texts: list[str] = [str(rule) for rule in model.rules()]
try:
    model.save("wine.json")
except SolahError as error:
    print(error)
"""


WRONG = """
from solah import load_model

load_model(3).no_such_name()
"""


@pytest.mark.slow
def test_a_program_that_uses_the_package_is_checked(tmp_path):
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "right.py", "wrong.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if "error:" in line]
    assert sorted(line.rpartition("[")[2] for line in found) == ["arg-type]", "attr-defined]"]
    assert all(line.startswith("wrong.py:4:") for line in found)
