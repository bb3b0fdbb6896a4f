"""The C text of the sums: free of warnings, and clean under the sanitizers."""

import subprocess
from pathlib import Path

import numpy as np

NATIVE = Path(__file__).parents[2] / "native"
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g", "-O1"]


def test_runs_clean_under_the_sanitizers(find_tool, tmp_path):
    """Points and tables agree, for numbers and names, with and without weights."""
    program = tmp_path / "driver"
    sources = [NATIVE / "dependence.c", Path(__file__).with_name("sanitize_dependence.c")]
    command = [find_tool("cc"), *WARNINGS, *SANITIZERS, f"-I{NATIVE}", *sources, "-o", program]
    built = subprocess.run([*command, "-lm"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    products = np.array(run.stdout.split(), dtype=float).reshape(6, 2, 2)
    assert products.min() > 0
    np.testing.assert_allclose(products[:, 0], products[:, 1], rtol=1e-12)
