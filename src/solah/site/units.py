"""Units, durations and sizes as people write them."""

from __future__ import annotations

import re
from typing import NamedTuple

from solah.exceptions import ParameterError, did_you_mean, shorten

_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|s|min|h|d)", re.ASCII)
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0}
_MOST_SECONDS = 366 * 86_400.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(B|kB|MB|GB)", re.ASCII)
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_CONVERSION = re.compile(r"(\S+) to (\S+)")

UNITS: dict[str, dict[str, float]] = {
    "temperature": {"C": 1.0, "F": 5 / 9, "K": 1.0},
    "pressure": {
        "Pa": 1.0,
        "hPa": 1e2,
        "kPa": 1e3,
        "mbar": 1e2,
        "bar": 1e5,
        "psi": 6894.757293168,
        "mmHg": 133.322387415,
        "inHg": 3386.388640341,
    },
    "distance": {
        "m": 1.0,
        "mm": 1e-3,
        "cm": 1e-2,
        "km": 1e3,
        "in": 0.0254,
        "ft": 0.3048,
        "mi": 1609.344,
    },
    "speed": {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1852 / 3600},
    "power": {"W": 1.0, "mW": 1e-3, "kW": 1e3, "MW": 1e6},
    "energy": {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3.6e3, "kWh": 3.6e6, "MWh": 3.6e9},
    "voltage": {"V": 1.0, "mV": 1e-3, "kV": 1e3},
    "current": {"A": 1.0, "mA": 1e-3, "uA": 1e-6},
    "mass": {"kg": 1.0, "g": 1e-3, "lb": 0.45359237},
    "volume": {"l": 1.0, "ml": 1e-3, "m3": 1e3, "gal": 3.785411784},
    "time": {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0},
    "acceleration": {"m/s2": 1.0, "g0": 9.80665, "mg0": 9.80665e-3},
    "illuminance": {"lx": 1.0, "fc": 10.763910417},
    "share": {"1": 1.0, "%": 1e-2, "ppm": 1e-6},
}
"""The units of each quantity, in its first one."""
_OFFSETS = {"F": -160 / 9, "K": -273.15}
_OTHER_NAMES = {
    "°C": "C",
    "degC": "C",
    "celsius": "C",
    "°F": "F",
    "degF": "F",
    "fahrenheit": "F",
    "kelvin": "K",
    "lux": "lx",
    "kph": "km/h",
    "knots": "kn",
    "kt": "kn",
    "L": "l",
    "µA": "uA",
    "m³": "m3",
    "m/s²": "m/s2",
    "percent": "%",
}
_QUANTITIES = {unit: quantity for quantity, units in UNITS.items() for unit in units}


class Linear(NamedTuple):
    """What turns one number into another: ``factor * number + offset``."""

    factor: float = 1.0
    offset: float = 0.0

    def __call__(self, number: float) -> float:
        """Turn a number."""
        return self.factor * number + self.offset

    def then(self, after: Linear) -> Linear:
        """Return what does this first, and then the other."""
        return Linear(self.factor * after.factor, after(self.offset))


UNCHANGED = Linear()


def conversion(text: str) -> Linear:
    """Read a conversion of units, such as ``F to C``.

    Examples
    --------
    >>> round(conversion("F to C")(212.0), 6), conversion("kPa to hPa")(101.3)
    (100.0, 1013.0)
    """
    match = _CONVERSION.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"units are converted as in 'F to C': from what is sent to what the model was trained "
            f"on. Got {shorten(text)} instead."
        )
    sent, wanted = (_OTHER_NAMES.get(unit, unit) for unit in match.groups())
    for unit in (sent, wanted):
        if unit not in _QUANTITIES:
            hint = did_you_mean(unit, _QUANTITIES)
            raise ParameterError(f"there is no unit {shorten(unit)}{hint}")
    quantity, other = _QUANTITIES[sent], _QUANTITIES[wanted]
    if quantity != other:
        raise ParameterError(
            f"{sent} is a unit of {quantity} and {wanted} one of {other}; one cannot be turned "
            "into the other"
        )
    factor, offset = UNITS[quantity][wanted], _OFFSETS.get(wanted, 0.0)
    in_first = Linear(UNITS[quantity][sent], _OFFSETS.get(sent, 0.0))
    return in_first.then(Linear(1 / factor, -offset / factor))


def seconds_of(text: str, least: float = 0.0) -> float:
    """Read a duration.

    Examples
    --------
    >>> seconds_of("500ms"), seconds_of("10 s"), seconds_of("1.5h")
    (0.5, 10.0, 5400.0)
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"a duration is written as 500ms, 10s, 5min, 2h or 7d. Got {shorten(text)} instead."
        )
    seconds = float(match[1]) * _SECONDS[match[2]]
    if not least <= seconds <= _MOST_SECONDS:
        raise ParameterError(f"must be from {least:g}s to 366d. Got {shorten(text)} instead.")
    return seconds


def spell_duration(seconds: float) -> str:
    """Write a duration so that it can be read again.

    Examples
    --------
    >>> [spell_duration(one) for one in (0.25, 90, 5400, 7200)]
    ['250ms', '90s', '90min', '2h']
    """
    for unit in ("d", "h", "min"):
        if seconds >= _SECONDS[unit] and (seconds / _SECONDS[unit]).is_integer() and seconds > 120:
            return f"{seconds / _SECONDS[unit]:.0f}{unit}"
    return f"{seconds:.12g}s" if seconds >= 1 else f"{seconds * 1e3:g}ms"


def bytes_of(text: str) -> int:
    """Read a size.

    Examples
    --------
    >>> bytes_of("64MB"), bytes_of("1.5 kB")
    (64000000, 1500)
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"a size is written as 500kB, 64MB or 2GB. Got {shorten(text)} instead."
        )
    return round(float(match[1]) * _BYTES[match[2]])
