"""Run the nodes of a plan as processes on this machine."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from solah.network.bundle import Bundle
    from solah.network.plan import NodePlan

_PATIENCE = 20.0


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
    words : sequence of str
        Further words for ``solah node``.
    """

    def __init__(
        self, bundle: Bundle, plan_file: Path, url: str, folder: Path, words: Sequence[str] = ()
    ) -> None:
        self.bundle, self.folder = bundle, folder
        self._words = ["--plan", str(plan_file), "--broker", url, *words]
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

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
        words = ["--name", node.name, "--state", str(self.folder / f"{node.name}.state")]
        if node.reads and replay is not None:
            words += ["--replay", str(replay)]
        if node.reads and replay is not None and rate is not None:
            words += ["--rate", str(rate)]
        # -P: no file of the current folder may stand in for a module.
        command = [sys.executable, "-P", "-m", "solah.cli.main", "node", *self._words, *words]
        with (self.folder / f"{node.name}.log").open("ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._processes[node.name] = process
