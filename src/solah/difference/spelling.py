"""Writes two numbers with as many digits as tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_DIGITS = 17
_MOST_NAMED = 8


def instead(new: float, old: float, decimals: int = 2, *, signed: bool = False) -> str:
    """Write a number and the one that it replaces.

    Examples
    --------
    >>> instead(0.62, 0.71), instead(1.3001, 1.3002, signed=True)
    ('0.62 instead of 0.71', '+1.3001 instead of +1.3002')
    """
    sign = "+" if signed else ""
    return _apart(
        new, old, lambda x, more: f"{round(x, decimals + more) + 0.0:{sign}.{decimals + more}f}"
    )


def measure_instead(new: float, old: float, *, signed: bool = False) -> str:
    """Write a measured number and the one that it replaces, with four digits at least.

    Examples
    --------
    >>> measure_instead(1500.0, 1400.0), measure_instead(0.30001, 0.3)
    ('1500 instead of 1400', '0.30001 instead of 0.3')
    """
    sign = "+" if signed else ""
    return _apart(new, old, lambda x, more: f"{x:{sign}.{4 + more}g}")


def _apart(new: float, old: float, write: Callable[[float, int], str]) -> str:
    for more in range(_MOST_DIGITS):
        both = write(new, more), write(old, more)
        if both[0] != both[1]:
            break
    else:
        both = repr(new), repr(old)
    return f"{both[0]} instead of {both[1]}"


def named(names: Sequence[str]) -> str:
    """List names, of very many the first ones."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
