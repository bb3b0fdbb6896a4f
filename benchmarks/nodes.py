"""The decisions of a network of nodes on one machine, their speed, and the load of its broker.

    python benchmarks/nodes.py [--rows 20000] [--rate 200] [--seconds 20]

Five processes on three levels (three measure, one fuses two of them, one decides) and mosquitto on
the loopback; a model of breast cancer readings that ships with scikit-learn, its rows drawn with
replacement (seed 1). First all rows at once: decisions a second from the first to the last. Then
rows at a rate: the time from the last reading of a row to the arrival of its decision at a
subscriber. CPU time and memory of every process, and the broker's share of all, come from the same
run; so does what the model takes for the rows alone, in one process, one row at a time. Last: the
accuracy when measuring nodes are dead. Every decision is compared with the model's.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_breast_cancer

from solah import RuleClassifier
from solah.model.predictor import Predictor
from solah.site.bundle import Bundle, save_bundle
from solah.site.client import Client, find_broker
from solah.site.messages import decode_decisions
from solah.site.plan import make_plan
from solah.site.supervisor import Launcher
from solah.site.topics import Topics

if TYPE_CHECKING:
    import pandas as pd

    from solah.site.messages import Decided

GROUPS = {
    "a": ["mean_radius", "mean_texture", "mean_concavity"],
    "b": ["worst_texture", "worst_smoothness", "worst_concavity"],
    "c": ["area_error", "worst_area", "worst_symmetry"],
}
TICKS = os.sysconf("SC_CLK_TCK")


class Listener:
    """Gathers decisions, and when they came."""

    def __init__(self, url: str) -> None:
        self.rows: dict[int, tuple[float, Decided]] = {}
        self._lock = threading.Lock()
        self._client = Client(find_broker(url), "listener", self._take)
        self._client.subscribe([Topics("site").decisions])
        self._client.start()

    def _take(self, _topic: str, payload: bytes) -> None:
        now = time.time()
        with self._lock:
            for row in decode_decisions(payload).rows:
                self.rows.setdefault(row.sequence, (now, row))

    def wait(self, n_rows: int, seconds: float) -> None:
        """Wait until ``n_rows`` rows are decided, for ``seconds`` at most."""
        give_up = time.monotonic() + seconds
        while len(self.rows) < n_rows and time.monotonic() < give_up:
            time.sleep(0.02)

    def stop(self) -> None:
        """Listen no more."""
        self._client.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    bundle, rows, truth = made(options.rows)
    print(f"{len(bundle.plan.nodes)} nodes, {bundle.model.n_rules} rules")
    throughput(bundle, rows)
    latency(bundle, rows, options)
    alone(bundle, rows)
    without_nodes(bundle, rows.head(569), truth[:569])


def made(n_rows: int) -> tuple[Bundle, pd.DataFrame, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.columns = [name.replace(" ", "_") for name in X.columns]
    half = np.random.default_rng(0).permutation(len(X))
    learned, rest = half[: len(X) // 2], half[len(X) // 2 :]
    fitted = RuleClassifier(feature_groups=GROUPS, interactions=0, max_rules=60)
    X = X[[name for names in GROUPS.values() for name in names]]
    model = fitted.fit(X.iloc[learned], y.iloc[learned]).model_
    used = {feature.name for feature in model.features}
    placement = {node: [name for name in names if name in used] for node, names in GROUPS.items()}
    drawn = np.random.default_rng(1).choice(rest, n_rows)
    rows = X.iloc[drawn].reset_index(drop=True)
    return Bundle(make_plan(model, placement), model), rows, y.iloc[drawn].to_numpy()


class Site:
    """A broker, the nodes of a plan, and who listens."""

    def __init__(self, bundle: Bundle, rows: pd.DataFrame, deadline: float) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.folder.chmod(0o777)
        self.table = self.folder / "rows.csv"
        rows.to_csv(self.table, index=False)
        plan_file = self.folder / "plan.json"
        save_bundle(bundle, plan_file)
        self._port = free_port()
        url = f"mqtt://127.0.0.1:{self._port}"
        self.broker = start_mosquitto(self.folder, self._port)
        self.listener = Listener(url)
        self.nodes = Launcher(bundle, plan_file, url, self.folder, deadline=deadline)

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU time of each process so far."""
        ids = {**self.nodes.ids(), "broker": self.broker.pid}
        return {name: cpu_of(number) for name, number in ids.items()}

    def restart_broker(self) -> None:
        """Stop the broker, and start it again."""
        self.broker.terminate()
        self.broker.wait()
        time.sleep(1.0)
        self.broker = start_mosquitto(self.folder, self._port)

    def stop(self) -> None:
        """Stop everything."""
        self.nodes.stop()
        self.listener.stop()
        self.broker.terminate()
        self.broker.wait()
        shutil.rmtree(self.folder)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_mosquitto(folder: Path, port: int, *more: str) -> subprocess.Popen[bytes]:
    config = folder / "mosquitto.conf"
    lines = (
        f"listener {port} 127.0.0.1",
        "allow_anonymous true",
        "set_tcp_nodelay true",
        "persistence true",
        f"persistence_location {folder}/",
        *more,
    )
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    process = subprocess.Popen([program, "-c", str(config)], stderr=subprocess.DEVNULL)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return process
    raise SystemExit("mosquitto does not start")


def cpu_of(number: int) -> float:
    fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(number: int) -> float:
    """Return the resident memory of a process, in megabytes."""
    status = Path(f"/proc/{number}/status").read_text(encoding="utf-8")
    (line,) = (one for one in status.splitlines() if one.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def throughput(bundle: Bundle, rows: pd.DataFrame) -> None:
    site = Site(bundle, rows, 60)
    site.nodes.start(replay=site.table)
    site.listener.wait(1, 60.0)
    before, begun = site.cpu_seconds(), time.time()
    already = len(site.listener.rows)
    site.listener.wait(len(rows), 300.0)
    seconds = time.time() - begun
    spent = {name: after - before[name] for name, after in site.cpu_seconds().items()}
    n_decided = len(site.listener.rows)
    print(f"\nall at once: {(n_decided - already) / seconds:,.0f} decisions/s ({n_decided:,} rows)")
    share = spent["broker"] / sum(spent.values())
    told = ", ".join(f"{name} {one:.1f}" for name, one in spent.items())
    print(f"  CPU seconds: {told}; the broker's share {100 * share:.0f} %")
    memory = {name: resident(number) for name, number in site.nodes.ids().items()}
    print("  resident MB: " + ", ".join(f"{name} {one:.0f}" for name, one in memory.items()))
    check(bundle, rows, site.listener)
    site.stop()


def latency(bundle: Bundle, rows: pd.DataFrame, options: argparse.Namespace) -> None:
    rows = rows.head(int(options.rate * options.seconds))
    site = Site(bundle, rows, 60)
    site.nodes.start(replay=site.table, rate=options.rate)
    site.listener.wait(len(rows), options.seconds + 60.0)
    # Nodes start one after the other, so the first rows wait for the last node.
    late = sorted(
        heard - row.time
        for sequence, (heard, row) in site.listener.rows.items()
        if sequence > 0.25 * len(rows)
    )
    p50, p99 = (1000 * late[int(share * len(late))] for share in (0.5, 0.99))
    print(f"\n{options.rate:g} rows/s: half of the decisions within {p50:.1f} ms,", end=" ")
    print(f"99 % within {p99:.1f} ms (the first quarter of the rows skipped)")
    check(bundle, rows, site.listener)
    site.stop()


def alone(bundle: Bundle, rows: pd.DataFrame) -> None:
    predictor = Predictor(bundle.model)
    names = [feature.name for feature in bundle.model.features]
    matrix = rows[names].head(2_000).to_numpy()
    begun = time.perf_counter()
    for row in matrix:
        predictor.predict_proba(row[None])
    seconds = time.perf_counter() - begun
    print(f"\nin one process, one row at a time: {len(matrix) / seconds:,.0f} decisions/s")


def without_nodes(bundle: Bundle, rows: pd.DataFrame, truth: np.ndarray) -> None:
    """Let measuring nodes die one after the other; their readings are unknown then."""
    print("\ndead nodes   accuracy   decisions with something missing")
    measuring = [node for node in bundle.plan.nodes if node.reads]
    for n_dead in range(len(measuring) + 1):
        if n_dead == len(measuring):
            share = np.bincount(truth).max() / len(truth)
            print(f"  {n_dead}          {share:.3f}   (nobody measures: the most frequent class)")
            return
        dead = {node.name for node in measuring[:n_dead]}
        site = Site(bundle, rows, 5)
        alive = [node.name for node in bundle.plan.nodes if node.name not in dead]
        site.nodes.start(*alive, replay=site.table, rate=1000)
        site.listener.wait(len(rows), 60.0)
        found = site.listener.rows
        right = [row.decision == str(truth[sequence]) for sequence, (_, row) in found.items()]
        missing = sum(bool(row.missing) for _, row in found.values())
        print(f"  {n_dead}          {np.mean(right):.3f}   {missing} of {len(found)}", flush=True)
        site.stop()


def check(bundle: Bundle, rows: pd.DataFrame, listener: Listener) -> None:
    expected = Predictor(bundle.model).predict_proba(rows)
    same = sum(
        tuple(row.probabilities.values()) == tuple(expected[sequence])
        for sequence, (_, row) in listener.rows.items()
    )
    print(f"  {same:,} of {len(rows):,} rows have the model's probabilities, bit for bit")


if __name__ == "__main__":
    main()
