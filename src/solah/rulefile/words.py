"""The focal sets of a tree's input by the names that people use, both ways."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from solah.exceptions import shorten
from solah.rulefile.lexer import spell_name
from solah.rulefile.sentence import SetName, spell_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from solah.model.attributes import Attribute
    from solah.rulefile.sentence import StatedCondition


class InputWords:
    """Finds and names the focal sets of an input.

    Parameters
    ----------
    attribute : the input as the tree has it
    whole : the attribute itself, of an input that is parted into low and high
    """

    def __init__(self, attribute: Attribute, whole: Attribute | None = None) -> None:
        self.attribute = attribute
        self.whole = whole if attribute.parted_at else None

    @property
    def name(self) -> str:
        """The input's name."""
        return self.attribute.name

    @cached_property
    def known(self) -> Mapping[SetName, range]:
        """Where each name stands among the focal sets; of a parted input, among its words."""
        one = self.attribute
        if self.whole is not None:
            return {SetName((word,)): range(i, i + 1) for i, word in enumerate(self.whole.words)}
        if not one.cores:
            return {SetName(words): range(i, i + 1) for i, words in enumerate(one.focal_sets)}
        known: dict[SetName, range] = {}
        for number, word in enumerate(one.words):
            places = [place for place, of in enumerate(one.set_words) if of == number]
            known[SetName((word,))] = range(places[0], places[-1] + 1)
            if len(places) == 2:
                known[SetName((word,), "lower")] = range(places[0], places[0] + 1)
                known[SetName((word,), "upper")] = range(places[1], places[1] + 1)
        return known

    def places(self, condition: StatedCondition) -> list[int]:
        """Return the focal sets that a condition means."""
        if self.whole is None:
            return condition.places(self.known, self.attribute.n_focal_sets)
        words = condition.places(self.known, len(self.whole.words))
        start = self.attribute.parted_at
        parts = sorted({int(word >= start) for word in words})
        if len(words) != sum((start, len(self.whole.words) - start)[part] for part in parts):
            low, high = (self.spell([part]) for part in (0, 1))
            raise condition.token.fail(
                f"only {low} and {high} are told apart here, as {shorten(self.name)} is parted"
            )
        return parts

    def spell(self, places: Sequence[int], everything: str = "anything") -> str:
        """Name focal sets together, as a condition has them behind ``is``."""
        one = self.attribute
        if len(places) == one.n_focal_sets > 1:
            return everything
        if self.whole is not None:
            start, n_words = one.parted_at, len(self.whole.words)
            part = range(start) if places[0] == 0 else range(start, n_words)
            return _run([spell_name(word) for word in self.whole.words], part, is_ordered=True)
        names, numbers = self._names(places)
        return _run(names, numbers, is_ordered=one.is_ordered)

    def _names(self, places: Sequence[int]) -> tuple[list[str], list[int]]:
        """Return all names, and the numbers of those that focal sets have together."""
        one = self.attribute
        if one.states:
            return [spell_state(state) for state in one.states], list(places)
        if not one.cores:
            return [str(SetName(words)) for words in one.focal_sets], list(places)
        names: list[str] = []
        numbers: list[int] = []
        for word in one.words:
            whole = SetName((word,))
            n_meant = sum(place in places for place in self.known[whole])
            is_cut = 0 < n_meant < len(self.known[whole])
            for name in (
                (SetName((word,), "lower"), SetName((word,), "upper")) if is_cut else (whole,)
            ):
                if self.known[name].start in places:
                    numbers.append(len(names))
                names.append(str(name))
        return names, numbers


def _run(names: Sequence[str], numbers: Sequence[int], *, is_ordered: bool) -> str:
    chosen = [names[number] for number in numbers]
    if len(chosen) < 3 or not is_ordered:
        return " or ".join(chosen)
    if numbers[0] == 0:
        return f"at most {chosen[-1]}"
    if numbers[-1] == len(names) - 1:
        return f"at least {chosen[0]}"
    return f"from {chosen[0]} to {chosen[-1]}"
