"""Run the nodes of a plan as processes on this machine, and start those again that end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from solah.site.bundle import Bundle
    from solah.site.plan import NodePlan

_PATIENCE = 20.0
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_LONG_ENOUGH = 60.0  # seconds after which a node is taken to run well
_MOST_OF_A_LOG = 5_000_000


class Launcher:
    """Starts, kills and stops the nodes of a plan.

    Parameters
    ----------
    bundle : Bundle
    plan_file : pathlib.Path
        The file that it was read from.
    url : str
        The broker.
    folder : pathlib.Path
        Where logs and what nodes remember go.
    **settings
        Further settings of :class:`solah.cli.node_process.NodeSettings`.
    """

    def __init__(
        self, bundle: Bundle, plan_file: Path, url: str, folder: Path, **settings: Any
    ) -> None:
        self.bundle, self.folder = bundle, folder
        self._settings = {"plan": str(plan_file), "broker": {"url": url}, **settings}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    @classmethod
    def of_site(cls, bundle: Bundle, site_file: Path, folder: Path, **settings: Any) -> Launcher:
        """Return a launcher of the nodes of a site file."""
        nodes = cls(bundle, site_file, "", folder)
        nodes._settings = {"site": str(site_file), **settings}
        return nodes

    def start(self, *names: str, replay: Path | None = None, rate: float | None = None) -> None:
        """Start nodes, all of them in the plan's order by default."""
        for node in self.bundle.plan.nodes:
            if not names or node.name in names:
                self._start(node, replay, rate)

    def ids(self) -> dict[str, int]:
        """Return the number of each node's process."""
        return {name: process.pid for name, process in self._processes.items()}

    def ended(self) -> dict[str, int]:
        """Return the exit codes of the nodes that ended by themselves."""
        codes = {name: process.poll() for name, process in self._processes.items()}
        return {name: code for name, code in codes.items() if code is not None}

    def kill(self, name: str) -> None:
        """Kill a node without a warning."""
        self._processes[name].kill()
        self._processes[name].wait()

    def stop(self) -> None:
        """Stop all nodes; who does not go by itself is killed."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def log(self, name: str) -> str:
        """Return what a node printed."""
        file = self.folder / f"{name}.log"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    def _start(self, node: NodePlan, replay: Path | None, rate: float | None) -> None:
        settings: dict[str, Any] = {
            "name": node.name,
            "state": str(self.folder / f"{node.name}.state"),
        }
        if node.reads and replay is not None:
            settings |= {"replay": str(replay), "replay_rate": rate}
        # -P: no file of the current folder may replace a module.
        program = [sys.executable, "-P", "-m", "solah.cli.node_process"]
        log_file = self.folder / f"{node.name}.log"
        if log_file.exists() and log_file.stat().st_size > _MOST_OF_A_LOG:
            log_file.replace(log_file.with_suffix(".log.old"))
        with log_file.open("ab") as log:
            process = subprocess.Popen(
                [*program, json.dumps({**self._settings, **settings})],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=None if self._settings.get("log") == "json" else log,  # None: as ours
            )
        self._processes[node.name] = process


def why_ended(code: int, log: str) -> str:
    """Return how a process ended, and its error where it printed one.

    Examples
    --------
    >>> why_ended(-9, "solah: note: connected"), why_ended(2, "solah: error: no model")
    ('was killed by SIGKILL', 'ended with code 2: solah: error: no model')
    """
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    last = (log.strip().splitlines() or [""])[-1]
    return f"ended with code {code}" + (f": {last}" if code and "error" in last.lower() else "")


@dataclass
class _Run:
    """When a node was started last, how often it failed at once, and when to start it again."""

    started: float
    failures: int = 0
    due: float | None = None


class Supervisor:
    """Starts nodes again that end, waiting longer each time that one fails at once.

    Parameters
    ----------
    nodes : Launcher
        With all its nodes started.
    now : float
        The time, in seconds.
    log : callable
        Called with what an operator should know.
    """

    def __init__(self, nodes: Launcher, now: float, log: Callable[[str], None]) -> None:
        self.restarts: Counter[str] = Counter()
        self._nodes, self._log = nodes, log
        self._runs = {name: _Run(now) for name in nodes.ids()}

    def look(self, now: float) -> None:
        """Start the nodes whose time has come, and note those that ended."""
        for name, code in self._nodes.ended().items():
            run = self._runs[name]
            if run.due is None:
                run.failures = 0 if now - run.started >= _LONG_ENOUGH else run.failures + 1
                wait = min(_FIRST_WAIT * 2 ** max(run.failures - 1, 0), _LONGEST_WAIT)
                run.due = now + wait
                cause = why_ended(code, self._nodes.log(name))
                self._log(f"node {name} {cause}; it starts again in {wait:.0f} s")
            elif now >= run.due:
                run.started, run.due = now, None
                self.restarts[name] += 1
                self._nodes.start(name)
