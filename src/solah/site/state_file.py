"""Save what a node must not forget to a file, and read it back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from solah.atomic import write_whole
from solah.data.json_reader import JsonParser, Reader
from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from solah.site.messages import Reading

_MAX_PLANS = 1_000


@dataclass(frozen=True)
class OpenRow:
    """A row that waits for something.

    Attributes
    ----------
    sequence, time : the row's
    model : the hash of the bundle that its signals were made with
    readings : those that were measured here; None where none came
    signals : the scores of other nodes, and the readings that they sent
    missing : what they lacked
    unknown : the missing share of these
    """

    sequence: int
    time: float
    model: str
    readings: Mapping[str, Reading] | None = None
    signals: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    unknown: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Memory:
    """How far a node came.

    Attributes
    ----------
    settled : the last row up to which all are done; -1 for none
    brought : the last row that its own source (a file, a function) brought; -1 for none
    over : first and last of the rows beyond ``settled`` that are decided, run by run
    rows : the rows that wait for something
    """

    settled: int = -1
    brought: int = -1
    over: tuple[tuple[int, int], ...] = ()
    rows: tuple[OpenRow, ...] = ()


def write_memory(path: Path, memory: Memory) -> None:
    """Write the file, whole or not at all."""
    plain = {**vars(memory), "rows": [vars(row) for row in memory.rows]}
    write_whole(path, json.dumps(plain, separators=(",", ":")))


def read_memory(path: Path | None) -> Memory:
    """Read the file; a node that has noted nothing remembers nothing."""
    if path is None:
        return Memory()
    if not path.parent.is_dir():
        raise ParameterError(f"the folder {path.parent} is not there; make it first")
    if not path.exists():
        return Memory()
    try:
        return _read(_parse(path).value)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ParameterError(
            f"{path} has no position of a node; delete it to begin from the first row"
        ) from None


def _parse(path: Path) -> Reader:
    return JsonParser("the file", ParameterError).read(path.read_bytes(), allow_nan=True)


def _read(plain: Any) -> Memory:
    if isinstance(plain, int):  # all that was noted by version 0.1
        return Memory(_row(plain), _row(plain))
    return Memory(
        settled=_row(plain["settled"]),
        brought=_row(plain["brought"]),
        over=tuple((_row(first), _row(last)) for first, last in plain["over"]),
        rows=tuple(map(_open_row, plain["rows"])),
    )


def _row(value: Any) -> int:
    if type(value) is not int or value < -1:
        raise ValueError(value)
    return value


def _open_row(plain: Any) -> OpenRow:
    signals = {part: tuple(map(float, signal)) for part, signal in plain["signals"].items()}
    readings = None if plain["readings"] is None else dict(plain["readings"])
    unknown = plain.get("unknown", {})  # version 0.1 noted none
    return OpenRow(
        sequence=_row(plain["sequence"]),
        time=float(plain["time"]),
        model=str(plain["model"]),
        readings=readings,
        signals=signals,
        missing=tuple(map(str, plain["missing"])),
        unknown={part: (float(of[0]), float(of[1])) for part, of in unknown.items()},
    )


def as_runs(rows: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Write rows as first and last of each run.

    Examples
    --------
    >>> as_runs([4, 1, 2, 3, 9])
    ((1, 4), (9, 9))
    """
    runs: list[tuple[int, int]] = []
    for row in sorted(rows):
        if runs and runs[-1][1] == row - 1:
            runs[-1] = (runs[-1][0], row)
        else:
            runs.append((row, row))
    return tuple(runs)


def write_plans(path: Path, documents: Sequence[bytes]) -> None:
    """Write the plans that a node has taken from the broker beside what it remembers."""
    write_whole(_beside(path), json.dumps([one.decode() for one in documents]))


def read_plans(path: Path | None) -> list[bytes]:
    """Read the plans that a node had taken, in that order; none where the file is broken.

    What was published last, the broker keeps too.
    """
    if path is None or not _beside(path).exists():
        return []
    try:
        return [one.text().encode() for one in _parse(_beside(path)).items(0, _MAX_PLANS)]
    except ParameterError:
        return []


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".plans")
