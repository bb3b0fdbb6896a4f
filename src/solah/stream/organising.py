"""Learn a new model from the kept rows, and compare it with the one in use.

The last quarter of the rows since the change is held out. New models learn from the others: one
from what came since the change, with older rows of classes that are rare there, and one from all
rows that are kept. Then each goes through the rows held out as the model in use did: it decides on
a row, and then learns from it. The better one is taken if its log-loss there is lower than that of
the model in use by more than one standard error of the difference.

What an estimator settles out of fold (words, strengths, numbers of rules) takes longer than the
rest of its fit. So it is settled once for both models, and taken again for similar numbers of rows
for some time: the longer, the more attributes there are.

New models may be learnt in the background, while the model in use decides on. The rows that come
meanwhile are held out too. The new model takes over at a row that is known when its fit begins, so
that the outcome does not depend on how long that takes, or, if asked, as soon as it is done.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import asdict, dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from solah.exceptions import DataError, ForeignNodeError
from solah.learn.recipe import Strength
from solah.learn.selection import Choice
from solah.stream.deciding import Decider
from solah.stream.values import as_goal, as_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.data import Column, Declared
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.stream.deciding import Verdicts
    from solah.stream.events import Cause
    from solah.stream.reservoir import KeptRow, Reservoir
    from solah.stream.settings import Settings

_HELD_OUT = 4
# What was settled on rows is taken for less than so many times as many, or as few.
_SIMILAR = 3
# How many rows come before it is settled again, for each attribute.
_ROWS_AN_ATTRIBUTE = 200


@dataclass(frozen=True)
class Settled:
    """What a fit has settled out of fold, to be taken for similar rows.

    Attributes
    ----------
    choice : as the estimator has it
    n_rows : how many rows it was settled on
    at : how many labelled rows had come then
    """

    choice: Choice
    n_rows: int
    at: int

    def is_near(self, n_rows: int) -> bool:
        """Tell whether it was settled on a similar number of rows."""
        return self.n_rows < _SIMILAR * n_rows and n_rows < _SIMILAR * self.n_rows

    def state(self) -> dict[str, Any]:
        """Return all parts, as JSON has them."""
        kept = ("words", "n_products", "max_rules")
        return {
            **{name: getattr(self.choice, name) for name in kept},
            "strength": asdict(self.choice.strength),
            "n_rows": self.n_rows,
            "at": self.at,
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Settled:
        """Make it of what :meth:`state` returned."""
        parts = dict(state)
        n_rows, at, strength = (parts.pop(name) for name in ("n_rows", "at", "strength"))
        return cls(Choice(strength=Strength(**strength), **parts), int(n_rows), int(at))


@dataclass(frozen=True, eq=False)
class Learnt:
    """New models, and what is settled by now for one number of rows or another."""

    deciders: list[Decider]
    settled: tuple[Settled, ...]


@dataclass(frozen=True, eq=False)
class Trainer:
    """Fits a model to rows.

    Attributes
    ----------
    estimator : the classifier to clone
    like : the attributes
    goal_name : the goal
    settings : how the stream is followed
    """

    estimator: Any
    like: tuple[Column, ...]
    goal_name: str
    settings: Settings

    @property
    def kinds(self) -> Declared | None:
        """Attributes that are not what they seem."""
        declared: Declared | None = self.estimator.feature_types
        return declared

    def learn(
        self, sets: Sequence[Sequence[KeptRow]], settled: tuple[Settled, ...], now: int
    ) -> Learnt:
        """Learn a model from each set of rows; settings are compared on the first, or taken.

        Parameters
        ----------
        sets : sequence of sequences of KeptRow
        settled : tuple of Settled
            What was settled before.
        now : int
            How many labelled rows have come.

        Raises
        ------
        DataError
            If there is but one class, or the rows cannot be learnt from.
        ForeignNodeError
            If other models than linguistic ones stand at the nodes.
        """
        n_rows, lasting = len(sets[0]), _ROWS_AN_ATTRIBUTE * len(self.like)
        near = [one for one in settled if one.is_near(n_rows)]
        choice = next((one.choice for one in near if now - one.at < lasting), None)
        is_new = choice is None
        deciders = []
        for rows in sets:
            fitted = self._fit(rows, choice)
            deciders.append(self._decider(fitted.model_))
            choice = getattr(fitted, "selection_", None)
        if is_new and choice is not None:
            others = (one for one in settled if one not in near)
            settled = (*others, Settled(choice, n_rows, now))
        return Learnt(deciders, settled)

    def _fit(self, rows: Sequence[KeptRow], choice: Choice | None) -> Any:
        goal = as_goal(self.goal_name, [row.label for row in rows])
        classes = set(goal.values.tolist())
        if len(classes) < 2:
            only = f"only one class ({next(iter(classes))!r})" if classes else "no class"
            raise DataError(f"the {len(rows)} rows to learn from have {only}")
        fresh = clone(self.estimator)
        table = as_table([row.readings for row in rows], self.like)
        if choice is None:
            fresh.fit(table, goal)
        else:
            fresh.fit_selected(table, goal, choice)
        if not hasattr(fresh, "model_"):
            raise ForeignNodeError(
                "a stream learns with the rules of a model, and a hierarchy with other models at "
                "its nodes has none; leave 'node' out"
            )
        return fresh

    def _decider(self, model: Model) -> Decider:
        return Decider(model, pace=self.settings.pace, forgetting=self.settings.forgetting)

    def judge(self, decider: Decider, rows: Sequence[KeptRow]) -> Verdicts:
        """Let a model go through rows, and return what it thought of each."""
        table = as_table([row.readings for row in rows], self.like)
        return decider.serve(table, [row.label for row in rows])


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit under way: the old model decides on until it is answered.

    Attributes
    ----------
    cause : why it began
    begun_at : how many labelled rows had come then
    ends_at : at how many it is answered; None as soon as it is done
    n_held : how many rows before its beginning were held out
    learnt : what it learns
    """

    cause: Cause
    begun_at: int
    ends_at: int | None
    n_held: int
    learnt: Future[Learnt]

    @classmethod
    def begin(
        cls,
        trainer: Trainer,
        kept: Reservoir,
        cause: Cause,
        now: int,
        n_since_change: int,
        settled: tuple[Settled, ...],
    ) -> Fit:
        """Begin to learn new models from the rows that are kept.

        Parameters
        ----------
        trainer : Trainer
        kept : Reservoir
        cause : Cause
        now : int
            How many labelled rows have come.
        n_since_change : int
            How many of them came after the change.
        settled : tuple of Settled
            What was settled before.
        """
        n_fresh = min(n_since_change, kept.n_recent)
        n_held = max(n_fresh // _HELD_OUT, 1)
        sets = _training_sets(kept, n_fresh, n_held, trainer.settings.min_rows)
        swap_after = trainer.settings.swap_after
        learnt: Future[Learnt] = Future()
        task = (learnt, trainer, sets, settled, now)
        if swap_after == 0:
            _learn(*task)
        else:
            Thread(target=_learn, args=task, daemon=True).start()
        ends_at = None if swap_after is None else now + swap_after
        return cls(cause, now, ends_at, n_held, learnt)

    def is_due(self, now: int) -> bool:
        """Tell whether it is to be answered at so many labelled rows."""
        return self.learnt.done() if self.ends_at is None else self.ends_at <= now


def _learn(
    learnt: Future[Learnt],
    trainer: Trainer,
    sets: list[list[KeptRow]],
    settled: tuple[Settled, ...],
    now: int,
) -> None:
    try:
        learnt.set_result(trainer.learn(sets, settled, now))
    except BaseException as error:  # raised again where the fit is answered
        learnt.set_exception(error)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came of comparing a new model with the one in use.

    Attributes
    ----------
    decider : the new model, which has learnt from all rows by now
    errors : 1 for each row held out on which it was wrong, else 0
    old_loss, new_loss : the log-losses on these rows
    is_better : whether the new model is better
    """

    decider: Decider
    errors: list[float]
    old_loss: float
    new_loss: float
    is_better: bool


def compare_models(trainer: Trainer, kept: Reservoir, fit: Fit, now: int) -> Comparison:
    """Compare the best of new models with the decisions of the model in use.

    The rows to compare on are those held out, and all that have come since the fit began.

    Parameters
    ----------
    trainer : Trainer
    kept : Reservoir
    fit : Fit
        It has to be done, or is waited for.
    now : int
        How many labelled rows have come.
    """
    held = kept.recent(fit.n_held + now - fit.begun_at)
    old = np.array([row.loss for row in held])
    deciders = fit.learnt.result().deciders
    candidates = [(decider, trainer.judge(decider, held)) for decider in deciders]
    decider, verdicts = min(candidates, key=lambda candidate: float(candidate[1].losses.mean()))
    new, errors = verdicts.losses, (~verdicts.is_right).astype(float).tolist()
    return Comparison(decider, errors, float(old.mean()), float(new.mean()), is_better(old, new))


def is_better(old: Float, new: Float) -> bool:
    """Tell whether the losses of a new model are lower by more than one standard error.

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


def _training_sets(
    kept: Reservoir, n_fresh: int, n_held: int, min_rows: int
) -> list[list[KeptRow]]:
    everything = kept.rows(kept.n_recent, leave_out=n_held)
    if n_fresh < min_rows or n_fresh == kept.n_recent:
        return [everything]
    return [kept.rows(n_fresh, leave_out=n_held), everything]
