"""Models that learn row by row, and new ones that may replace them.

The last quarter of the rows since a change is held out. New models train on the others: one on the
rows since the change, with older rows of classes that are rare there, and one on all rows that are
kept. Then each goes through the held-out rows as the model in use did: it predicts a row, and then
learns from it. The better one is taken if its log-loss there is lower than that of the model in use
by more than one standard error of the difference.

Cross-validated settings (words, penalties, numbers of rules) take longer than the rest of a fit. So
they are selected once for both models, and reused for a similar number of rows for some time: the
longer, the more features there are.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from solah.exceptions import DataError
from solah.export.fixed_tables import ONE
from solah.export.online import Learner
from solah.learn.recipe import Strength
from solah.learn.selection import Choice
from solah.model.encode import MISSING, UNSEEN, encode, encode_target
from solah.stream.reservoir import as_table, as_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.data import Column, Table
    from solah.export.units import Integers
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.stream.reservoir import Cell, KeptRow, Reservoir

_HELD_OUT = 4
# Settings are reused for less than this many times as many rows, or as few.
_SIMILAR = 3
# The number of labelled rows per feature before settings are selected again.
_ROWS_PER_FEATURE = 200


@dataclass(frozen=True, eq=False)
class Tested:
    """The predictions of rows before the model learned from them.

    Attributes
    ----------
    losses : (n_rows,) minus the logarithm of the probability of the true class, at most that of the
        smallest probability above 0 on a device; NaN where the class is missing
    is_right : (n_rows,) whether the true class was predicted
    is_unseen : (n_rows,) whether the model does not have the true class
    """

    losses: Float
    is_right: NDArray[np.bool_]
    is_unseen: NDArray[np.bool_]


class OnlineModel:
    """A model that predicts each row, and then learns from it in the integers of a device.

    ``start`` is the model before it learned; pace and forgetting are those of
    :class:`solah.export.online.Pace`.
    """

    def __init__(self, model: Model, *, pace: float, forgetting: float) -> None:
        self.start = model
        self.learner = Learner(model, pace=pace, forgetting=forgetting, is_guarded=False)

    def test_then_learn(self, table: Table, labels: Sequence[Cell]) -> Tested:
        """Predict rows in their order, each before the model learns from it.

        Rows without a class, or with an unseen one, change nothing.
        """
        target = self.start.target
        places = encode_target(as_target(target.name, labels), target)
        learned = self.learner.learn(encode(table, self.start.features), places)
        probabilities = np.asarray(learned / ONE)
        is_labelled, is_unseen = places != MISSING, places == UNSEEN
        of_class = probabilities[np.arange(len(places)), np.maximum(places, 0)]
        of_class = np.where(is_unseen, 0.0, of_class)
        losses = np.where(is_labelled, -np.log(np.maximum(of_class, 1 / ONE)), np.nan)
        is_right = is_labelled & ~is_unseen & (target.decide(probabilities) == places)
        return Tested(losses, is_right, is_unseen)

    def weights(self) -> Integers:
        """Return the learned weights, to go back to."""
        return self.learner.simulator.learned.copy()

    def go_back(self, weights: Integers) -> None:
        """Take back what was learned since."""
        self.learner.simulator.learned = weights


@dataclass(frozen=True)
class Selection:
    """Cross-validated settings of a fit, to be reused for similar rows.

    Attributes
    ----------
    choice : as the estimator has it
    n_rows : the number of rows they were selected on
    at : the number of labelled rows that had come then
    """

    choice: Choice
    n_rows: int
    at: int

    def is_near(self, n_rows: int) -> bool:
        """Whether the number of rows was similar."""
        return self.n_rows < _SIMILAR * n_rows and n_rows < _SIMILAR * self.n_rows

    def state(self) -> dict[str, Any]:
        """Return all parts as JSON values."""
        kept = ("words", "n_words", "n_pairs", "max_rules")
        return {
            **{name: getattr(self.choice, name) for name in kept},
            "strength": asdict(self.choice.strength),
            "n_rows": self.n_rows,
            "at": self.at,
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Selection:
        """Return a selection from a result of :meth:`state`."""
        parts = dict(state)
        n_rows, at, strength = (parts.pop(name) for name in ("n_rows", "at", "strength"))
        return cls(Choice(strength=Strength(**strength), **parts), int(n_rows), int(at))


class Candidate:
    """A new model, and its comparison with the model in use on the held-out rows.

    Attributes
    ----------
    model : the new model, which has learned from all rows by now
    errors : 1 for each held-out row that it predicted wrongly, else 0
    old_loss, new_loss : the log-losses on these rows
    is_better : whether the new model is better by more than one standard error
    """

    def __init__(self, model: OnlineModel, tested: Tested, held_out: Sequence[KeptRow]) -> None:
        old, new = np.array([row.loss for row in held_out]), tested.losses
        self.model = model
        self.errors: list[float] = (~tested.is_right).astype(float).tolist()
        has_both = ~np.isnan(old)  # a row that came before the first model has no loss
        old, new = old[has_both], new[has_both]
        self.old_loss, self.new_loss = float(old.mean()), float(new.mean())
        self.is_better = is_better(old, new)


def is_better(old: Float, new: Float) -> bool:
    """Return whether new losses are lower by more than one standard error of the difference.

    Examples
    --------
    >>> is_better(np.array([0.9, 0.8, 1.0]), np.array([0.3, 0.4, 0.2]))
    True
    >>> is_better(np.array([0.9, 0.2, 0.4]), np.array([0.1, 0.4, 0.9]))
    False
    """
    gains = old - new
    error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
    return bool(gains.mean() > error)


class Trainer:
    """Fits clones of an estimator to rows of a stream, whose columns are ``like`` others."""

    def __init__(
        self,
        estimator: Any,
        like: tuple[Column, ...],
        target_name: str,
        *,
        pace: float,
        forgetting: float,
    ) -> None:
        self.estimator, self.like, self.target_name = estimator, like, target_name
        self.pace, self.forgetting = pace, forgetting
        self.selections: tuple[Selection, ...] = ()

    def train(self, sets: Sequence[Sequence[KeptRow]], now: int) -> list[OnlineModel]:
        """Train a model on each set of rows, with settings of the first, or from before.

        Raises DataError if there is only one class, or the rows cannot be trained on.
        """
        n_rows, lasting = len(sets[0]), _ROWS_PER_FEATURE * len(self.like)
        near = [one for one in self.selections if one.is_near(n_rows)]
        choice = next((one.choice for one in near if now - one.at < lasting), None)
        is_new, models = choice is None, []
        for rows in sets:
            fitted = self._fit(rows, choice)
            models.append(self.online(fitted.model_))
            choice = getattr(fitted, "selection_", None)
        if is_new and choice is not None:
            others = (one for one in self.selections if one not in near)
            self.selections = (*others, Selection(choice, n_rows, now))
        return models

    def refit(self, kept: Reservoir, n_since_change: int, now: int, min_rows: int) -> Candidate:
        """Train new models and compare the best of them with the model in use.

        With at least ``min_rows`` rows since the change, one of them is trained on these alone.
        From twice as many on, it is the only one: older rows no longer help.
        """
        n_fresh = min(n_since_change, kept.n_recent)
        n_held = max(n_fresh // _HELD_OUT, 1)
        sets = []
        if min_rows <= n_fresh < kept.n_recent:
            sets.append(kept.rows(n_fresh, leave_out=n_held))
        if not sets or n_fresh < 2 * min_rows:
            sets.append(kept.rows(kept.n_recent, leave_out=n_held))
        held_out = kept.recent(n_held)
        table = as_table([row.values for row in held_out], self.like)
        labels = [row.label for row in held_out]
        models = self.train(sets, now)
        tested = [model.test_then_learn(table, labels) for model in models]
        best = min(range(len(models)), key=lambda place: float(tested[place].losses.mean()))
        return Candidate(models[best], tested[best], held_out)

    def online(self, model: Model) -> OnlineModel:
        """Return a model that learns at the pace of the stream."""
        return OnlineModel(model, pace=self.pace, forgetting=self.forgetting)

    def _fit(self, rows: Sequence[KeptRow], choice: Choice | None) -> Any:
        target = as_target(self.target_name, [row.label for row in rows])
        classes = set(target.values.tolist())
        if len(classes) < 2:
            only = f"only one class ({next(iter(classes))!r})" if classes else "no class"
            raise DataError(f"the {len(rows)} training rows have {only}")
        fresh = clone(self.estimator)
        table = as_table([row.values for row in rows], self.like)
        if choice is None:
            fresh.fit(table, target)
        else:
            fresh.fit_selected(table, target, choice)
        return fresh
