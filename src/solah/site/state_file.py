"""What a node must not forget, in a file to which it appends.

Each line is a JSON object with one key: ``position``, ``decided`` (a message of decisions, written
before it is sent) or ``plans``. The last position and plans count, and the decisions behind that
position, which are sent again after a restart. So a node that is killed decides no row again with
another result. If the file cannot be written, as on a full disk, the node goes on from memory.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError
from solah.site.journal import LineFile
from solah.site.logs import Event
from solah.site.messages import MessageError, decode_decisions

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from solah.site.messages import Reading

_MAX_BYTES = 1_000_000  # beyond what is needed
_TRY_AGAIN = 5.0
_DECIDED = b'{"decided":'
_BEGINNINGS = (_DECIDED, b'{"position":', b'{"plans":')


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
    done : the last row up to which all are done; -1 for none
    brought : the last row that its own source (a file, a function) brought; -1 for none
    rows : the rows that wait for something
    decided : the rows beyond ``done`` that are decided, as the file has them
    """

    done: int = -1
    brought: int = -1
    rows: tuple[OpenRow, ...] = ()
    decided: frozenset[int] = frozenset()


class StateFile:
    """The file of a node; without a path, it remembers nothing.

    Parameters
    ----------
    path : pathlib.Path or None
    counters : where failures are counted
    log : called with what an operator should know

    Examples
    --------
    >>> from collections import Counter
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from solah.site.messages import Decided, Decisions, encode
    >>> payload = encode(Decisions("hub", "1f", (Decided(7, 0.0, "wet", {"wet": 1.0}),)))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "hub.state")
    ...     StateFile(path, Counter(), print).keep_decided(payload)
    ...     again = StateFile(path, Counter(), print)
    >>> again.memory.decided, again.decided == [payload]
    (frozenset({7}), True)
    """

    def __init__(
        self, path: Path | None, counters: Counter[str], log: Callable[[str], None]
    ) -> None:
        self._counters, self._log = counters, log
        self.memory, self.plans = Memory(), list[bytes]()
        self._decided: list[tuple[tuple[int, ...], bytes]] = []  # rows, and their message
        self._next_try, self._is_failing = 0.0, False
        self._file: LineFile | None = None
        if path is not None:
            if not path.parent.is_dir():
                raise ParameterError(f"the folder {path.parent} does not exist; make it first")
            self._file = LineFile(path)
            self._read(self._file)
        self._most_bytes = _MAX_BYTES

    @property
    def decided(self) -> list[bytes]:
        """The messages with decisions behind the position."""
        return [payload for _, payload in self._decided]

    def keep_decided(self, payload: bytes) -> None:
        """Keep a message of decisions that is about to be sent."""
        if self._file is not None:
            self._decided.append((_rows_of(payload), payload))
            self._append(_DECIDED + payload + b"}")

    def keep_plans(self, documents: Sequence[bytes]) -> None:
        """Keep the plans that were taken from the broker."""
        self.plans = [*documents]
        self._append(self._plans_line())

    def keep_memory(self, memory: Memory) -> None:
        """Save the progress of the node; the broker has confirmed all earlier messages."""
        if memory == self.memory and not self._is_failing:
            return
        self.memory = memory
        self._decided = [one for one in self._decided if one[0][-1] > memory.done]
        self._append(self._memory_line())

    def _append(self, line: bytes) -> None:
        now = time.monotonic()
        if self._file is None or now < self._next_try:
            return
        try:
            if self._is_failing or self._file.size + len(line) > self._most_bytes:
                decided = [_DECIDED + one + b"}" for one in self.decided]
                self._file.replace([self._plans_line(), self._memory_line(), *decided])
                self._most_bytes = 2 * self._file.size + _MAX_BYTES
            else:
                self._file.append(line)
        except OSError as error:
            self._counters["unsaved"] += 1
            self._next_try = now + _TRY_AGAIN
            if not self._is_failing:
                text = f"cannot write {self._file.path}, the node goes on from memory: {error}"
                self._log(Event(text, "state_unwritable", "error"))
            self._is_failing = True
            return
        if self._is_failing:
            self._log(Event(f"{self._file.path} is written again", "state_writable"))
        self._is_failing = False

    def _memory_line(self) -> bytes:
        rows = [vars(row) for row in self.memory.rows]
        position = {"done": self.memory.done, "brought": self.memory.brought, "rows": rows}
        return _dump({"position": position})

    def _plans_line(self) -> bytes:
        return _dump({"plans": [one.decode() for one in self.plans]})

    def _read(self, file: LineFile) -> None:
        n_own = 0
        for line in file.lines():
            try:
                self._read_line(line)
                n_own += 1
            except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
                n_own += _is_cut_short(line)
        if file.size and not n_own:
            raise ParameterError(
                f"{file.path} is not the state of a node; delete it to begin from the first row"
            )
        self._decided = [one for one in self._decided if one[0][-1] > self.memory.done]
        decided = {row for rows, _ in self._decided for row in rows if row > self.memory.done}
        waiting = tuple(row for row in self.memory.rows if row.sequence not in decided)
        self.memory = replace(self.memory, rows=waiting, decided=frozenset(decided))

    def _read_line(self, line: bytes) -> None:
        if line.startswith(_DECIDED):
            payload = line[len(_DECIDED) : -1]
            self._decided.append((_rows_of(payload), payload))
            return
        ((kind, value),) = json.loads(line).items()
        if kind == "plans":
            self.plans = [str(one).encode() for one in value]
        elif kind == "position":
            rows = tuple(map(_open_row, value["rows"]))
            self.memory = Memory(_row(value["done"]), _row(value["brought"]), rows)
        else:
            raise ValueError(kind)


def _is_cut_short(line: bytes) -> bool:
    """Whether this is the beginning of a line, as a full disk leaves it."""
    try:
        json.loads(line)
    except ValueError:
        return any(line[: len(one)] == one[: len(line)] for one in _BEGINNINGS)
    except RecursionError:
        pass
    return False


def _dump(plain: dict[str, Any]) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode()


def _rows_of(payload: bytes) -> tuple[int, ...]:
    try:
        return tuple(sorted(row.sequence for row in decode_decisions(payload).rows))
    except MessageError as error:
        raise ValueError(payload) from error


def _row(value: Any) -> int:
    if type(value) is not int or value < -1:
        raise ValueError(value)
    return value


def _open_row(plain: Any) -> OpenRow:
    return OpenRow(
        sequence=_row(plain["sequence"]),
        time=float(plain["time"]),
        model=str(plain["model"]),
        readings=None if plain["readings"] is None else dict(plain["readings"]),
        signals={part: tuple(map(float, signal)) for part, signal in plain["signals"].items()},
        missing=tuple(map(str, plain["missing"])),
        unknown={part: (float(of[0]), float(of[1])) for part, of in plain["unknown"].items()},
    )
