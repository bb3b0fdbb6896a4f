"""The plans that a node took: which one holds for a row, and how another one is taken."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from solah.exceptions import SolahError
from solah.site.bundle import BundleError, read_bundle
from solah.site.evaluation import KEEP, Version
from solah.site.trust import refuse_older

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from solah.site.bundle import Bundle
    from solah.site.core import NodeCore
    from solah.site.evaluation import Case
    from solah.site.trust import Trust

_MOST = 8
_MOST_WAITING = 64


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

    @property
    def newest(self) -> Version:
        """The plan that came last."""
        return self._versions[-1]

    @property
    def bundles(self) -> list[Bundle]:
        """All plans that rows may still need, by their start."""
        return [version.bundle for version in self._versions]

    def of(self, sequence: int) -> Version:
        """Return the plan that holds for a row."""
        for version in reversed(self._versions):
            if version.starts <= sequence:
                return version
        return self._versions[0]

    def named(self, bundle_hash: str) -> Version | None:
        """Return the plan with this hash; None if it was dropped."""
        return next((one for one in self._versions if one.hash == bundle_hash), None)

    def split(self, cases: list[Case]) -> Iterator[tuple[Version, list[Case]]]:
        """Yield rows by the plan that holds for them."""
        for version in self._versions:
            mine = [case for case in cases if self.of(case.sequence) is version]
            if mine:
                yield version, mine

    def adopt(self, bundle: Bundle, first_needed: int) -> Version | None:
        """Take another plan; return how this node sees it, None if it is the newest already.

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
                f"{len(kept)} plans wait for their rows, so the one from row {bundle.starts} on "
                "has to wait"
            )
        self._versions, self.first = [*kept, Version(bundle, self._name, self._keep)], past
        return self.newest


class Adoption:
    """Lets a node's core take plans from the broker, if they are trusted.

    Parameters
    ----------
    core : NodeCore
    trust : whose plans are taken; None for everyone's
    allow_rollback : whether a plan is taken that was signed before the one in use
    """

    def __init__(self, core: NodeCore, trust: Trust | None, allow_rollback: bool) -> None:
        self._core, self._trust, self._allow_rollback = core, trust, allow_rollback
        self._taken: dict[tuple[str, int], bytes] = {}
        self.waiting: list[bytes] = []  # for room, in the order in which they came

    @property
    def documents(self) -> list[bytes]:
        """The plans to keep for a restart."""
        known = [(one.hash, one.starts) for one in self._core.bundles]
        taken = [self._taken[one] for one in known if one in self._taken]
        return [*taken, *self.waiting]

    def take(self, payload: bytes) -> Bundle | None:
        """Take a plan; return it if it is new.

        Raises
        ------
        BundleError
            It is not taken. After ``NoRoomError`` it waits.
        """
        is_next = self.waiting[:1] == [payload]
        try:
            taken = self._take(payload, has_room=is_next or not self.waiting)
        except NoRoomError:
            if payload not in self.waiting:
                self.waiting = [*self.waiting, payload][:_MOST_WAITING]
            raise
        except SolahError:
            self.waiting = self.waiting[is_next:]
            raise
        self.waiting = self.waiting[is_next:]
        return taken

    def _take(self, payload: bytes, *, has_room: bool) -> Bundle | None:
        bundle = read_bundle(payload, self._trust)
        if bundle.plan.site != self._core.bundle.plan.site:
            raise BundleError(f"the plan is of the site {bundle.plan.site!r}")
        if bundle.is_shadow:
            raise BundleError("the plan is a shadow, but was published for use")
        if self._trust is not None and not self._allow_rollback:
            refuse_older(bundle, self._core.bundle)
        if not has_room:
            raise NoRoomError("plans that came before it have to wait")
        is_new = self._core.adopt(bundle, time.monotonic())
        # A plan that was only signed again has another counter, so its document is kept as well.
        self._taken[bundle.hash, bundle.starts] = payload
        self._taken = dict([*self._taken.items()][-2 * _MOST :])
        return bundle if is_new else None

    def resume(
        self, payloads: Iterable[bytes], place: object, refuse: Callable[[SolahError], None]
    ) -> None:
        """Go on with the plans that were kept in a place, unless the one we started with is newer.

        The counter of a signed plan counts, no matter who signed it; the plan is used only if its
        signer is still trusted.
        """
        for payload in payloads:
            if self._trust is not None and (
                self._allow_rollback or read_bundle(payload).counter <= self._core.bundle.counter
            ):
                continue
            try:
                self.take(payload)
            except NoRoomError:
                continue  # it waits, as it did before
            except SolahError as error:
                if self._trust is not None:
                    raise BundleError(f"a plan kept in {place}: {error}") from None
                refuse(error)
