"""Chooses the largest rule model that fits into a given flash."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from solah.exceptions import ParameterError, shorten
from solah.export.c_export import export_c
from solah.export.footprint import flash_size
from solah.export.platforms import find_platform

if TYPE_CHECKING:
    from solah.export.c_export import Export
    from solah.export.footprint import FlashSize

_SIZE = re.compile(r"(\d{1,12})|(\d{1,12}(?:\.\d{1,12})?) ?k(i?b)?", re.ASCII | re.IGNORECASE)


def read_bytes(size: int | str) -> int:
    """Read a size in bytes, such as 2048, 4k or 1.5 KB.

    Examples
    --------
    >>> read_bytes("1.5kB")
    1536
    """
    found = _SIZE.fullmatch(str(size).strip())
    n_bytes = 0 if found is None else int(found[1] or 1024 * float(found[2]))
    if n_bytes < 1:
        raise ParameterError(
            "'max_flash' must be a number of bytes such as 2048 or 4k. "
            f"Got {shorten(size)} instead."
        )
    return n_bytes


def limit_flash(estimator: Any) -> None:
    """Give a fitted rule estimator the most rules whose C fits into its ``max_flash``.

    Parameters
    ----------
    estimator : RuleClassifier or RuleRegressor
        Its C is that of ``export_c`` in integers, with the conversion of readings.

    Raises
    ------
    ParameterError
        Even the smallest model is too large.
    """
    limit, platform = read_bytes(estimator.max_flash), find_platform(estimator.platform).name
    if estimator.model_.target.link == "log":
        raise ParameterError(
            "'max_flash' is for C in integers, which do not compute e to the power of a sum; drop "
            "it, or take another loss than 'poisson' and 'gamma'"
        )
    given, size = estimator.max_rules, _size(estimator, platform)
    known = [estimator.selection_reason_] if estimator.selection_reason_ else []
    reason = "; ".join([*known, f"{size} on {platform}, in integers"])
    if size.n_bytes > limit:
        fewest, too_many = 2 * len(estimator.required_features or ()), estimator.model_.n_rules
        best, fitting, smallest = None, max(fewest, 1) - 1, size
        while too_many - fitting > 1:
            tried = estimator.with_rules((fitting + too_many) // 2)
            tried_size = _size(tried, platform)
            if tried_size.n_bytes <= limit:
                best, size, fitting = tried, tried_size, tried.max_rules
            else:
                smallest, too_many = tried_size, tried.max_rules
        if best is None:
            raise ParameterError(
                f"'max_flash' allows {limit:,} bytes, and no model is as small on {platform}: the "
                f"smallest one takes {smallest}"
            )
        reason = (
            f"{best.n_rules_} rules: the most that fit into {limit:,} bytes of flash on "
            f"{platform}, in integers: {size}"
        )
        vars(estimator).update(vars(best))
    estimator.max_rules, estimator.selection_reason_ = given, reason


def check_flash(export: Export, max_flash: int | str, platform: str = "cortex-m0plus") -> None:
    """Refuse an export that takes more flash.

    Rules that are dropped after a fit take accuracy with them, so nothing is cut.
    """
    limit, size = read_bytes(max_flash), flash_size(export, platform)
    if size.n_bytes > limit:
        ways = f"fit it again with --set max_flash={limit} --set platform={platform}"
        if export.numbers == "float":
            ways = f"compute in integers (--arithmetic q15), and if that is not enough, {ways}"
        raise ParameterError(
            f"the model takes {size} on {platform}, and 'max_flash' allows {limit:,}: {ways}"
        )


def _size(estimator: Any, platform: str) -> FlashSize:
    return flash_size(export_c(estimator.model_, numbers="q15"), platform)
