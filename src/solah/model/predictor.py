"""Predicts with a model file, without scikit-learn and the code that trains models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data import Table, as_array, as_column, from_array, from_frame, is_frame
from solah.data.frames import frame_names
from solah.exceptions import DataError, ParameterError
from solah.model.document import Task
from solah.model.encode import MISSING, encode, encode_target, is_path, read_path, warn_of_unseen
from solah.model.evaluate import predict, readings_of, run
from solah.model.format import MAX_BYTES, load_document
from solah.model.policy import AbstainReason

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from numpy.typing import ArrayLike, NDArray

    from solah.edit import Editor
    from solah.explain import Explanations, Rules, Semantics, Stress
    from solah.kernels.arrays import Float
    from solah.model.decide import Decisions
    from solah.model.document import Model
    from solah.report.notebook import PageInNotebook
    from solah.signals.stream import SignalStream


class ModelView:
    """What a loaded model and a fitted estimator show of their model; not for use by itself."""

    _model: Callable[[], Model]  # methods of both
    _table: Callable[[Any], Table]

    def rules(self) -> Rules:
        """List the rules that carry weight, the strongest first.

        Returns
        -------
        rules : Rules
            A list that filters, sorts and writes itself, and that a notebook shows as a table.
            ``str(rule)`` is a sentence; its parts are features.
        """
        from solah.explain import rules_of

        return rules_of(self._model())

    def explain(
        self,
        X: Any,
        *,
        changes: bool = False,
        ranges: Mapping[str, tuple[float, float]] | None = None,
        fixed: Collection[str] = (),
    ) -> Explanations:
        """Explain the prediction for each row.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)
        changes : bool, default=False
            Whether to search for the smallest changes that flip each prediction.
        ranges : mapping of feature name to (low, high), default=None
            The ranges of continuous values to search; by default those of the training rows.
        fixed : collection of str, default=()
            Features that cannot change. Any column of X may be named, including one that the model
            does not use.

        Returns
        -------
        explanations : list of Explanation
            ``str()`` of one is a text, a notebook shows it, and its parts are objects.
            ``to_shap()`` of the list is a ``shap.Explanation``.
        """
        from solah.explain import Explainer
        from solah.explain.explanation import Explanations

        X = read_path(X) if is_path(X) else X
        columns = X.names if isinstance(X, Table) else frame_names(X) if is_frame(X) else ()
        table = self._table(X)
        explainer = Explainer(
            self._model(), changes=changes, ranges=ranges, fixed=fixed, columns=columns
        )
        return Explanations(explainer.of_table(table))

    def show(self, X: Any = None, y: Any = None) -> PageInNotebook:
        """Show the report page in a notebook: the model and, with rows, predictions and metrics.

        Parameters
        ----------
        X : frame or table, default=None
            Rows with the model's columns, to look at one by one.
        y : array of shape (n_rows,), default=None
            Their classes or numbers.

        Returns
        -------
        page : PageInNotebook
            A notebook shows it; ``page.save(path)`` writes it. It loads nothing from elsewhere.
        """
        from solah.report.notebook import PageInNotebook

        return PageInNotebook.of(self._model(), X, y)

    def completeness(self, X: Any) -> Float:
        """Return the completeness of each row: the share of feature importance that has a value.

        It is 1 if no value that matters is missing, and 0 if all are. For additive models it is the
        share of the terms with values in the spread of the scores. For trees it is the sum of the
        importances of features with values.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)

        Returns
        -------
        shares : ndarray of shape (n_rows,)
        """
        from solah.explain.importance import known_of

        model = self._model()
        return known_of(model, readings_of(model, self._table(X)))

    def node_outputs(self, X: Any) -> dict[str, Float]:
        """Return the outputs of each node, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)

        Returns
        -------
        outputs : dict of node name to ndarray of shape (n_rows, n_classes)
        """
        from solah.explain.traversal import TracedRows

        model = self._model()
        rows = TracedRows(model.program, readings_of(model, self._known_table(X)))
        return {node.name: rows.outputs(node.name) for node in model.nodes}

    def semantics(self, X: Any) -> list[Semantics]:
        """Return, for each row, the rules that fired in each tree, from bottom to top.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)

        Returns
        -------
        semantics : list of Semantics
            ``str()`` of one is a text; its parts are objects.
        """
        from solah.explain import semantics_of

        return semantics_of(self._model(), self._known_table(X))

    def edit(self, *, author: str = "", time: datetime | None = None) -> Editor:
        """Start to edit the model, which itself stays as it is.

        Parameters
        ----------
        author : str, default=""
            Who edits; kept with each edit.
        time : datetime, default=None
            The time that is kept with each edit; by default the current one.

        Returns
        -------
        editor : Editor
            Its ``model`` is the edited one.
        """
        from solah.edit import Editor

        return Editor(self._model(), author=author, time=time)

    def _known_table(self, X: Any) -> Table:
        """Read rows, and warn of states that the model does not know."""
        table = self._table(X)
        warn_of_unseen(table, self._model().features)
        return table


class Predictor(ModelView):
    """Predicts with a model file.

    Parameters
    ----------
    model : Model
        The model.
    n_threads : int, default=1
        How many threads share the rows.
    """

    def __init__(self, model: Model, n_threads: int = 1) -> None:
        self.model_ = model
        self.n_threads = n_threads
        self._has_categories = any(feature.is_coded for feature in model.features)

    def __repr__(self) -> str:
        model = self.model_
        return f"<Predictor: {model.target.name}, {model.n_rules} rules>"

    def _repr_html_(self) -> str:
        from solah.explain.html import model_summary

        return model_summary(self.model_)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in the order of ``predict_proba``'s columns."""
        self._expect(Task.CLASSIFICATION, "classes_")
        return np.array(self.model_.target.classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class to decide for, or the expected number.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)
            Frames and tables are matched by column name and may have more columns. Or the path of
            a file (CSV, Parquet, ARFF), which is read.

        Returns
        -------
        decisions : ndarray of shape (n_rows,)
        """
        return self._decided(self.outputs(X))

    def _decided(self, outputs: Float) -> NDArray[Any]:
        if self.model_.target.is_additive_number:
            return outputs[:, 0]
        if self.model_.target.task is Task.REGRESSION:
            return np.asarray((outputs * np.array(self.model_.target.centres)).sum(axis=1))
        return np.asarray(self.classes_[self.model_.target.decide(outputs)])

    def predict_proba(self, X: Any) -> Float:
        """Return the probability of each class.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        self._expect(Task.CLASSIFICATION, "predict_proba")
        return self.outputs(X)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Float:
        """Return an interval for each row that holds its number with a given probability.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)
        coverage : float, default=0.9
            The share of rows whose number is in its interval.

        Returns
        -------
        intervals : ndarray of shape (n_rows, 2)
            The lower and the upper end.

        Raises
        ------
        ParameterError
            If the model has no residuals of held-out rows, or too few for this coverage.
        """
        self._expect(Task.REGRESSION, "predict_interval")
        if self.model_.intervals is None:
            raise ParameterError(
                "the model has no residuals of held-out rows: RuleRegressor keeps them unless rows "
                "are too few, and an edit drops them; fit again"
            )
        return self.model_.intervals.around(self.predict(X), coverage)

    def stream(self) -> SignalStream:
        """Return a stream that takes samples and decides when a window is complete.

        Returns
        -------
        stream : SignalStream
            ``push(sample)`` returns None or a decision, with probabilities and readings. If the
            model has a policy, also the stable decision and the reasons to abstain.

        Raises
        ------
        ParameterError
            If the model has no signals.
        """
        from solah.model.decide import PolicyDecider
        from solah.signals.stream import SignalStream

        if self.model_.signals is None:
            raise ParameterError("the model was fitted to readings, not to recordings of signals")
        names = [feature.name for feature in self.model_.features]

        if self.model_.policy is None and self.model_.domain is None:
            return SignalStream(self.model_.signals.only(names), self._decide_window)
        decider = PolicyDecider(self.model_, self.n_threads)

        def decide(readings: Float) -> tuple[Any, Float, Any, AbstainReason]:
            found = decider.take(from_array(readings, names))
            reasons = AbstainReason(int(found.abstain_reasons[0]))
            return found.decisions[0], found.probabilities[0], found.stable[0], reasons

        return SignalStream(self.model_.signals.only(names), decide)

    def _decide_window(self, readings: Float) -> tuple[Any, Float]:
        outputs = self.outputs(readings)
        return self._decided(outputs)[0], outputs[0]

    def outputs(self, X: Any) -> Float:
        """Return the probabilities of the classes, or the masses of a number's focal sets.

        An additive model of a number returns its estimate ``(n_rows, 1)``.
        """
        if type(X) is np.ndarray and X.dtype == np.float64 and not self._has_categories:
            self._check_shape(X)
            return run(self.model_.program, X, self.n_threads)
        return predict(self.model_, self._known_table(X), self.n_threads)

    def decide(self, X: Any, groups: ArrayLike | None = None) -> Decisions:
        """Decide by the model's policy: abstain, and debounce decisions.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)
            In the order of time.
        groups : array of shape (n_rows,), default=None
            The recording of each row; the policy starts again with each. By default all rows are
            one recording.

        Returns
        -------
        decisions : Decisions
            ``decisions`` and ``stable`` have None for "don't know"; ``abstain_reasons`` has
            the reasons. Without a policy, each row is decided by itself.

        Raises
        ------
        ParameterError
            If the model predicts a number.

        Examples
        --------
        >>> from solah import LinguisticTreeClassifier, datasets
        >>> from solah.evaluation import with_policy
        >>> from solah.model import Policy
        >>> iris = datasets.load("iris")
        >>> model = LinguisticTreeClassifier(max_depth=1).fit(iris.table, iris.target).model_
        >>> predictor = Predictor(with_policy(model, Policy(min_probability=(0.9, 0.9, 0.9))))
        >>> predictor.decide([[6.0, 3.0, 4.8, 1.7], [5.0, 3.4, 1.5, 0.2]]).decisions
        [None, 'setosa']
        """
        from solah.model.decide import PolicyDecider

        names = None if groups is None else as_array(groups).tolist()
        return PolicyDecider(self.model_, self.n_threads).take(self._table(X), names)

    def stress(
        self, X: Any, y: Any, *, noise: float = 0.1, budget: float = 0.1, seed: int = 0
    ) -> Stress:
        """Measure robustness to missing, noisy and adversarial values.

        Parameters
        ----------
        X : array, frame or table of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            The true classes.
        noise, budget : float, default=0.1
            The deviation of noise, and how far an adversary may move a value, as shares of a
            feature's range.
        seed : int, default=0
            The seed of the noise.

        Returns
        -------
        stress : Stress
        """
        from solah.explain import stress

        self._expect(Task.CLASSIFICATION, "stress")
        rows = encode(self._known_table(X), self.model_.features)
        truth = encode_target(as_column("y", as_array(y)), self.model_.target)
        if len(truth) != len(rows):
            raise DataError(f"y has {len(truth)} classes for {len(rows)} rows")
        if (truth == MISSING).any():
            raise DataError("y has missing values; drop the rows without a class")
        return stress(self.model_, rows, truth, noise=noise, budget=budget, seed=seed)

    def _model(self) -> Model:
        return self.model_

    def _table(self, X: Any) -> Table:
        if isinstance(X, Table):
            return X
        if is_path(X):
            return read_path(X)
        names = [feature.name for feature in self.model_.features]
        if is_frame(X):
            return from_frame(X, only=names)
        if hasattr(X, "collect_schema"):
            raise DataError("this frame is lazy; call its collect() first")
        try:
            array = as_array(X.toarray() if hasattr(X, "toarray") else X)  # sparse arrays
        except ValueError as error:
            raise DataError(f"the rows are not of one length: {error}") from None
        self._check_shape(array)
        return from_array(array, names)

    def _check_shape(self, array: NDArray[Any]) -> None:
        n_columns = len(self.model_.features)
        if array.ndim != 2 or array.shape[1] != n_columns:
            first = ", ".join(feature.name for feature in self.model_.features[:4])
            raise DataError(
                f"the model expects {n_columns} columns ({first}{', …' if n_columns > 4 else ''}) "
                f"in two dimensions. Got an array of shape {array.shape}."
            )

    def _expect(self, task: Task, what: str) -> None:
        if self.model_.target.task is not task:
            raise AttributeError(f"a model of {self.model_.target.task.value} has no {what!r}")


def load_model(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> Predictor:
    """Load a model file to predict with; loading runs no code.

    Parameters
    ----------
    path : str or path
        A file that an estimator's ``save`` or ``solah fit`` wrote.
    max_bytes : int, default=64 MiB
        Larger files are refused before they are read.

    Returns
    -------
    predictor : Predictor

    Raises
    ------
    ModelFormatError
        If the file is invalid, or from a newer solah; the error names the position.
    """
    return Predictor(load_document(path, max_bytes).compiled())
