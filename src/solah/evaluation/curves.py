"""ROC curves of beliefs, for figures and pages alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import auc, roc_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float


@dataclass(frozen=True, eq=False)
class RocCurve:
    """One class against all others.

    Attributes
    ----------
    name : the class
    false_positives, true_positives : the rates, as the threshold falls
    auc : the area under the curve
    """

    name: str
    false_positives: Float
    true_positives: Float
    auc: float


def roc_curves(
    truth: NDArray[np.intp], beliefs: Float, names: Sequence[str]
) -> dict[int, RocCurve]:
    """Trace a curve for each class that some rows have, by its place; of two, for the second.

    Examples
    --------
    >>> import numpy as np
    >>> curves = roc_curves(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]), ["no", "yes"])
    >>> curves[1].name, curves[1].auc
    ('yes', 1.0)
    """
    counts = np.bincount(truth, minlength=len(names))
    partly = np.flatnonzero((counts > 0) & (counts < len(truth))).tolist()
    places = partly[-1:] if len(names) == 2 else partly
    return {place: _roc_curve(names[place], truth == place, beliefs[:, place]) for place in places}


def _roc_curve(name: str, is_true: NDArray[np.bool_], beliefs: Float) -> RocCurve:
    false_positives, true_positives, _ = roc_curve(is_true, beliefs)
    return RocCurve(
        name, false_positives, true_positives, float(auc(false_positives, true_positives))
    )
