"""SIGTERM, as service managers and ``kill`` send it, ends the work as Ctrl-C does."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SOON = 0.05


@contextmanager
def sigterm_as_interrupt() -> Iterator[Callable[[], bool]]:
    """Raise KeyboardInterrupt at SIGTERM as long as the context lasts; yield whether it came.

    So whatever is open is closed, and workers, temporary folders and drafts of files go. A second
    one is ignored, since it must not stop what cleans up. A program that has a handler of its own,
    and threads, which cannot have any, are left alone.
    """
    is_free = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not is_free or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    stop = _Stop()
    before, sys.unraisablehook = sys.unraisablehook, stop.or_pass_on(sys.unraisablehook)
    of_threads, threading.excepthook = threading.excepthook, stop.until_then(threading.excepthook)
    signal.signal(signal.SIGTERM, stop.interrupt)
    try:
        yield lambda: stop.has_come
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.unraisablehook = before
        threading.excepthook = of_threads


class _Stop:
    """What happens at SIGTERM."""

    def __init__(self) -> None:
        self.has_come = self._is_raised = False

    def interrupt(self, *_: object) -> None:
        """Raise an interrupt, once."""
        self.has_come = True
        if not self._is_raised:
            self._is_raised = True
            raise KeyboardInterrupt

    def until_then(self, others: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return a hook that is silent on threads which fail because the work has ended."""

        def hook(failure: Any) -> None:
            if not self.has_come:
                others(failure)

        return hook

    def or_pass_on(self, others: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return a hook that sends an interrupt again which came where nothing can be raised.

        Python drops what is raised while it collects garbage or closes an object.
        """

        def hook(lost: Any) -> None:
            if not isinstance(lost.exc_value, KeyboardInterrupt):
                others(lost)
                return
            self._is_raised = False
            number = signal.SIGTERM if self.has_come else signal.SIGINT
            again = threading.Timer(_SOON, signal.raise_signal, [number])
            again.daemon = True
            again.start()

        return hook
