"""Finds the point on a line at which a decision changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.explain.changing.probing import Probe
    from solah.kernels.arrays import Float

_MOST_ROUNDS = 100
_CLOSE = 1e-13
# Where to look, around the place where straight scores would cross: close, and closer.
_AROUND = np.array([-1e-3, -1e-6, -1e-9, -1e-12, -1e-14, 0.0, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3])


@dataclass(frozen=True, eq=False)
class Brackets:
    """Pieces of lines through rows, with the decision kept at one end and changed at the other.

    A point on a line is ``origins + t * directions``.

    Attributes
    ----------
    origins, directions : (n, n_attributes) the lines
    inside : (n,) the last t that is known to keep the decision
    outside : (n,) the first t that is known to change it
    """

    origins: Float
    directions: Float
    inside: Float
    outside: Float

    @classmethod
    def of_readings(
        cls, row: Float, places: NDArray[np.intp], inside: Float, outside: Float
    ) -> Brackets:
        """Take one reading of a row in each piece: t is the reading."""
        origins = np.repeat(row[None, :], len(places), axis=0)
        directions = np.zeros_like(origins)
        origins[np.arange(len(places)), places] = 0.0
        directions[np.arange(len(places)), places] = 1.0
        return cls(origins, directions, inside, outside)

    def points(self, t: Float) -> Float:
        """Return points of each line at ``t`` ``(n, m)``: ``(n * m, n_attributes)``."""
        points = self.origins[:, None, :] + t[:, :, None] * self.directions[:, None, :]
        return np.asarray(points.reshape(-1, self.origins.shape[1]))

    def take(self, lines: NDArray[np.intp]) -> Brackets:
        """Return some of the pieces."""
        return Brackets(
            self.origins[lines], self.directions[lines], self.inside[lines], self.outside[lines]
        )


def narrow(probe: Probe, decision: int, brackets: Brackets) -> Brackets:
    """Narrow pieces until their ends are as close as floats need.

    Each round looks around the crossing of straight scores, which is exact where they are
    straight, and in the middle, which halves the piece in any case.
    """
    inside, outside = brackets.inside.copy(), brackets.outside.copy()
    for _ in range(_MOST_ROUNDS):
        size = np.maximum(np.abs(inside), np.abs(outside))
        wide = np.flatnonzero(np.abs(outside - inside) > _CLOSE * size)
        if not len(wide):
            break
        left = replace(brackets, inside=inside, outside=outside).take(wide)
        looked_at = _places_to_look(probe, decision, left)
        changed = probe.decide(_beliefs(probe, left, looked_at)) != decision
        inside[wide], outside[wide] = _tightened(left, looked_at, changed.reshape(looked_at.shape))
    return replace(brackets, inside=inside, outside=outside)


def crossing_share(scores_inside: Float, scores_outside: Float, decision: int) -> Float:
    """Return how far on the way straight scores ``(n, n_classes)`` cross, between 0 and 1."""
    lead = scores_inside[:, [decision]] - scores_inside
    lead_after = scores_outside[:, [decision]] - scores_outside
    falling = lead - lead_after
    share = np.divide(lead, falling, out=np.ones_like(lead), where=falling > 0)
    share[:, decision] = 1.0
    return np.asarray(np.clip(share.min(axis=1), 0.0, 1.0))


def _places_to_look(probe: Probe, decision: int, brackets: Brackets) -> Float:
    """Choose where to look on each piece ``(n, m)``, in the order from inside to outside."""
    ends = np.column_stack([brackets.inside, brackets.outside])
    scores = probe.scores(_beliefs(probe, brackets, ends)).reshape(*ends.shape, -1)
    share = crossing_share(scores[:, 0], scores[:, 1], decision)
    shares = np.column_stack([share[:, None] + _AROUND, np.full(len(ends), 0.5)])
    shares = np.sort(np.clip(shares, 0.0, 1.0), axis=1)
    return np.asarray(ends[:, :1] + shares * (ends[:, 1:] - ends[:, :1]))


def _tightened(
    brackets: Brackets, looked_at: Float, changed: NDArray[np.bool_]
) -> tuple[Float, Float]:
    """Move the ends to the first point that changes the decision and the last before it."""
    t = np.column_stack([brackets.inside, looked_at, brackets.outside])
    known = np.column_stack([np.zeros(len(changed), bool), changed, np.ones(len(changed), bool)])
    first, line = np.argmax(known, axis=1), np.arange(len(known))
    return t[line, first - 1], t[line, first]


def _beliefs(probe: Probe, brackets: Brackets, t: Float) -> Float:
    points = brackets.points(t)
    return probe.ask(np.zeros(len(points), dtype=np.intp), points)
