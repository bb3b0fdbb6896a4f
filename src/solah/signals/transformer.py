"""The scikit-learn transformer from samples to features of windows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from solah.exceptions import DataError
from solah.signals.describing import DEFAULT_FEATURES, describe_signals
from solah.signals.windows import Recording, cut_windows, features_of_windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.kernels.arrays import Float
    from solah.model.signals import Signals
    from solah.signals.windows import Windows


@dataclass(eq=False, repr=False)
class WindowFeatures(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """Describe windows of samples by features that engineers know.

    Parameters
    ----------
    channels : sequence of str
        The names of the channels, in the order of the samples' columns.
    rate : float or mapping of channel name to float
        Samples per second. The rates of slower channels divide the fastest by whole numbers.
    window : int or str, default="2s"
        How many samples of the fastest channel a window has, or a time: ``"2s"``, ``"500ms"``.
    overlap : float or str, default=0.5
        The share of a window that the next one has, too; also ``"50%"``.
    features : iterable of str, default=DEFAULT_FEATURES
        ``"mean"``, ``"min"``, ``"max"``, ``"range"``, ``"rms"``, ``"deviation"``, ``"change"``,
        ``"slope"``, ``"zero crossings"``, ``"mean crossings"``, ``"peaks"``, ``"pitch"``, a
        percentile (``"p90"``) or the energy in a band of frequencies (``"energy 2-5"``), each of
        every channel; and the ``"correlation"`` of every two.
    magnitudes : mapping of name to channels, default=None
        Channels to derive: the magnitude over axes.
    units : mapping of channel name to unit, default=None
        What samples are measured in.
    max_gap : int or str, default=None
        How long the last sample is repeated where some are missing, in samples of the fastest
        channel or as a time; by default for a tenth of the window. A window with a longer gap has
        missing values (NaN).

    Attributes
    ----------
    signals_ : Signals
        The description that a model file carries.

    Examples
    --------
    >>> import numpy as np
    >>> from solah.signals import WindowFeatures
    >>> wave = np.sin(2 * np.pi * 5 * np.arange(200) / 100)
    >>> features = WindowFeatures(["vibration"], rate=100, window="1s", features=["rms", "pitch"])
    >>> features.fit_transform(wave[:, None]).round(3)
    array([[0.707, 5.   ],
           [0.707, 5.   ],
           [0.707, 5.   ]])
    >>> features.get_feature_names_out().tolist()
    ['vibration RMS over 1 s', 'pitch of vibration']
    """

    channels: Sequence[str]
    rate: float | Mapping[str, float]
    _: KW_ONLY
    window: int | str = "2s"
    overlap: float | str = 0.5
    features: Iterable[str] = DEFAULT_FEATURES
    magnitudes: Mapping[str, Sequence[str]] | None = None
    units: Mapping[str, str] | None = None
    max_gap: int | str | None = None

    def fit(self, X: Any = None, y: Any = None) -> WindowFeatures:
        """Make the description; nothing is learned from the data.

        Parameters
        ----------
        X, y : ignored

        Returns
        -------
        self
        """
        self.signals_ = describe_signals(**self.get_params(deep=False))
        return self

    def transform(self, X: Any) -> Float:
        """Return the readings of windows.

        Parameters
        ----------
        X : ndarray of shape (n_windows, window, n_channels)
            Windows that are cut already, a row each; or ``(n_samples, n_channels)``, one
            recording; or a list of recordings, arrays or objects of :class:`Recording`.

        Returns
        -------
        readings : ndarray of shape (n_windows, n_features)
            NaN where unknown.
        """
        check_is_fitted(self)
        signals = self.signals_
        if isinstance(X, np.ndarray) and X.ndim == 3:
            shape = (signals.window, len(signals.measured))
            if X.shape[1:] != shape:
                raise DataError(
                    f"windows must have the shape {shape}, of samples and channels; got "
                    f"{X.shape[1:]}"
                )
            return features_of_windows(signals, X)
        return self.windows([X] if isinstance(X, np.ndarray | Recording) else X).readings

    def windows(self, recordings: Iterable[Any]) -> Windows:
        """Cut recordings into windows, with their readings, times, labels and groups.

        Parameters
        ----------
        recordings : iterable of Recording, or of ndarray of shape (n_samples, n_channels)

        Returns
        -------
        windows : Windows
        """
        check_is_fitted(self)
        signals = self.signals_
        named = [
            one if isinstance(one, Recording) else _recording(signals, place, one)
            for place, one in enumerate(recordings)
        ]
        return cut_windows(signals, named)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns of ``transform``."""
        check_is_fitted(self)
        return np.array(self.signals_.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags


def _recording(signals: Signals, place: int, samples: Any) -> Recording:
    array = np.asarray(samples, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != len(signals.measured):
        raise DataError(
            f"recording {place} must have the shape (samples, {len(signals.measured)}), a column "
            f"per channel; got {array.shape}"
        )
    columns = zip((one.name for one in signals.measured), array.T, strict=True)
    return Recording(f"recording {place}", dict(columns))
