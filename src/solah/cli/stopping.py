"""Signals that ask a command to stop: it cleans up first, as after Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SOON = 0.05
# Service managers and ``kill`` send the first, a terminal that closes sends the second.
_OTHERS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


@contextmanager
def signals_as_interrupt() -> Iterator[Callable[[], int]]:
    """Raise KeyboardInterrupt at SIGTERM and SIGHUP; yield which of them came, 0 for none.

    So whatever is open is closed, and workers, temporary folders and drafts of files go. A second
    one is ignored, since it must not stop what cleans up. A program that has a handler of its own,
    one that ignores a signal (``nohup``), and threads, which cannot have handlers, are left alone.
    """
    free = [number for number in _OTHERS if signal.getsignal(number) is signal.SIG_DFL]
    if not free or threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    stop = _Stop()
    before, sys.unraisablehook = sys.unraisablehook, stop.or_pass_on(sys.unraisablehook)
    of_threads, threading.excepthook = threading.excepthook, stop.until_then(threading.excepthook)
    ctrl_c = signal.getsignal(signal.SIGINT)
    for number in free:
        signal.signal(number, stop.interrupt)
    try:
        yield lambda: stop.number
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, ctrl_c)
        sys.unraisablehook = before
        threading.excepthook = of_threads


def catch_ctrl_c() -> None:
    """Let SIGINT interrupt a command that runs until then, even one started in the background.

    A shell lets what it starts in the background ignore SIGINT, and so do all processes below it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def orderly_end(stop: Callable[[], None]) -> Iterator[None]:
    """Let signals call ``stop``, as long as the context lasts; a second one ends it at once.

    What ``nohup`` ignores stays ignored.
    """
    others = [number for number in _OTHERS if signal.getsignal(number) is not signal.SIG_IGN]
    before: dict[int, Any] = {
        number: signal.getsignal(number) for number in (signal.SIGINT, *others)
    }

    def ask(number: int, _: object) -> None:
        stop()
        signal.signal(number, before[number])

    for number in before:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Stop:
    """What happens at SIGTERM and SIGHUP."""

    def __init__(self) -> None:
        self.number = 0
        self._is_raised = False

    def interrupt(self, number: int, _: object) -> None:
        """Raise an interrupt, once."""
        self.number = number
        if not self._is_raised:
            self._is_raised = True
            raise KeyboardInterrupt

    def until_then(self, others: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return a hook that is silent on threads which fail because the work has ended."""

        def hook(failure: Any) -> None:
            if not self.number:
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
            number = self.number or signal.SIGINT
            again = threading.Timer(_SOON, signal.raise_signal, [number])
            again.daemon = True
            again.start()

        return hook
