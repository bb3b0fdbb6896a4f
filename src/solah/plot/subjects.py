"""Reads what pictures show from estimators, evaluators and model documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from solah.data import from_frame, is_frame
from solah.estimators import LinguisticLabeller
from solah.estimators.base import LinguisticEstimator
from solah.estimators.inputs import read_features
from solah.exceptions import ColumnError, ParameterError, shorten
from solah.model import Model
from solah.model.encode import encode_column
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    from solah.kernels.arrays import Float
    from solah.model import Attribute


def model_of(source: Any) -> Model:
    """Return the model document of a fitted estimator, of an predictor, or as it is."""
    if isinstance(source, Model):
        return source
    if isinstance(source, Predictor):
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
    return encode_column(Predictor(model_of(source))._table(X), attribute)
