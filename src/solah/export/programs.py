"""What exports beyond C have in common: a program, and what runs it on rows.

A program is written in a language that has doubles, so that its arithmetic is the model's. It is
compared with the model by running it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from solah.exceptions import ParameterError, shorten
from solah.model.document import Task
from solah.model.program import Walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature
    from solah.model.program import Axis, Grid, Term

_SEVEN_DIGITS = Context(prec=7)
# From here on all digits of a number that represents a category count.
_LARGE = 1e7
_MOST_WHOLE = 2**53


class Run(ABC):
    """Runs a program on rows as numbers, as a simulator decides on them.

    Parameters
    ----------
    model : Model

    Attributes
    ----------
    unit, belief_unit : 1, since a program computes in the model's own numbers
    """

    unit: ClassVar[float] = 1.0
    belief_unit: ClassVar[float] = 1.0

    def __init__(self, model: Model) -> None:
        self.is_number = model.target.task is Task.REGRESSION
        self._features = model.features

    def decide(self, rows: Float) -> tuple[NDArray[np.intp], Float]:
        """Decide on rows ``(n_rows, n_features)``; return indices of classes, and probabilities."""
        answers = self._answers(self._columns(rows))
        return answers[:, 0].astype(np.intp), answers[:, 1:]

    def estimate(self, rows: Float) -> Float:
        """Estimate a number for each row."""
        return self._answers(self._columns(rows))[:, 0]

    def _columns(self, rows: Float) -> list[list[State | None]]:
        """Write rows as a program reads them: states by their names, None where it is unknown."""
        return [
            [reading_of(feature, value) for value in column]
            for feature, column in zip(self._features, rows.T.tolist(), strict=True)
        ]

    @abstractmethod
    def _answers(self, columns: list[list[State | None]]) -> Float:
        """Run the program: an index and class probabilities for each row, or a number."""


@dataclass(frozen=True, eq=False)
class Program:
    """A model in a language beyond C, which computes in doubles as the model does.

    Attributes
    ----------
    name : what its files are called
    files : the files by name
    simulator : runs it on rows; None if what it takes is not installed
    """

    name: str
    files: Mapping[str, str | bytes]
    simulator: Run | None
    numbers: ClassVar[Literal["double"]] = "double"
    warnings: ClassVar[tuple[str, ...]] = ()


def state_bounds(states: Sequence[float]) -> list[tuple[float, float]]:
    """Return from where to where a number counts as each state, as `encode_states` reads it.

    Numbers are known by seven digits, unless two states would be the same then.

    Examples
    --------
    >>> state_bounds([0, 0.1, 3])
    [(0.0, 0.0), (0.09999999500000001, 0.10000005), (2.9999995000000004, 3.0000004999999996)]
    """
    bounds = [_seven_digits(state) for state in states]
    are_apart = len(set(bounds)) == len(bounds)
    return bounds if are_apart else [(float(state), float(state)) for state in states]


def known_by(feature: Feature) -> tuple[str | tuple[float, float], ...]:
    """Return how each category of a feature is known: a text, or the numbers that count as it."""
    if not feature.is_coded:
        return ()
    texts = tuple(state for state in feature.categories if isinstance(state, str))
    return texts or tuple(state_bounds(feature.categories))  # type: ignore[arg-type]


def _seven_digits(state: float) -> tuple[float, float]:
    spelled = f"{state:.7g}"
    if not state or abs(float(spelled)) >= _LARGE:
        return float(state), float(state)
    rounded = Decimal(spelled)
    neighbours = rounded.next_minus(_SEVEN_DIGITS), rounded.next_plus(_SEVEN_DIGITS)
    low, high = (float((rounded + one) / 2) for one in neighbours)
    # The middle between two numbers of seven digits may round to the other one.
    while f"{low:.7g}" != spelled:
        low = math.nextafter(low, state)
    while f"{high:.7g}" != spelled:
        high = math.nextafter(high, state)
    return low, high


def as_walk(cells: Grid | Walk) -> Walk:
    """Write the rules of a grid as a walk: one split for each of its axes.

    Examples
    --------
    >>> from solah.model.program import Grid
    >>> walk = as_walk(Grid(np.array([[0, 1], [1, 2]], np.int32), np.zeros((3, 3, 1))))
    >>> walk.split.tolist(), walk.child.tolist()
    ([0, 1, 1, -1, -1, -1, -1], [1, 3, 5, 0, 1, 1, 2])
    """
    if isinstance(cells, Walk):
        return cells
    split: list[int] = []
    child: list[int] = []
    n_nodes = 1
    for axis, size in enumerate(cells.rules.shape):
        first = len(split) + n_nodes
        split += [axis] * n_nodes
        child += range(first, first + n_nodes * size, size)
        n_nodes *= size
    split += [-1] * n_nodes
    child += cells.rules.ravel().tolist()
    depth = cells.rules.ndim
    return Walk(np.array(split, dtype=np.int32), np.array(child, dtype=np.int32), depth)


def missing_axes(term: Term, axes: Sequence[Axis]) -> list[Axis]:
    """List the axes of a term whose missing readings make scores less certain."""
    if term.missing is not None or not term.variance:
        return []
    return [axes[a] for a in term.axes if axes[a].is_read]


def refuse_nul(model: Model, language: str) -> None:
    """Refuse a model whose names or states have a NUL, which ends a name in some languages."""
    for text in model_texts(model):
        if "\0" in text:
            raise ParameterError(f"{language} cannot hold {shorten(text)}, which has a NUL")


def model_texts(model: Model) -> Iterator[str]:
    """Yield the names of features, and the states and classes that are texts."""
    yield from (one.name for one in model.features)
    for states in (model.target.classes, *(one.categories for one in model.features)):
        yield from (state for state in states if isinstance(state, str))


def refuse_large_states(model: Model, language: str) -> None:
    """Refuse a model with states that no double can hold."""
    states = (*model.target.classes, *(state for one in model.features for state in one.categories))
    for state in states:
        if isinstance(state, int) and abs(state) > _MOST_WHOLE:
            raise ParameterError(
                f"{language} cannot distinguish the category {state} from its neighbours: integers "
                "beyond 2^53 have no double. Train the model with texts instead."
            )


def reading_of(feature: Feature, value: float) -> State | None:
    """Return what a number represents: a state by its name, None where it is unknown."""
    if value != value:
        return None
    if not feature.is_coded:
        return value
    is_state = value in range(len(feature.categories))
    return feature.categories[int(value)] if is_state else None
