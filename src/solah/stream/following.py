"""StreamLearner: learn from rows without end."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from solah.data import Column
from solah.estimators import RuleClassifier
from solah.estimators.classifier import LinguisticClassifier
from solah.estimators.inputs import read_features
from solah.exceptions import DataError, ParameterError
from solah.model.predictor import Predictor
from solah.stream.events import Cause, EventKind, Metrics
from solah.stream.lifecycle import DECIDED_AS_BEFORE, ModelLifecycle, drifts_by
from solah.stream.organising import Trainer
from solah.stream.settings import Settings
from solah.stream.values import read_labels

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float
    from solah.model import Model
    from solah.stream.drift import DetectorName
    from solah.stream.events import Event
    from solah.stream.persistence import AsBefore

_DRIFTS = (Cause.ERROR, Cause.DEPENDENCE, Cause.NEW_CLASS)


class StreamLearner:
    """Learns from rows that never end, and organises itself again when the data have changed.

    Each row is decided on first and learnt from then, as by ``partial_fit``. When decisions become
    worse, when attributes depend on each other in another way, or when a new class has come, a new
    model is learnt from the rows that were kept, and takes over if it is better on rows that it did
    not learn from. The outcome does not depend on how the rows are cut into batches.

    Parameters
    ----------
    estimator : classifier of solah, default=None
        What is fitted; :class:`~solah.RuleClassifier` by default.
    window : int, default=2000
        How many of the last labelled rows to keep, to learn from again.
    per_class : int, default=50
        How many older rows of each class to keep beside them, so that no class is lost.
    detector : {"adwin", "page-hinkley"}, default="adwin"
        What tells that decisions have become worse. The adaptive window had no false alarm where
        Page-Hinkley had some, and told a step of the error sooner (docs/streams.md).
    check_every : int or None, default=1000
        Look after so many labelled rows whether dependences have moved; None never looks.
    reorganise_every : int or None, default=None
        Learn a new model after so many labelled rows, drift or not.
    min_rows : int, default=200
        The first model is learnt from so many labelled rows, and as many must have come since a
        change before it is answered. There is another try each time that they have doubled, until
        the window is full of them.
    new_class_rows : int, default=20
        So many rows of a class that the model does not know start a new fit.
    pace : float, default=1/32
        How fast rules move with each row, as in ``partial_fit``. There the usual pace of 1 is for a
        few rows that must tell much; in a stream it follows every wrong label. Of six paces from 1
        to 1/128, this and 1/16 decided best on streams with noise (docs/streams.md).
    forgetting : float, default=0.0
        The share of what was learnt that a row takes back, as in ``partial_fit``.
    label_delay : int or None, default=0
        How many rows later than its own a class arrives. Decisions may use the last class that has
        arrived where that pays (:attr:`as_before`), and no other; None never uses it.
    swap_after : int or None, default=0
        How many labelled rows the model in use decides on while a new one is learnt in the
        background, and then takes over if it is better. 0 waits for the new model instead; None
        takes it as soon as it is there, so that the outcome depends on how long a fit takes.
    on_event : callable, default=None
        Called with each :class:`Event` when it happens.
    random_state : int, default=0
        What everything random is drawn with.

    Attributes
    ----------
    position : int
        How far the source was read: set by the caller, saved and resumed with the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.stream import StreamLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1_000, 3))
    >>> stream = StreamLearner()
    >>> events = stream.learn(X, X[:, 0] + X[:, 1] > 0)
    >>> print(events[0])
    row 200: the first model, of 200 rows, decides now
    >>> stream.metrics.accuracy > 0.8  # of all rows, those before the first model too
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        window: int = 2000,
        per_class: int = 50,
        detector: DetectorName = "adwin",
        check_every: int | None = 1000,
        reorganise_every: int | None = None,
        min_rows: int = 200,
        new_class_rows: int = 20,
        pace: float = 1 / 32,
        forgetting: float = 0.0,
        label_delay: int | None = 0,
        swap_after: int | None = 0,
        on_event: Callable[[Event], None] | None = None,
        random_state: int = 0,
    ) -> None:
        self.settings = Settings(
            window=window,
            per_class=per_class,
            detector=detector,
            check_every=check_every,
            reorganise_every=reorganise_every,
            min_rows=min_rows,
            new_class_rows=new_class_rows,
            pace=pace,
            forgetting=forgetting,
            label_delay=label_delay,
            swap_after=swap_after,
            random_state=random_state,
        )
        self.estimator = _checked(estimator, random_state)
        self.position = 0
        self.seconds = 0.0
        self.lifecycle: ModelLifecycle | None = None
        self._reader = clone(self.estimator)
        self._on_event = on_event
        self._events: list[Event] = []

    def learn(self, X: ArrayLike | Table, y: ArrayLike | Column) -> list[Event]:
        """Take the next rows, in order: decide on each, then learn from it.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The classes; None or NaN where one is not known. Such a row is only counted.

        Returns
        -------
        events : list of Event
            What happened, in order.
        """
        started = perf_counter()
        table = read_features(self._reader, X, reset=self.lifecycle is None)
        labels = read_labels(y, table.n_rows)
        if self.lifecycle is None:
            self.lifecycle = self._new_lifecycle(table.columns, _goal_name(y))
        self._events = []
        self.lifecycle.run(table, labels)
        self.seconds += perf_counter() - started
        return self._events

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class to decide for, each row taken as the next one of the stream.

        Where the class before is in use (:attr:`as_before`), the last that has arrived counts.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        classes : ndarray of shape (n_rows,)
        """
        predictor = self._predictor()
        return np.asarray(self.classes_[predictor.model_.goal.decide(self.predict_proba(X))])

    def predict_proba(self, X: ArrayLike) -> Float:
        """Return the belief in each of ``classes_``, each row taken as the next one of the stream.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        beliefs : ndarray of shape (n_rows, n_classes)
        """
        predictor = self._predictor()
        beliefs = predictor.predict_proba(read_features(self._reader, X, reset=False))
        persistence = self.lifecycle.persistence if self.lifecycle else None
        if persistence is None:
            return beliefs
        return persistence.believe(beliefs, predictor.model_.goal)

    @property
    def model(self) -> Model | None:
        """The model in use, with what it has learnt; None while there is none."""
        decider = self.lifecycle.decider if self.lifecycle else None
        return None if decider is None else decider.model()

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes that the model in use knows."""
        return self._predictor().classes_

    @property
    def as_before(self) -> AsBefore | None:
        """What the class before tells, and whether decisions use it; None if they never do."""
        persistence = self.lifecycle.persistence if self.lifecycle else None
        return None if persistence is None else persistence.describe()

    @property
    def metrics(self) -> Metrics:
        """How the stream goes."""
        lifecycle = self.lifecycle or ModelLifecycle(self._trainer((), "class"), self._record)
        counts, score, decider = lifecycle.counts, lifecycle.score, lifecycle.decider
        outcomes = (EventKind.SWAPPED, EventKind.REFUSED, EventKind.FAILED)
        swapped, refused, failed = (counts[kind] for kind in outcomes)
        return Metrics(
            rows=counts["rows"],
            labelled=counts["labelled"],
            decided=score.n_decided,
            as_before=counts[DECIDED_AS_BEFORE],
            seconds=self.seconds,
            accuracy=score.accuracy,
            log_loss=score.log_loss,
            accuracy_overall=score.accuracy_overall,
            log_loss_overall=score.log_loss_overall,
            drifts={str(cause): counts[drifts_by(cause)] for cause in _DRIFTS},
            reorganisations=swapped + refused + failed,
            swapped=swapped,
            refused=refused,
            failed=failed,
            rows_since_swap=counts["labelled"] - counts["swapped at"] if decider else 0,
            n_rules=decider.start.n_rules if decider else 0,
            kept_rows=len(lifecycle.kept),
        )

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write all that is needed to go on later, whole or not at all.

        Parameters
        ----------
        folder : str or path
            Made if it is not there; what was saved in it before is replaced.
        """
        from solah.stream.state import save_state

        save_state(self, folder)

    @classmethod
    def resume(
        cls,
        folder: str | os.PathLike[str],
        estimator: Any = None,
        *,
        on_event: Callable[[Event], None] | None = None,
    ) -> Self:
        """Go on from what was saved; nothing in the folder is run as code.

        Parameters
        ----------
        folder : str or path
        estimator : classifier of solah, default=None
            What is fitted, as it was given when the stream began: it is not saved.
        on_event : callable, default=None

        Returns
        -------
        learner : StreamLearner

        Raises
        ------
        DataError
            If nothing was saved there, or it is damaged.
        """
        from solah.stream.state import load_state

        return load_state(cls, folder, estimator, on_event)

    @property
    def knows_names(self) -> bool:
        """Whether rows are known by their columns' names, not by their places alone."""
        return hasattr(self._reader, "feature_names_in_")

    def begin(self, like: Sequence[Column], goal_name: str, *, is_named: bool) -> ModelLifecycle:
        """Begin with the attributes known, but without any rows."""
        names = [column.name for column in like]
        self._reader.n_features_in_, self._reader._column_names = len(like), names
        if is_named:
            self._reader.feature_names_in_ = np.array(names, dtype=object)
        self.lifecycle = self._new_lifecycle(like, goal_name)
        return self.lifecycle

    def _new_lifecycle(self, like: Sequence[Column], goal_name: str) -> ModelLifecycle:
        empty = (Column(one.name, one.values[:0], one.order, one.nominal) for one in like)
        return ModelLifecycle(self._trainer(tuple(empty), goal_name), self._record)

    def _trainer(self, like: tuple[Column, ...], goal_name: str) -> Trainer:
        return Trainer(self.estimator, like, goal_name, self.settings)

    def _record(self, event: Event) -> None:
        self._events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def _predictor(self) -> Predictor:
        model = self.model
        if model is None:
            metrics = self.metrics
            raise DataError(
                f"there is no model yet: {metrics.labelled} labelled rows have come, and the first "
                f"is learnt from {self.settings.min_rows} of at least two classes"
            )
        return Predictor(model)


def _goal_name(y: Any) -> str:
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "class"


def _checked(estimator: Any, random_state: int) -> Any:
    """Take a classifier of solah, one that draws nothing without a seed."""
    if estimator is None:
        return RuleClassifier()
    if not isinstance(estimator, LinguisticClassifier):
        raise ParameterError(
            "a stream is followed by a classifier of solah, such as "
            f"RuleClassifier(). Got {type(estimator).__name__} instead."
        )
    checked = clone(estimator)
    if checked.get_params().get("random_state", 0) is None:
        checked.set_params(random_state=random_state)
    return checked
