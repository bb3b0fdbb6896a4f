"""Check the parameters of a stream."""

from __future__ import annotations

from dataclasses import dataclass

from solah.exceptions import ParameterError
from solah.learn.online import Pace
from solah.stream.drift import DetectorName, make_detector

_LEAST = {"window": 40, "min_rows": 20, "check_every": 50, "reorganise_every": 20}


@dataclass(frozen=True)
class Settings:
    """How a stream is followed; the parameters of :class:`solah.stream.StreamLearner`."""

    window: int = 2000
    per_class: int = 50
    detector: DetectorName = "adwin"
    check_every: int | None = 1000
    reorganise_every: int | None = None
    min_rows: int = 200
    new_class_rows: int = 20
    pace: float = 1 / 32
    forgetting: float = 0.0
    label_delay: int | None = 0
    swap_after: int | None = 0
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ParameterError(f"{name!r} must be {least} or more. Got {value!r} instead.")
        for name in ("per_class", "new_class_rows", "label_delay", "swap_after", "random_state"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ParameterError(f"{name!r} must be 0 or more. Got {value!r} instead.")
        if self.min_rows > self.window:
            raise ParameterError(
                f"'min_rows' must not be larger than 'window', for no more rows are kept. Got "
                f"{self.min_rows!r} and {self.window!r}."
            )
        make_detector(self.detector)
        Pace(self.pace, self.forgetting)
