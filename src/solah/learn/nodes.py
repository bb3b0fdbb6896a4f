"""The models at the nodes of a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from solah.kernels.reference import masses
from solah.model.attributes import flatten
from solah.model.encode import encode_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.kernels.arrays import Float, Int64
    from solah.model import Attribute, Node


class NodeLearner(Protocol):
    """Learns a classifier for a node from numbers, such as any of scikit-learn."""

    def fit(self, features: Float, codes: NDArray[Any], weights: Float) -> Any:
        """Return a fitted classifier with ``classes_`` and ``predict_proba``."""


class NodeModel(Protocol):
    """A model at a node."""

    @property
    def name(self) -> str:
        """The node's name."""

    @property
    def inputs(self) -> tuple[Attribute, ...]:
        """The attributes and the beliefs that feed the node."""

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int) -> Float:
        """Return the belief in each class, given the beliefs of the nodes below."""


@runtime_checkable
class DocumentNode(NodeModel, Protocol):
    """What a model file can hold: a tree, or a rule model."""

    def node(self) -> Node:
        """Return the node as a model has it."""


@dataclass(frozen=True, eq=False)
class EstimatorNode:
    """Any other classifier at a node.

    It sees numbers as they are (their training mean where they are missing), a column of 0 and 1
    a state (the states' frequencies where it is missing), and beliefs as probabilities.
    """

    name: str
    inputs: tuple[Attribute, ...]
    estimator: Any
    means: Mapping[str, float]
    n_classes: int

    def beliefs(self, table: Table, outputs: Mapping[str, Float], n_threads: int) -> Float:
        """Return the estimator's probabilities, zero for classes it has not seen."""
        features = estimator_features(self.inputs, table, outputs, self.means)
        beliefs = np.zeros((table.n_rows, self.n_classes))
        beliefs[:, self.estimator.classes_] = self.estimator.predict_proba(features)
        return beliefs


def reading_means(inputs: tuple[Attribute, ...], table: Table, weights: Int64) -> dict[str, float]:
    """Return the weighted means of the measured attributes, to stand in for missing readings."""
    means = {}
    for attribute in inputs:
        if attribute.name in table.names and not attribute.is_coded:
            readings = encode_column(table, attribute)
            known = ~np.isnan(readings) & (weights > 0)
            means[attribute.name] = (
                float(np.average(readings[known], weights=weights[known])) if known.any() else 0.0
            )
    return means


def estimator_features(
    inputs: tuple[Attribute, ...],
    table: Table,
    outputs: Mapping[str, Float],
    means: Mapping[str, float],
) -> Float:
    """Lay out a node's inputs as the matrix that a scikit-learn classifier takes."""
    parts = []
    for attribute in inputs:
        if attribute.name in outputs:
            parts.append(outputs[attribute.name])
            continue
        readings = encode_column(table, attribute).astype(np.float64)
        if attribute.is_coded:
            parts.append(masses(readings, flatten([attribute]), 0))
        else:
            known = np.where(np.isnan(readings), means[attribute.name], readings)
            parts.append(known[:, None])
    return np.hstack(parts)
