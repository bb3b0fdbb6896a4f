"""Decide which rows a site is at, from the row numbers of several sources.

A source is another node from which messages come, or the node's own readings. Numbers of rows may
begin anywhere, jump and begin again, but no single source decides where a site is:

- A row is reached when a majority of the live sources has come to it. Only then its deadline runs.
- A row more than a million beyond that, or long forgotten, is elsewhere, and refused.
- A site goes elsewhere when more sources report rows there than here.
"""

from __future__ import annotations

from dataclasses import dataclass

FAR = 1_000_000  # rows beyond what is reached; a week of one per second is less
SILENCE = 60.0  # seconds after which a source from which nothing came no longer counts
_NEVER = -float("inf")


@dataclass
class _Source:
    """Which rows one source has reported, and when."""

    newest: int = -1  # here
    advanced: float = _NEVER  # when that came
    here: float = _NEVER  # when the last came that is here
    last: int = -1  # anywhere
    active: float = _NEVER  # when that came


class Position:
    """Where the rows of a site are.

    Parameters
    ----------
    keep : the rows that a node keeps
    n_sources : how many sources the node has
    """

    def __init__(self, keep: int, n_sources: int) -> None:
        self.floor = -1  # rows up to this one are done, and forgotten
        self.reached = -1
        self.n_sources = n_sources
        self._keep = keep
        self._sources: dict[str, _Source] = {}
        self._resumed = _NEVER

    def resume(self, row: int, now: float) -> None:
        """Begin behind the row that the node came to before it was restarted."""
        self.reached = max(self.reached, row)
        self._resumed = now

    def is_elsewhere(self, row: int) -> bool:
        """Whether a row is far ahead of what is reached, or far behind what is remembered."""
        return self.reached >= 0 and not self.floor - self._keep <= row <= self.reached + FAR

    def note(self, source: str, row: int, now: float) -> bool:
        """Note a source's row that is here; return whether it is its newest."""
        one = self._sources.setdefault(source, _Source())
        one.here = one.active = now
        one.last = row
        if row <= one.newest:
            return False
        one.newest, one.advanced = row, now
        return True

    def note_elsewhere(self, source: str, row: int, now: float) -> bool:
        """Note a source's row that is elsewhere; return whether the site goes there."""
        one = self._sources.setdefault(source, _Source())
        one.last, one.active = row, now
        there = self._there(row, now)
        here = [one for one in self._sources.values() if now - one.here < SILENCE]
        is_fresh = now - self._resumed < SILENCE
        if row <= self.reached:
            # Old messages that a broker delivers again look the same, so here must be silence.
            return not is_fresh and len(there) > len(here)
        if len(there) > len(here) + (is_fresh and self.n_sources > 1):
            return True
        staying = [one for one in here if not self.is_elsewhere(one.last)]
        return len(there) > max(1, len(staying))

    def go(self, row: int, now: float) -> None:
        """Go where a row is."""
        there = self._there(row, now)
        first = min(one.last for one in there)
        for one in self._sources.values():
            is_there = any(one is other for other in there)
            one.newest = one.last if is_there else -1
            one.advanced = one.here = one.active if is_there else _NEVER
        self.floor = min(self.floor, first - 1)
        self.reached = -1
        self._resumed = _NEVER

    def update(self, now: float, patience: float) -> int:
        """Find what is reached by now, with a maximum wait for sources; return it."""
        known = [one for one in self._sources.values() if one.newest >= 0]
        live = [one for one in known if now < one.advanced + patience]
        newest = sorted((one.newest for one in live), reverse=True)
        if newest:
            self.reached = newest[len(newest) // 2]
        elif known:
            self.reached = max(one.newest for one in known)
        for one in known:
            one.newest = min(one.newest, self.reached + FAR)
        return self.reached

    def lost(self, now: float, patience: float) -> float:
        """Return when the last of the sources that are no longer waited for advanced."""
        gone = [one.advanced for one in self._sources.values() if now >= one.advanced + patience]
        return max(gone, default=_NEVER)

    def next_loss(self, now: float, patience: float) -> float | None:
        """Return when the next source will no longer be waited for; None for never."""
        ends = [one.advanced + patience for one in self._sources.values()]
        return min((end for end in ends if end > now), default=None)

    def _there(self, row: int, now: float) -> list[_Source]:
        """Return the sources whose last row is where this one is."""
        return [
            one
            for one in self._sources.values()
            if abs(one.last - row) <= FAR
            and now - one.active < SILENCE
            and self.is_elsewhere(one.last)
        ]
