"""The numbers of rules that were compared, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import spell_mean

if TYPE_CHECKING:
    from solah.learn.objective import PathStep

_EMPTY = "No numbers of rules were compared."


class RulePath(tuple["PathStep", ...]):
    """The cross-validated metrics of each number of rules; ``str()`` of it is a table.

    Examples
    --------
    >>> from solah.learn.objective import NumberStep
    >>> many = NumberStep(max_rules=20, n_rules=17.5, n_attributes=4, rmse=31.2, r2=0.9)
    >>> few = NumberStep(max_rules=8, n_rules=8, n_attributes=3, rmse=33, r2=0.88, is_chosen=True)
    >>> print(RulePath([many, few]))
    at most  rules  attributes     R²  RMSE
         20     18           4  0.900  31.2
          8      8           3  0.880    33  chosen
    """

    __slots__ = ()

    def __str__(self) -> str:
        if not self:
            return _EMPTY
        lines = [self._heads, *map(_cells, self)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    @property
    def _heads(self) -> tuple[str, ...]:
        metrics = self[0].metrics if self else ("", "")
        return ("at most", "rules", "attributes", *metrics, "")

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        lines = list(map(_cells, self))
        return render("path.html.j2", heads=self._heads, lines=lines, empty=_EMPTY)


def _cells(step: PathStep) -> tuple[str, ...]:
    return (
        f"{step.max_rules:,}",
        spell_mean(step.n_rules),
        spell_mean(step.n_attributes),
        f"{step.quality:.3f}",
        f"{step.loss:.4g}",
        "chosen" if step.is_chosen else "",
    )
