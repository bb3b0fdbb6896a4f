"""Reads what pictures show from estimators, evaluators and model documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted, column_or_1d

from solah.data import Table, from_frame, is_frame
from solah.estimators import LinguisticLabeller
from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import read_features
from solah.exceptions import ColumnError, DataError, ParameterError, shorten
from solah.model import Model, Task
from solah.model.encode import encode_column
from solah.runtime import Evaluator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.model import Attribute


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows whose class is known, and what a classifier believes of them.

    Attributes
    ----------
    truth : (n_rows,) the places of the true classes
    beliefs : (n_rows, n_classes)
    decided : (n_rows,) the places of the classes decided for
    classes : the classes, in the order of the beliefs
    """

    truth: NDArray[np.intp]
    beliefs: Float
    decided: NDArray[np.intp]
    classes: tuple[Any, ...]


def model_of(source: Any) -> Model:
    """Return the model document of a fitted estimator, of an evaluator, or as it is."""
    if isinstance(source, Model):
        return source
    if isinstance(source, Evaluator):
        return source.model_
    if isinstance(source, LinguisticEstimator):
        return source._model()
    raise ParameterError(
        "a fitted estimator of solah, a loaded model or a model document can be drawn. "
        f"Got {shorten(source)} instead."
    )


def attribute_of(source: Any, name: str) -> Attribute:
    """Return an attribute of a fitted labeller, an estimator or a model."""
    if isinstance(source, LinguisticLabeller):
        check_is_fitted(source)
        attributes, where = source.attributes_, "the labeller"
    else:
        attributes, where = model_of(source).attributes, "the model"
    by_name = {attribute.name: attribute for attribute in attributes}
    if name not in by_name:
        raise ColumnError.unknown(name, by_name, where)
    return by_name[name]


def readings_of(source: Any, attribute: Attribute, X: Any) -> Float:
    """Read an attribute's values as numbers; NaN where they are not known."""
    if isinstance(source, LinguisticLabeller | LinguisticEstimator):
        return encode_column(read_features(source, X, reset=False), attribute)
    if is_frame(X):
        return encode_column(from_frame(X, only=[attribute.name]), attribute)
    return encode_column(Evaluator(model_of(source))._table(X), attribute)


def judge(classifier: Any, X: Any, y: Any) -> Judged:
    """Ask a classifier, of solah or not, what it believes of rows whose class is known."""
    if isinstance(classifier, Model):
        classifier = Evaluator(classifier)
    _refuse_numbers(classifier)
    if not isinstance(classifier, Evaluator):
        check_is_fitted(classifier)
    return judged(y, classifier.predict_proba(X), classifier.classes_, classifier.predict(X))


def judged(y: Any, beliefs: Any, classes: Any = None, decisions: Any = None) -> Judged:
    """Check beliefs and true classes, and number the classes; decide for what is believed most."""
    goal = column_or_1d(y)
    known = np.unique(goal) if classes is None else np.asarray(classes)
    shares = np.asarray(beliefs, dtype=np.float64)
    if shares.shape != (len(goal), len(known)):
        raise DataError(
            f"the beliefs in {len(known)} classes for {len(goal)} rows must have the shape "
            f"{(len(goal), len(known))}. Got an array of shape {shares.shape}."
        )
    truth = _places(goal, known)
    if len(set(truth.tolist())) < 2:
        raise DataError("y has one class only; a picture of how classes are told apart needs two")
    decided = shares.argmax(axis=1) if decisions is None else _places(decisions, known)
    return Judged(truth, shares, decided, tuple(known.tolist()))


def as_table(X: Any) -> Table | NDArray[Any]:
    """Make a table of a frame, so that rows can be taken from it; leave anything else."""
    return X if isinstance(X, Table) else from_frame(X) if is_frame(X) else np.asarray(X)


def is_of_numbers(source: Any) -> bool:
    """Whether the goal is a number rather than a class."""
    if isinstance(source, Evaluator):
        return source.model_.goal.task is Task.REGRESSION
    return bool(is_regressor(source))


def _refuse_numbers(classifier: Any) -> None:
    if is_of_numbers(classifier) or not hasattr(classifier, "predict_proba"):
        raise ParameterError(
            f"beliefs in classes are drawn, and {type(classifier).__name__} has none; "
            "use a classifier with predict_proba"
        )


def _places(values: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each value stands among the classes."""
    place_of = {value: place for place, value in enumerate(classes.tolist())}
    values = np.asarray(values).tolist()
    strange = [value for value in values if value not in place_of]
    if strange:
        known = ", ".join(map(shorten, list(place_of)[:8]))
        raise DataError(
            f"y has the class {shorten(strange[0])}, which the classifier does not know; "
            f"it knows: {known}{', …' if len(place_of) > 8 else ''}"
        )
    return np.array([place_of[value] for value in values], dtype=np.intp)
