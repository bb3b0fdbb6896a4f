"""Makes the tables of float32 that the float runtime reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from solah.exceptions import ParameterError
from solah.export.tables import LostTables, TableBuilder
from solah.model.limits import LEAST_GAP, MOST_NUMBER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.export.layout import Curve, Layout, Lost, StageLayout
    from solah.export.tables import StageTables, Tables
    from solah.kernels.arrays import Float
    from solah.model.features import Feature
    from solah.model.program import Axis

Float32 = NDArray[np.float32]


def float_tables(layout: Layout) -> Tables:
    """Make the tables of a layout in float32."""
    for feature in layout.features:
        _check_words(feature)
    return _FloatBuilder(layout).tables()


class _FloatBuilder(TableBuilder):
    def _value_bits(self, stage: StageLayout) -> int:
        """Refuse a stage that would add up to more than single precision holds."""
        scores = (stage.start, *(term.values for term in stage.terms))
        largest = max(float(np.abs(values).max()) for values in scores)
        if not largest <= MOST_NUMBER:
            raise ParameterError(
                f"{stage.name!r} adds up numbers as large as {largest:.3g}: single precision takes "
                f"{MOST_NUMBER:g} at the most. Scale its weights, bias or target down."
            )
        return 0

    def _array(self, numbers: Any) -> Float32:
        return _float32(np.array(numbers, dtype=np.float64))

    def _scores(self, values: Float) -> Float32:
        return _float32(values)

    def _sums(self, values: Float) -> Float32:
        return _float32(values)

    def _write_curve(self, curve: Curve) -> NDArray[np.int32]:
        # Slopes are those between the knots as the device knows them.
        knots = _parted(_float32(curve.knots)).astype(np.float64)
        self._knots += knots.tolist()
        slopes = np.diff(curve.values, axis=0) / np.diff(knots)[:, None]
        if np.abs(slopes).max() > np.finfo(np.float32).max:
            raise ParameterError(
                f"what {self._layout.features[curve.feature].name!r} adds changes within "
                f"{np.diff(knots).min():.3g}, which is too steep for float32; scale the target "
                "down, or the feature up"
            )
        self._put(np.hstack([curve.values[:-1], slopes]))
        self._put(curve.unknown)
        return curve.rules

    def _write_side(self, axis: Axis) -> None:
        peaks = _parted(_float32(axis.peaks)).astype(np.float64)
        self._knots += peaks.tolist()
        self._put(1 / np.diff(peaks))

    def _described(self, axes: Sequence[Axis]) -> dict[str, Any]:
        return {
            "peaks": _float32(np.concatenate([axis.peaks for axis in axes])),
            "mean_masses": _float32(np.concatenate([axis.missing for axis in axes])),
            **dict.fromkeys(("inverses", "shifts"), np.empty(0, dtype=np.float32)),
        }

    def _lost(self, lost: Lost, shares: Float) -> LostTables:
        prior = np.concatenate([lost.prior, lost.lean])
        return LostTables(_float32(shares), _float32(prior), np.float32(lost.factor))

    def _preference(self, last: StageTables) -> Float32 | None:
        thresholds = self._layout.program.thresholds
        if thresholds is None:
            return None
        return _float32(-np.log(thresholds) if last.is_weighed else thresholds.min() / thresholds)


def _check_words(feature: Feature) -> None:
    """Refuse words that single precision cannot distinguish, or cannot hold."""
    peaks = np.array(feature.peaks)
    closest = float(np.diff(peaks / 2).min(initial=np.inf)) * 2
    if feature.is_coded or (np.abs(peaks).max() <= MOST_NUMBER and closest >= LEAST_GAP):
        return
    raise ParameterError(
        f"{feature.name!r} has words from {peaks[0]:.3g} to {peaks[-1]:.3g}, {closest:.3g} apart "
        f"at the least: single precision computes with numbers up to {MOST_NUMBER:g} that "
        f"are {LEAST_GAP:g} apart. Measure it in another unit, or export with numbers='q15'."
    )


def _parted(knots: Float32) -> Float32:
    """Part knots that became one, so that scores still step from one to the other."""
    parted = knots.copy()
    with np.errstate(under="ignore"):  # the next number above 0 is subnormal
        for k in range(1, len(knots)):
            parted[k] = max(parted[k], np.nextafter(parted[k - 1], np.float32(np.inf)))
    return parted


def _float32(values: Float) -> Float32:
    with np.errstate(over="ignore", under="ignore"):
        numbers = np.asarray(values, dtype=np.float32)
    if not np.isfinite(numbers).all():
        raise ParameterError(
            f"single precision does not hold {np.abs(values).max():.3g}; measure in another unit, "
            "or export with numbers='q15'"
        )
    return numbers
