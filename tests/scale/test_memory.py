"""A limit of memory is read, refused where it cannot hold, and held."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah import LinguisticTreeClassifier, scan
from solah.exceptions import ParameterError
from solah.scale import memory
from solah.scale.engines import Portions
from solah.scale.memory import portions_within, read_size

MB = 10**6


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [
        (4096, 4096),
        ("4096", 4096),
        ("12 B", 12),
        ("512MB", 512 * MB),
        ("512 mb", 512 * MB),
        ("1.5GB", 1500 * MB),
        ("1GiB", 2**30),
        ("0.5 GiB", 2**29),
        ("2k", 2000),
        ("1t", 10**12),
    ],
)
def test_sizes_are_read(size, n_bytes):
    assert read_size(size) == n_bytes


@pytest.mark.parametrize("size", [0, -1, True, 1.5, None, "", "much", "1XB", "-1GB", "0MB", "1e9"])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(ParameterError, match="'memory' must be a size such as '1GB' or '512MB'."):
        read_size(size)


@given(st.integers(400 * MB, 10**12), st.integers(1, 300), st.integers(1, 8))
def test_what_is_held_fits_into_the_limit(limit, n_columns, n_threads):
    held = 100 * MB
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_resident", lambda: held)
        try:
            portions = portions_within(limit, n_columns, n_threads)
        except ParameterError as error:
            needed = int(str(error).split("take ")[1].split(" MB")[0]) * MB
            assert needed > limit
            portions, limit = portions_within(needed, n_columns, n_threads), needed
    assert 0 < portions.rows <= Portions.rows
    rows = n_threads * portions.rows * n_columns * memory._BYTES_A_VALUE
    sample = n_columns * memory._SAMPLE * memory._BYTES_OF_SAMPLE
    least = n_threads * memory._LEAST_STATISTICS
    statistics = max(least, n_threads * portions.statistics)
    assert held + memory._CHOOSING + sample + rows + statistics <= limit


def test_more_threads_share_what_there_is():
    alone, together = (portions_within(2_000 * MB, 50, n) for n in (1, 8))
    assert together.statistics < alone.statistics
    assert together.rows <= alone.rows


def test_too_little_is_refused_with_what_is_needed():
    with pytest.raises(
        ParameterError, match=r"memory=1 MB is too little for 1 column and 1 thread"
    ):
        portions_within(MB, 1, 1)
    frame = pd.DataFrame({"a": np.arange(9.0), "y": np.arange(9) > 4})
    with pytest.raises(ParameterError, match=r"2 columns and 3 threads, which take \d+ MB at the"):
        LinguisticTreeClassifier(n_jobs=3).fit(scan([frame], memory="1MB"), "y")


def test_a_system_that_does_not_tell_is_guessed_about(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_STATM", tmp_path / "none")
    assert portions_within(1_000 * MB, 10, 1).rows == Portions.rows
    with pytest.raises(ParameterError, match="too little"):
        portions_within(memory._WITHOUT_SIGHT, 10, 1)


SCRIPT = """
from pathlib import Path
from solah import LinguisticTreeClassifier, scan
from solah.scale.memory import _resident

limit = _resident() + {allowed}
with scan({path!r}, memory=limit) as rows:
    print(limit, _resident())
    tree = LinguisticTreeClassifier(max_depth=1).fit(rows, "y")
# Not ru_maxrss, which begins with what the process had that started this one.
status = Path("/proc/self/status").read_text().split()
print(int(status[status.index("VmHWM:") + 1]) * 1024, tree.n_rules_)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sizes are those of Linux")
def test_a_process_stays_within_its_limit(tmp_path):
    """Read 3,200,000 rows of 6 numbers, which take 154 MB, in less than they would need."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n_rows, path = 3_200_000, tmp_path / "rows.parquet"
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=n_rows)
    columns = {f"s{j}": hidden + rng.normal(size=n_rows) for j in range(6)}
    columns["y"] = hidden > 0
    parquet.write_table(arrow.table(columns), path, row_group_size=100_000, compression="none")
    # How much Python and its packages hold depends on the machine; what is added does not.
    script = SCRIPT.format(path=str(path), allowed=150 * MB)
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    limit, before, most, n_rules = map(int, run.stdout.split())
    assert n_rules > 1
    assert most < limit
    assert before + n_rows * 6 * 8 > limit  # the table alone would have been too much
