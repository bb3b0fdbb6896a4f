"""The numbers of rules that were compared, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.data.spelling import spell_mean

if TYPE_CHECKING:
    from solah.learn.additive import PathStep

_HEADS = ("at most", "rules", "attributes", "accuracy", "loss", "")
_EMPTY = "No numbers of rules were compared."


class RulePath(tuple["PathStep", ...]):
    """What each number of rules is worth on rows not learnt from; ``str()`` of it is a table.

    Examples
    --------
    >>> from solah.learn.additive import PathStep
    >>> many, few = PathStep(20, 17.5, 4, 0.31, 0.9), PathStep(8, 8, 3, 0.33, 0.88, 0.01, True)
    >>> print(RulePath([many, few]))
    at most  rules  attributes  accuracy    loss
         20     18           4     0.900  0.3100
          8      8           3     0.880  0.3300  chosen
    """

    __slots__ = ()

    def __str__(self) -> str:
        if not self:
            return _EMPTY
        lines = [_HEADS, *map(_cells, self)]
        widths = [max(len(line[j]) for line in lines) for j in range(len(_HEADS))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        from solah.explain.html import render

        return render("path.html.j2", heads=_HEADS, lines=list(map(_cells, self)), empty=_EMPTY)


def _cells(step: PathStep) -> tuple[str, ...]:
    return (
        f"{step.max_rules:,}",
        spell_mean(step.n_rules),
        spell_mean(step.n_attributes),
        f"{step.accuracy:.3f}",
        f"{step.loss:.4f}",
        "chosen" if step.is_chosen else "",
    )
