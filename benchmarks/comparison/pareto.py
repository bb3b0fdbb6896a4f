"""Sizes and scores in, the models that nothing smaller beats out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Point:
    """A model: the smaller and the higher its score, the better."""

    name: str
    size: float
    score: float


def pareto_front(points: Iterable[Point]) -> list[Point]:
    """Keep the points that no other beats in one respect and equals in the other; smallest first.

    >>> few, worse, many = Point("few", 3, 0.8), Point("worse", 9, 0.7), Point("many", 9, 0.9)
    >>> [point.name for point in pareto_front([many, worse, few])]
    ['few', 'many']
    """
    front: list[Point] = []
    for point in sorted(points, key=lambda point: (point.size, -point.score)):
        best = front[-1] if front else None
        if best is None or point.score > best.score or _is_simulator(point, best):
            front.append(point)
    return front


def _is_simulator(point: Point, other: Point) -> bool:
    return (point.size, point.score) == (other.size, other.score)
