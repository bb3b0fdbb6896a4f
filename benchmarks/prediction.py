"""How fast models predict and learn from single rows, beside their peers in the same run.

    python benchmarks/prediction.py [--rows 1000000]

All times are processor times on one thread, the least of several runs. The peers of one row are a
pipeline of StandardScaler and LogisticRegression on the same data frame, and SGDClassifier for
learning; those of many rows are HistGradientBoostingClassifier and, where it is installed,
LightGBM. The data are scikit-learn's breast cancer (569 rows, 30 columns), with rows drawn again
and again for batches. Memory is the growth of the resident set while all rows are predicted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from solah import RuleClassifier, load_model
from solah.data import from_array
from solah.export.online import Learner
from solah.model.evaluate import run
from solah.stream.refit import OnlineModel

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 100_000
NOISE = 0.02  # of a column's deviation, so that rows drawn again differ
PEER = "SGDClassifier.partial_fit"
RULES = {30: 30, 200: 400}  # the rules wanted, and the most to allow: some of these are dropped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="for the memory")
    options = parser.parse_args()
    frame, target = load_breast_cancer(return_X_y=True, as_frame=True)
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        one_row(frame, target, Path(folder) / "model.json")
        one_row_more(frame, target)
        batches(frame, target)
        memory(Path(folder) / "model.json", options.rows)


def one_row(frame: Any, target: Any, path: Path) -> None:
    model = RuleClassifier().fit(frame, target)
    model.save(path)
    loaded = load_model(path)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, target)
    names = [feature.name for feature in loaded.model_.features]
    row, array = frame.iloc[:1], frame[names].to_numpy()[:1]
    program = loaded.model_.program
    took = microseconds(
        {
            "pipeline, data frame": lambda: pipeline.predict_proba(row),
            "estimator, data frame": lambda: model.predict_proba(row),
            "loaded model, data frame": lambda: loaded.predict_proba(row),
            "loaded model, array": lambda: loaded.predict_proba(array),
            "program, coded row": lambda: run(program, array),
        }
    )
    print(f"predict_proba of one row, {len(frame.columns)} columns, {model.n_rules_} rules")
    for name, time_of in took.items():
        ratio = time_of / took["pipeline, data frame"]
        print(f"  {name:<28}{time_of:>9.1f} us{ratio:>8.3f} times the pipeline")


def one_row_more(frame: Any, target: Any) -> None:
    """Time learning from one more row: as a device does, by ``partial_fit``, and in a stream."""
    peer = SGDClassifier(loss="log_loss").fit(frame, target)
    for most in RULES.values():
        model = RuleClassifier(max_rules=most).fit(frame, target)
        print(f"learning from one row, {model.n_rules_} rules")
        ways = learning(model, frame) | {PEER: lambda: peer.partial_fit(frame.iloc[:1], [0])}
        took = microseconds(ways)
        for name, time_of in took.items():
            ratio = time_of / took[PEER]
            print(f"  {name:<28}{time_of:>9.1f} us{ratio:>8.3f} times the peer")


def learning(model: Any, frame: Any) -> dict[str, Callable[[], object]]:
    learner, online = Learner(model.model_), OnlineModel(model.model_, pace=1.0, forgetting=0.0)
    names = [feature.name for feature in model.model_.features]
    row, known = frame.iloc[:1], frame[names].to_numpy()[:1]
    observed = np.array([0])
    some = np.where(np.arange(known.shape[1]) % 5 == 0, np.nan, known)
    table, all_columns = from_array(known, names), frame.to_numpy()[:1]
    by_position = deepcopy(model)  # as if it had been fitted to an array
    del by_position.feature_names_in_
    return {
        "all readings known": lambda: learner.learn(known, [0]),
        "every fifth missing": lambda: learner.learn(some, [0]),
        "stream, table": lambda: online.test_then_learn(table, [0]),
        "partial_fit, data frame": lambda: model.partial_fit(row, [0]),
        "partial_fit, array": lambda: by_position.partial_fit(all_columns, observed),
    }


def batches(frame: Any, target: Any) -> None:
    rows = more_rows(frame, BATCH)
    ways: dict[str, Callable[[], object]] = {}
    for most in RULES.values():
        model = RuleClassifier(max_rules=most).fit(frame.to_numpy(), target)
        ways[f"solah, {model.n_rules_} rules"] = predicting(model, rows)
    ways |= {name: predicting(peer.fit(frame.to_numpy(), target), rows) for name, peer in peers()}
    took = microseconds(ways, repeats=5)
    boosting = took["HistGradientBoosting"]
    print(f"predict_proba of {BATCH:,} rows of an array")
    for name, time_of in took.items():
        print(
            f"  {name:<28}{BATCH / time_of:>9.2f} M rows/s{boosting / time_of:>8.2f} times boosting"
        )


def predicting(model: Any, rows: Any) -> Callable[[], object]:
    return lambda: model.predict_proba(rows)


def peers() -> list[tuple[str, Any]]:
    found = [("HistGradientBoosting", HistGradientBoostingClassifier())]
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return found
    return [*found, ("LightGBM", LGBMClassifier(n_jobs=1, verbose=-1))]


def memory(path: Path, n_rows: int) -> None:
    command = [sys.executable, str(Path(__file__).resolve()), "--grow", str(path), str(n_rows)]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=one_thread)
    size = n_rows * 30 * 8 / 1e6
    for name, (grown, result) in json.loads(done.stdout).items():
        print(
            f"memory of {n_rows:,} rows, {name}: {grown:.0f} MB, of which {result:.0f} MB are the "
            f"result (the data have {size:.0f} MB)"
        )


def grow(path: str, n_rows: int) -> None:
    """Print by how many megabytes the resident set grows at most, and the size of the result."""
    frame, target = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RuleClassifier().fit(frame, target)
    loaded = load_model(path)
    large = frame.__class__(more_rows(frame, n_rows), columns=frame.columns)
    asked = large[[feature.name for feature in loaded.model_.features]].to_numpy()
    found = {}
    for name, predict, rows in (
        ("estimator, data frame", model.predict_proba, large),
        ("loaded model, array", loaded.predict_proba, asked),
    ):
        predict(rows[:BATCH])
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        before = resident("VmRSS")
        result = predict(rows)
        found[name] = (resident("VmHWM") - before) / 1e3, result.nbytes / 1e6
    print(json.dumps(found))


def resident(what: str) -> int:
    """Return the size of the resident set in kilobytes: that of now, or the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def more_rows(frame: Any, n_rows: int) -> Any:
    """Draw rows of a frame, each a little different."""
    rng, values = np.random.default_rng(0), frame.to_numpy()
    rows = values[rng.integers(0, len(values), n_rows)]
    for j, deviation in enumerate(values.std(axis=0)):
        rows[:, j] += NOISE * deviation * rng.standard_normal(n_rows)
    return rows


def microseconds(ways: dict[str, Callable[[], object]], repeats: int = 15) -> dict[str, float]:
    """Return the least processor time of each way, in rounds, so that all have the same weather."""
    calls = {name: n_calls(work) for name, work in ways.items()}
    best = dict.fromkeys(ways, np.inf)
    for _ in range(repeats):
        for name, work in ways.items():
            start = time.process_time()
            for _ in range(calls[name]):
                work()
            best[name] = min(best[name], (time.process_time() - start) / calls[name] * 1e6)
    return best


def n_calls(work: Callable[[], object]) -> int:
    """Return how many calls take about 20 ms; the first ones warm up."""
    work()
    start = time.process_time()
    work()
    return max(1, int(0.02 / max(time.process_time() - start, 1e-6)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--grow"]:
        grow(sys.argv[2], int(sys.argv[3]))
    else:
        main()
