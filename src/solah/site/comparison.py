"""Compare the decisions of the model in use with those of a shadow."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

_MOST_ROWS = 4_096
_MOST_PAIRS = 50


class Comparison:
    """Counts on how many rows two models agree, and where they do not.

    Parameters
    ----------
    is_number : bool, default=False
        Whether the models estimate numbers, whose mean difference is measured.

    Examples
    --------
    >>> comparison = Comparison()
    >>> for row, decision in enumerate(("dry", "wet", "wet")):
    ...     comparison.take(row, decision, is_shadow=False)
    ...     comparison.take(row, "wet", is_shadow=True)
    >>> found = comparison.describe()
    >>> found["rows"], found["agreed"], found["differing"]
    (3, 2, [{'decision': 'dry', 'shadow': 'wet', 'times': 1}])
    """

    def __init__(self, *, is_number: bool = False) -> None:
        self._is_number = is_number
        self._seen: OrderedDict[int, tuple[bool, str] | None] = OrderedDict()  # None: compared
        self._rows = self._agreed = 0
        self._differing: Counter[tuple[str, str]] = Counter()
        self._apart = 0.0

    def take(self, sequence: int, decision: str, *, is_shadow: bool) -> None:
        """Take a decision on a row; one that comes again is not counted again."""
        waiting = self._seen.setdefault(sequence, (is_shadow, decision))
        while len(self._seen) > _MOST_ROWS:
            self._seen.popitem(last=False)
        if waiting is None or waiting[0] == is_shadow:
            return
        self._seen[sequence] = None
        in_use, shadow = (waiting[1], decision) if is_shadow else (decision, waiting[1])
        self._rows += 1
        self._agreed += in_use == shadow
        if self._is_number:
            self._apart += abs(float(in_use) - float(shadow))
        elif in_use != shadow:
            self._differing[in_use, shadow] += 1

    def describe(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        pairs = self._differing.most_common(_MOST_PAIRS)
        return {
            "rows": self._rows,
            "agreed": self._agreed,
            "agreement": self._agreed / self._rows if self._rows else None,
            "differing": [
                {"decision": decision, "shadow": shadow, "times": times}
                for (decision, shadow), times in pairs
            ],
            "apart": self._apart / self._rows if self._rows and self._is_number else None,
        }
