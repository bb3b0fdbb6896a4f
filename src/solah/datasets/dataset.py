"""A labelled table in memory: what ``load`` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from solah.data.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A named data set: attributes, goal and what is known of them.

    Attributes
    ----------
    name : str
        The set's name, aliases resolved.
    table : Table
        The attributes, one column each.
    goal : ndarray of str, shape (n_rows,)
        The class label of each row.
    goal_name : str
        What the goal is called.
    kinds : mapping of str to str or tuple of str
        The declared kinds, by column, of the columns whose kind cannot be inferred; a tuple
        holds the states of an ordinal column in their order.
    groups : ndarray of str, shape (n_rows,), or None
        The user, batch or recording that each row belongs to, where rows of one group must not
        be split between training and test.
    """

    name: str
    table: Table
    goal: NDArray[np.str_]
    goal_name: str
    kinds: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    groups: NDArray[np.str_] | None = None

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.table.n_rows} rows, "
            f"{len(self.table.columns)} attributes, {len(self.class_counts)} classes)"
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return self.table.names

    @property
    def class_counts(self) -> dict[str, int]:
        """The number of rows of each class, by label in sorted order."""
        labels, counts = np.unique(self.goal, return_counts=True)
        return dict(zip(labels.tolist(), counts.tolist(), strict=True))

    @property
    def X(self) -> NDArray[np.float64]:  # noqa: N802
        """The attributes as an array of shape (n_rows, n_attributes); all must be numbers."""
        texts = [column.name for column in self.table.columns if column.is_text]
        if texts:
            raise DataError(
                f"data set {self.name!r} has columns of text ({', '.join(map(repr, texts))}), "
                "which an array of numbers cannot hold; use .table"
            )
        return np.column_stack([column.values for column in self.table.columns]).astype(np.float64)

    @property
    def y(self) -> NDArray[np.str_]:
        """The goal, under scikit-learn's name for it."""
        return self.goal
