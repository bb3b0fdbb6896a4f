"""Compare the decisions of the model in use with those of one that is only tried out."""

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
        Whether numbers are decided; then it is measured how far apart they are.

    Examples
    --------
    >>> comparison = Comparison()
    >>> for row, decision in enumerate(("dry", "wet", "wet")):
    ...     comparison.act(row, decision)
    ...     comparison.shadow(row, "wet")
    >>> comparison.describe()["rows"], comparison.describe()["agreed"]
    (3, 2)
    >>> comparison.describe()["differing"]
    [{'decision': 'dry', 'shadow': 'wet', 'times': 1}]
    """

    def __init__(self, *, is_number: bool = False) -> None:
        self._is_number = is_number
        self._seen: OrderedDict[int, tuple[bool, str] | None] = OrderedDict()  # None: compared
        self.rows = self.agreed = 0
        self._differing: Counter[tuple[str, str]] = Counter()
        self._apart = 0.0

    def act(self, sequence: int, decision: str) -> None:
        """Take the decision on a row by the model in use."""
        self._take(sequence, decision, is_shadow=False)

    def shadow(self, sequence: int, decision: str) -> None:
        """Take the decision on a row by the model that is tried out."""
        self._take(sequence, decision, is_shadow=True)

    def describe(self) -> dict[str, Any]:
        """Return the counts, ready for JSON."""
        pairs = self._differing.most_common(_MOST_PAIRS)
        return {
            "rows": self.rows,
            "agreed": self.agreed,
            "agreement": self.agreed / self.rows if self.rows else None,
            "differing": [
                {"decision": decision, "shadow": shadow, "times": times}
                for (decision, shadow), times in pairs
            ],
            "apart": self._apart / self.rows if self.rows and self._is_number else None,
        }

    def _take(self, sequence: int, decision: str, *, is_shadow: bool) -> None:
        """Compare with what the other decided; a row that comes again is not counted again."""
        if sequence not in self._seen:
            self._seen[sequence] = (is_shadow, decision)
            while len(self._seen) > _MOST_ROWS:
                self._seen.popitem(last=False)
            return
        waiting = self._seen[sequence]
        if waiting is None or waiting[0] == is_shadow:
            return
        self._seen[sequence] = None
        acting, tried = (waiting[1], decision) if is_shadow else (decision, waiting[1])
        self.rows += 1
        self.agreed += acting == tried
        if self._is_number:
            self._apart += abs(float(acting) - float(tried))
        elif acting != tried:
            self._differing[acting, tried] += 1
