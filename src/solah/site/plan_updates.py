"""Take the plans that come over the broker, as far as they are trusted and there is room."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from solah.exceptions import SolahError
from solah.site.bundle import BundleError, read_bundle
from solah.site.plan_versions import NoRoomError
from solah.site.trust import refuse_older

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from solah.site.bundle import Bundle
    from solah.site.core import NodeCore
    from solah.site.trust import Trust

_MOST_POSTPONED = 64


class Adoption:
    """Lets a node's core take plans, and keeps them for a restart.

    Parameters
    ----------
    core : NodeCore
    site : the name of the network
    trust : whose plans are taken; None where everyone's are
    allow_rollback : whether a plan is taken that was signed before the one in use
    keep : called with all documents to keep for a restart
    announce : called with each plan that is taken and new
    refuse : called with the error of a plan that cannot be taken
    """

    def __init__(
        self,
        core: NodeCore,
        site: str,
        trust: Trust | None,
        allow_rollback: bool,
        keep: Callable[[list[bytes]], None],
        announce: Callable[[Bundle], None],
        refuse: Callable[[SolahError], None],
    ) -> None:
        self._core, self._site = core, site
        self._trust, self._allow_rollback = trust, allow_rollback
        self._keep, self._announce, self._refuse = keep, announce, refuse
        self._plans: dict[tuple[str, int], bytes] = {}
        self.postponed: deque[bytes] = deque()
        self._has_resumed = False

    def take(self, payload: bytes) -> None:
        """Take a plan, or put it aside behind those for which there is no room yet.

        Raises
        ------
        BundleError
            It is not taken; with ``NoRoomError``, not yet.
        """
        self.retry()
        try:
            self._adopt(payload, is_waiting=bool(self.postponed))
        except NoRoomError:
            if payload not in self.postponed and len(self.postponed) < _MOST_POSTPONED:
                self.postponed.append(payload)
                self._keep_all()
            raise

    def retry(self) -> None:
        """Take the plans for which there is room by now, in the order in which they came."""
        while self.postponed:
            try:
                self._adopt(self.postponed[0])
            except NoRoomError:
                return
            except SolahError as error:
                self._refuse(error)
            self.postponed.popleft()
            self._keep_all()

    def resume(self, payloads: Iterable[bytes], state: Path | None) -> None:
        """Go on with the plans that were taken before; until that is done, they stay as kept."""
        for payload in payloads:
            self._resume(payload, state)

    def begin(self) -> None:
        """Keep what is taken from now on."""
        self._has_resumed = True
        self.retry()

    def _resume(self, payload: bytes, state: Path | None) -> None:
        """Go on with a plan that was taken before, unless the one we started with is newer.

        The counter of a signed plan counts, no matter who signed it; the plan is used only if its
        signer is still trusted.
        """
        if self._trust is None:
            try:
                self.take(payload)
            except SolahError as error:
                self._refuse(error)
        elif self._allow_rollback:
            return
        elif read_bundle(payload).counter > self._core.bundle.counter:
            try:
                self.take(payload)
            except NoRoomError:
                return  # it waits, as it did before
            except BundleError as error:
                raise BundleError(f"a plan kept in {state}.plans: {error}") from None

    def _adopt(self, payload: bytes, *, is_waiting: bool = False) -> None:
        bundle = read_bundle(payload, self._trust)
        self._check(bundle)
        if is_waiting:
            raise NoRoomError("plans that came before it wait for room")
        is_new = self._core.adopt(bundle, time.monotonic())
        # One that was only signed again has another counter, so its document is kept as well.
        self._plans[bundle.hash, bundle.starts] = payload
        known = [(one.hash, one.starts) for one in self._core.bundles]
        self._plans = {one: self._plans[one] for one in known if one in self._plans}
        self._keep_all()
        if is_new:
            self._announce(bundle)

    def _check(self, bundle: Bundle) -> None:
        if bundle.plan.site != self._site:
            raise BundleError(f"the plan is of the site {bundle.plan.site!r}")
        if bundle.is_shadow:
            raise BundleError("the plan is to be compared only, and was published to be used")
        if self._trust is not None and not self._allow_rollback:
            refuse_older(bundle, self._core.bundle)

    def _keep_all(self) -> None:
        if self._has_resumed:
            self._keep([*self._plans.values(), *self.postponed])
