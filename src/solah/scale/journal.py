"""Save the statistics of passes, so that a stopped run continues where it was.

Training is decided by the statistics of its passes alone. So it is enough to keep these: a run that
begins again takes the same decisions from the statistics that are there, and passes over the rows
only for those that are missing, or that were altered since. The model that comes out is the same,
bit for bit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.data.json_reader import JsonParser
from solah.exceptions import DataError, ParameterError
from solah.scale.sealed import read_sealed, write_sealed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from solah.scale.engines import Engine, Portions
    from solah.scale.passes import Pass, Statistics

TASK_FILE = "task.json"


@dataclass
class Journal:
    """An engine that keeps what its passes found in a folder, and knows what is there.

    Attributes
    ----------
    engine : who takes the passes
    folder : where statistics are kept
    task : what is trained, on what; a folder serves one task only
    """

    engine: Engine
    folder: Path
    task: Mapping[str, str]
    _n_passes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        _make(self.folder)
        place = self.folder / TASK_FILE
        task = dict(self.task)
        if not place.exists():
            write_whole(place, _spelt(task))
            return
        known = _read_task(place)
        for name in sorted({*known, *task}):
            if known.get(name) != task.get(name):
                raise ParameterError(
                    f"the checkpoint {self.folder} is of another run, which differs in its {name}; "
                    "take another folder, or remove this one to begin again"
                )

    @property
    def portions(self) -> Portions:
        """How much is read and held at a time."""
        return self.engine.portions

    def run(self, one: Pass[Any]) -> Statistics:
        """Return what a pass found before; else take it, and keep what it finds."""
        self._n_passes += 1
        name = f"{self._n_passes:04d}-{one.key.replace(' ', '-')}"
        place, of = self.folder / f"{name}.npz", f"{name} of {_spelt(self.task)}"
        kept = read_sealed(place, of)
        if kept is None:
            kept = self.engine.run(one)
            write_sealed(place, kept, of)
        return kept


def _spelt(task: Mapping[str, str]) -> str:
    return json.dumps(dict(task), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f"the checkpoint {folder} cannot be made: {error.strerror}; take another folder"
        ) from None


def _read_task(place: Path) -> dict[str, Any]:
    try:
        task = JsonParser("the task", DataError).read(place.read_bytes()).value
    except (OSError, DataError):
        task = None
    if not isinstance(task, dict):
        raise ParameterError(
            f"{place} is not what a checkpoint begins with; take another folder for the checkpoint"
        )
    return task
