"""Score a stream's decisions, overall and over the last rows."""

from __future__ import annotations

from collections import deque
from typing import Any


class Scoreboard:
    """Counts decisions that were made before their rows were learnt from.

    Parameters
    ----------
    window : how many of the last ones to remember
    """

    def __init__(self, window: int) -> None:
        self._last: deque[tuple[bool, float]] = deque(maxlen=window)
        self._n_right = 0
        self._loss = 0.0
        self.n_decided = 0

    def add(self, is_right: bool, loss: float) -> None:
        """Count a decision."""
        self._last.append((is_right, loss))
        self.n_decided += 1
        self._n_right += is_right
        self._loss += loss

    @property
    def accuracy(self) -> float | None:
        """The share of right decisions among the last; None before the first."""
        return sum(right for right, _ in self._last) / len(self._last) if self._last else None

    @property
    def log_loss(self) -> float | None:
        """The mean loss of the last; None before the first."""
        return sum(loss for _, loss in self._last) / len(self._last) if self._last else None

    @property
    def accuracy_overall(self) -> float | None:
        """The share of right decisions among all; None before the first."""
        return self._n_right / self.n_decided if self.n_decided else None

    @property
    def log_loss_overall(self) -> float | None:
        """The mean loss of all; None before the first."""
        return self._loss / self.n_decided if self.n_decided else None

    def state(self) -> dict[str, Any]:
        """Return what is to be kept, as JSON has it."""
        return {
            "last": [[right, loss] for right, loss in self._last],
            "n_right": self._n_right,
            "loss": self._loss,
            "n_decided": self.n_decided,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state` returned."""
        self._last.clear()
        self._last.extend((bool(right), float(loss)) for right, loss in state["last"])
        self._n_right, self._loss = int(state["n_right"]), float(state["loss"])
        self.n_decided = int(state["n_decided"])
