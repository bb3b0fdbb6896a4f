"""Feed tables with a target column to a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Column
from solah.data.spelling import is_number, plain
from solah.exceptions import ColumnError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.stream.following import StreamLearner


def feed(
    learner: StreamLearner,
    table: Table,
    target: str,
    *,
    drop: Collection[str] = (),
    on_wrong: Callable[[str], None],
) -> None:
    """Let a learner take the rows of a table; those that cannot be read are told, and left out.

    Parameters
    ----------
    learner : StreamLearner
    table : Table
        Attributes and target; text that spells whole numbers is taken for these in the target.
    target : str
        The column of classes.
    drop : collection of str, default=()
        Columns to leave out.
    on_wrong : callable
        Called with a sentence about each row that is left out.
    """
    attributes = table.drop({target, *drop})
    goal = Column(target, _classes(table.column(target)))
    before = learner.metrics.rows
    try:
        learner.learn(attributes, goal)
        return
    except ColumnError:
        raise
    except DataError:
        n_taken = learner.metrics.rows - before
    for row in range(n_taken, table.n_rows):
        try:
            learner.learn(attributes.rows(row, row + 1), goal.rows(row, row + 1))
        except DataError as error:
            on_wrong(f"a row is left out: {error}")


def _classes(column: Column) -> NDArray[Any]:
    """Make numbers of text that spells whole ones."""
    if not column.is_text:
        return column.values
    classes = np.empty(len(column.values), dtype=object)
    classes[:] = [_class(cell) for cell in column.values]
    return classes


def _class(cell: str | None) -> str | int | None:
    if cell is None or not is_number(cell):
        return cell
    number = plain(float(cell))
    return number if isinstance(number, int) else cell
