"""Keep the plans that came, and find the one in force for a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.site.bundle import BundleError
from solah.site.evaluation import KEEP, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.site.bundle import Bundle
    from solah.site.evaluation import Case

_MOST = 8


class NoRoomError(BundleError):
    """The maximum number of plans that wait for rows has been reached."""


class Versions:
    """The plans of a node, by the rows at which they start.

    A plan holds from its first row on, until the first row of one that came later. The first plan
    also holds for rows before its start.

    Parameters
    ----------
    bundle : the plan to begin with
    name : the node's
    keep : how many rows it keeps
    """

    def __init__(self, bundle: Bundle, name: str, keep: int = KEEP) -> None:
        self._name, self._keep = name, keep
        self._versions = [Version(bundle, name, keep)]
        self.first = 0  # the first row whose plan is still known

    def __iter__(self) -> Iterator[Version]:
        return iter(self._versions)

    @property
    def newest(self) -> Version:
        """The plan that came last."""
        return self._versions[-1]

    @property
    def bundles(self) -> list[Bundle]:
        """All plans that rows may still need, by their start."""
        return [version.bundle for version in self._versions]

    def of(self, sequence: int) -> Version:
        """Return the plan that is in force for a row."""
        for version in reversed(self._versions):
            if version.starts <= sequence:
                return version
        return self._versions[0]

    def named(self, bundle_hash: str) -> Version | None:
        """Return the plan with this hash; None where it is no longer known."""
        return next((one for one in self._versions if one.hash == bundle_hash), None)

    def split(self, cases: list[Case]) -> Iterator[tuple[Version, list[Case]]]:
        """Yield rows by the plan that is in force for them."""
        for version in self._versions:
            mine = [case for case in cases if self.of(case.sequence) is version]
            if mine:
                yield version, mine

    def adopt(self, bundle: Bundle, first_needed: int) -> Version | None:
        """Take another plan; return how this node sees it, None where it is the newest already.

        Parameters
        ----------
        bundle : the plan
        first_needed : the first row that may still be evaluated; plans for those before can go

        Raises
        ------
        NoRoomError
            The maximum number of plans that wait for rows has been reached.
        """
        if (bundle.hash, bundle.starts) == (self.newest.hash, self.newest.starts):
            if bundle.counter > self.newest.bundle.counter:  # the same plan, signed again
                self._versions[-1] = Version(bundle, self._name, self._keep)
            return None
        (first, *later), past = self._versions, self.first
        kept = [first, *(one for one in later if one.starts < bundle.starts)]
        while len(kept) > 1 and kept[1].starts <= first_needed:
            kept.pop(0)
            past = kept[0].starts
        if len(kept) >= _MOST:
            raise NoRoomError(
                f"{len(kept)} plans are in use or wait for their rows, so that the one from row "
                f"{bundle.starts} on has to wait"
            )
        self._versions, self.first = [*kept, Version(bundle, self._name, self._keep)], past
        return self.newest
