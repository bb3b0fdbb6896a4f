"""StreamLearner: a classifier for rows that never end, and its state file."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone

from solah.atomic import write_whole
from solah.data import Column
from solah.data.json_reader import JsonParser
from solah.estimators import RuleClassifier
from solah.estimators.base import LinguisticClassifier
from solah.estimators.inputs import read_features
from solah.exceptions import DataError, ParameterError, SolahError
from solah.model.format import read_model, to_json
from solah.model.predictor import Predictor
from solah.stream.loop import Schedule, StreamLoop, StreamSettings
from solah.stream.metrics import DRIFTS, Cause, EventKind, Metrics
from solah.stream.refit import Selection, Trainer
from solah.stream.reservoir import kept_rows, read_labels

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from solah.data import Table
    from solah.data.json_reader import Reader
    from solah.kernels.arrays import Float
    from solah.model import Model
    from solah.stream.metrics import Event

_FORMAT, _VERSION = "solah-stream", 3
# What reading a value of the wrong type or shape may raise.
_DAMAGES = (LookupError, TypeError, ValueError, AttributeError, OverflowError)


class StreamLearner:
    """Classifier that learns from rows without end, and refits itself when the data have changed.

    Each row is predicted first and then learned from, as by ``partial_fit``. A new model is trained
    on the rows that were kept when the error rate rises, dependences between columns change, or a
    new class appears. It replaces the model in use if it is better on held-out rows. The outcome
    does not depend on how the rows are cut into batches.

    Parameters
    ----------
    estimator : classifier of solah, default=None
        The classifier to fit; :class:`~solah.RuleClassifier` by default.
    window : int, default=2000
        Number of latest labelled rows to keep, to train on again.
    per_class : int, default=50
        Number of older rows per class to keep beside them, so that no class is lost.
    min_rows : int, default=200
        Number of labelled rows for the first model, and since a change before it is answered.
        Further fits follow each time their number has doubled, until they fill the window.
    new_class_rows : int, default=20
        Number of rows of an unseen class that start a fit.
    check_every : int or None, default=1000
        Number of labelled rows between checks of dependences; None for no checks.
    refit_every : int or None, default=None
        Number of labelled rows between fits without drift; None for no such fits.
    pace : float, default=1/32
        How fast weights move with each row, as in ``partial_fit``. The default of 1 there suits a
        few rows; in a stream it follows every wrong label.
    forgetting : float, default=0.0
        Share of the learned change that each row takes back, as in ``partial_fit``.
    on_event : callable, default=None
        Called with each :class:`Event`.
    random_state : int, default=0
        Random seed.

    Attributes
    ----------
    position : int
        Position in the source: set by the caller, saved and resumed with the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.stream import StreamLearner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1_000, 3))
    >>> stream = StreamLearner()
    >>> events = stream.learn(X, X[:, 0] + X[:, 1] > 0)
    >>> print(events[0])
    row 200: first model, trained on 200 rows
    >>> stream.metrics.accuracy > 0.8
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        window: int = 2000,
        per_class: int = 50,
        min_rows: int = 200,
        new_class_rows: int = 20,
        check_every: int | None = 1000,
        refit_every: int | None = None,
        pace: float = 1 / 32,
        forgetting: float = 0.0,
        on_event: Callable[[Event], None] | None = None,
        random_state: int = 0,
    ) -> None:
        self.settings = StreamSettings(
            window=window,
            per_class=per_class,
            min_rows=min_rows,
            new_class_rows=new_class_rows,
            check_every=check_every,
            refit_every=refit_every,
            pace=pace,
            forgetting=forgetting,
            random_state=random_state,
        )
        if estimator is None:
            estimator = RuleClassifier()
        if not isinstance(estimator, LinguisticClassifier):
            raise ParameterError(
                "'estimator' must be a classifier of solah, such as RuleClassifier(); got "
                f"{type(estimator).__name__}"
            )
        self.estimator = clone(estimator)
        if self.estimator.get_params().get("random_state", 0) is None:
            self.estimator.set_params(random_state=random_state)
        self.position = 0
        self.seconds = 0.0
        self._reader = clone(self.estimator)
        self._on_event = on_event
        self._events: list[Event] = []
        self._loop: StreamLoop | None = None

    def learn(self, X: ArrayLike | Table, y: ArrayLike | Column) -> list[Event]:
        """Take the next rows, in order: predict each, then learn from it.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)
        y : array of shape (n_rows,)
            The classes; None or NaN where missing. Such a row is only counted.

        Returns
        -------
        events : list of Event
            The events, in order.
        """
        started = perf_counter()
        table = read_features(self._reader, X, reset=self._loop is None)
        labels = read_labels(y, table.n_rows)
        if self._loop is None:
            name = getattr(y, "name", None)
            self._loop = self._new_loop(
                table.columns, name if isinstance(name, str) and name else "class"
            )
        self._events = []
        self._loop.run(table, labels)
        self.seconds += perf_counter() - started
        return self._events

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of rows with the model in use.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        classes : ndarray of shape (n_rows,)
        """
        return self._predictor().predict(read_features(self._reader, X, reset=False))

    def predict_proba(self, X: ArrayLike) -> Float:
        """Predict the probability of each of ``classes_`` with the model in use.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_columns)

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        return self._predictor().predict_proba(read_features(self._reader, X, reset=False))

    @property
    def model(self) -> Model | None:
        """The model in use, with what it has learned; None before the first."""
        online = self._loop.model if self._loop else None
        return None if online is None else online.learner.model()

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes of the model in use."""
        return self._predictor().classes_

    @property
    def metrics(self) -> Metrics:
        """The progress of the stream."""
        loop = self._loop or self._new_loop((), "class")
        counts, model = loop.counts, loop.model
        outcomes = (EventKind.SWAPPED, EventKind.REJECTED, EventKind.FAILED)
        return Metrics(
            rows=counts["rows"],
            labelled=counts["labelled"],
            predicted=loop.score.n_predicted,
            seconds=self.seconds,
            **loop.score.figures(),
            drifts={str(cause): counts[f"drift by {cause}"] for cause in DRIFTS},
            refits=sum(counts[kind] for kind in outcomes),
            **{str(kind): counts[kind] for kind in outcomes},
            rows_since_swap=counts["labelled"] - counts["swapped at"] if model else 0,
            n_rules=model.start.n_rules if model else 0,
            kept_rows=len(loop.kept),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything that :meth:`resume` needs to one JSON file, whole or not at all.

        Parameters
        ----------
        path : str or path
            Replaced if it exists.
        """
        loop = self._loop
        columns = loop and [[one.name, one.order, one.nominal] for one in loop.trainer.like]
        content = {
            "format": _FORMAT,
            "version": _VERSION,
            "settings": asdict(self.settings),
            "position": self.position,
            "seconds": self.seconds,
            "has_names": hasattr(self._reader, "feature_names_in_"),
            "columns": columns,
            "stream": loop and loop.state(),
            "model": None,
            "learned": "",
        }
        if loop and loop.model:
            content["model"] = json.loads(to_json(loop.model.start))
            content["learned"] = b64encode(loop.model.learner.save()).decode()
        write_whole(path, json.dumps(content, ensure_ascii=False))

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        estimator: Any = None,
        *,
        on_event: Callable[[Event], None] | None = None,
    ) -> Self:
        """Return a learner that continues from a state file. Loading it runs no code.

        Parameters
        ----------
        path : str or path
        estimator : classifier of solah, default=None
            The same as when the stream began: it is not saved.
        on_event : callable, default=None

        Returns
        -------
        learner : StreamLearner

        Raises
        ------
        DataError
            If the file is missing or damaged.
        """
        path = Path(path)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise DataError(f"no stream was saved as {path}: the file does not exist") from None
        document = JsonParser(str(path), DataError).read(data, allow_nan=True)
        if document.part("format").value != _FORMAT:
            raise DataError(f"{path} is not the state of a stream")
        if document.part("version").value != _VERSION:
            raise DataError(
                f"{path} has format version {document.part('version').value!r}; this solah reads "
                f"version {_VERSION}. Start again with another file"
            )
        try:
            learner = cls(estimator, on_event=on_event, **document.value["settings"])
            learner._restore(document)
        except SolahError:
            raise
        except _DAMAGES as error:
            raise DataError(f"the stream saved as {path} is damaged: {error!r}") from error
        return learner

    def _restore(self, document: Reader) -> None:
        content = document.value
        self.position, self.seconds = int(content["position"]), float(content["seconds"])
        if content["stream"] is None:
            return
        like = tuple(
            Column(str(name), np.empty(0), order and tuple(map(str, order)), bool(nominal))
            for name, order, nominal in content["columns"]
        )
        names = [column.name for column in like]
        self._reader.n_features_in_, self._reader._column_names = len(like), names
        if content["has_names"]:
            self._reader.feature_names_in_ = np.array(names, dtype=object)
        saved = content["stream"]
        loop = self._loop = self._new_loop(like, str(saved["target"]))
        loop.kept.restore(saved["kept"], len(like))
        loop.reference = kept_rows(saved["reference"], len(like))
        loop.detector.restore(saved["detector"])
        loop.score.restore(saved["score"])
        schedule = dict(saved["schedule"])
        loop.schedule = Schedule(**schedule | {"cause": Cause(schedule["cause"])})
        loop.trainer.selections = tuple(map(Selection.restored, saved["selections"]))
        loop.counts = Counter({str(name): int(n) for name, n in saved["counts"].items()})
        loop.new_classes = {label: (int(at), int(n)) for label, at, n in saved["new_classes"]}
        if content["model"] is not None:
            loop.model = loop.trainer.online(read_model(document.part("model")))
            loop.model.learner.restore(b64decode(content["learned"], validate=True))

    def _new_loop(self, like: Sequence[Column], target_name: str) -> StreamLoop:
        empty = tuple(Column(one.name, one.values[:0], one.order, one.nominal) for one in like)
        pace, forgetting = self.settings.pace, self.settings.forgetting
        trainer = Trainer(self.estimator, empty, target_name, pace=pace, forgetting=forgetting)
        return StreamLoop(trainer, self.settings, self._record)

    def _record(self, event: Event) -> None:
        self._events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def _predictor(self) -> Predictor:
        model = self.model
        if model is None:
            raise DataError(
                f"there is no model yet: {self.metrics.labelled} labelled rows have come, and the "
                f"first model needs {self.settings.min_rows} rows of at least two classes"
            )
        return Predictor(model)
