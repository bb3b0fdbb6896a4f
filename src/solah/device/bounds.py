"""The inequalities that rules keep while a device learns, so that a model stays monotonic."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from solah.model.monotone import signs_of
from solah.model.program import Grid

if TYPE_CHECKING:
    from solah.device.fixed_tables import FixedTables
    from solah.device.units import Integers
    from solah.model.document import Model


class Bound(NamedTuple):
    """An inequality: the higher rule is no less than the lower one.

    Attributes
    ----------
    lower, higher : the rules, by their lines
    more, less : the classes of which the evidence for one less that for the other is compared
    """

    lower: int
    higher: int
    more: int
    less: int

    def gaps(self, learnt: Integers) -> tuple[int, int]:
        """Return what is compared, of the lower rule and of the higher one."""
        lower, higher = (
            _of(learnt[rule], self.more) - _of(learnt[rule], self.less)
            for rule in (self.lower, self.higher)
        )
        return lower, higher


def _of(line: Integers, state: int) -> int:
    """Return the evidence for a class against the first."""
    return int(line[state - 1]) if state else 0


def learnt_bounds(model: Model, tables: FixedTables) -> tuple[Bound, ...]:
    """List what the rules of a model keep while they learn."""
    program = model.program
    walks = {walk.name: walk for walk in tables.walks}
    terms = [term for stage in program.stages for term in stage.terms]
    found: dict[Bound, None] = {}
    for promise in model.monotonic:
        feature = program.features.index(promise.attribute)
        signs = signs_of([promise], model.goal.size)
        classes = list(
            zip(signs.argmax(axis=1).tolist(), signs.argmin(axis=1).tolist(), strict=True)
        )
        for term in terms:
            axes = [program.axes[axis] for axis in term.axes]
            sides = [j for j, axis in enumerate(axes) if axis.is_read and axis.source == feature]
            if not sides or not isinstance(term.cells, Grid):
                continue
            lines = walks[term.name].first_rule + np.moveaxis(term.cells.rules, sides[0], 0)
            steps = np.stack([lines[:-1].ravel(), lines[1:].ravel()], axis=1)
            for more, less in classes:
                for lower, higher in steps[steps[:, 0] != steps[:, 1]].tolist():
                    found[Bound(lower, higher, more, less)] = None
    return tuple(found)
