"""The focal sets of a tree's input by the names that people use, both ways."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from solah.exceptions import shorten
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
    whole : the attribute itself, of an input that is parted; its words name the parts
    """

    def __init__(self, attribute: Attribute, whole: Attribute | None = None) -> None:
        self.attribute = attribute
        self._words = whole.words if whole is not None and attribute.parted_at else attribute.words

    @property
    def name(self) -> str:
        """The input's name."""
        return self.attribute.name

    @property
    def parted_at(self) -> tuple[str, ...]:
        """The first word of each part but the lowest, of an input that is parted."""
        return tuple(self._words[start] for start in self.attribute.parted_at)

    @cached_property
    def _runs(self) -> list[list[str]]:
        """The words that are told as one: those of each part, or each by itself."""
        if not self.attribute.parted_at:
            return [[word] for word in self._words]
        ends = (0, *self.attribute.parted_at, len(self._words))
        return [list(self._words[start:stop]) for start, stop in pairwise(ends)]

    def _sets_of(self, run: int) -> range:
        places = [place for place, of in enumerate(self.attribute.set_words) if of == run]
        return range(places[0], places[-1] + 1)

    @cached_property
    def _known(self) -> Mapping[SetName, range]:
        """Where each name stands among the focal sets."""
        if not self.attribute.cores:
            sets = enumerate(self.attribute.focal_sets)
            return {SetName(words): range(place, place + 1) for place, words in sets}
        known: dict[SetName, range] = {}
        for number, words in enumerate(self._runs):
            at = self._sets_of(number)
            for word in words:
                known[SetName((word,))] = at
                if len(at) == 2:
                    known[SetName((word,), "lower")] = at[:1]
                    known[SetName((word,), "upper")] = at[1:]
        return known

    def places(self, condition: StatedCondition) -> list[int]:
        """Return the focal sets that a condition means."""
        places = condition.places(self._known, self.attribute.n_focal_sets)
        if self.attribute.parted_at and not any(name.end for name in condition.names):
            self._refuse_parts_of_parts(condition)
        return places

    def _refuse_parts_of_parts(self, condition: StatedCondition) -> None:
        meant = {self._words[place] for place in condition.word_places(self._words)}
        for run in self._runs:
            if 0 < len(meant.intersection(run)) < len(run):
                told = [self.spell(self._sets_of(number)) for number in range(len(self._runs))]
                raise condition.token.fail(
                    f"{shorten(self.name)} is parted here, and only these are told apart: "
                    f"{'; '.join(told)}"
                )

    def spell(self, places: Sequence[int], everything: str = "anything") -> str:
        """Name focal sets together, as a condition has them behind ``is``."""
        one = self.attribute
        if len(places) == one.n_focal_sets > 1:
            return everything
        names, numbers = self._names(places)
        return _run(names, numbers, is_ordered=one.is_ordered)

    def _names(self, places: Sequence[int]) -> tuple[list[str], list[int]]:
        """Return all names, and the numbers of those that focal sets have together."""
        one = self.attribute
        if one.states:
            return [spell_state(state) for state in one.states], list(places)
        if not one.cores:
            return [str(SetName(words)) for words in one.focal_sets], list(places)
        names: list[SetName] = []
        numbers: list[int] = []
        for number, words in enumerate(self._runs):
            at = self._sets_of(number)
            n_meant = sum(place in places for place in at)
            told = [SetName((word,)) for word in words]
            if 0 < n_meant < len(at):
                told = [SetName((words[0],), end) for end in ("lower", "upper")]
            for name in told:
                if self._known[name].start in places:
                    numbers.append(len(names))
                names.append(name)
        return [str(name) for name in names], numbers


def _run(names: Sequence[str], numbers: Sequence[int], *, is_ordered: bool) -> str:
    chosen = [names[number] for number in numbers]
    if len(chosen) < 3 or not is_ordered:
        return " or ".join(chosen)
    if numbers[0] == 0:
        return f"at most {chosen[-1]}"
    if numbers[-1] == len(names) - 1:
        return f"at least {chosen[0]}"
    return f"from {chosen[0]} to {chosen[-1]}"
