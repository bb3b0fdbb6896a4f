"""Signals that ask a command to stop: it cleans up first, as after Ctrl-C."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Service managers and ``kill`` send the first, a terminal that closes sends the second.
_OTHERS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


@contextmanager
def signals_as_interrupt() -> Iterator[Callable[[], int]]:
    """Raise KeyboardInterrupt at SIGTERM and SIGHUP; yield which of them came, 0 for none.

    So whatever is open is closed, and workers, temporary folders and drafts of files go. Further
    signals are ignored, since they must not stop what cleans up. A program that has a handler of
    its own, one that ignores a signal (``nohup``), and threads, which cannot have handlers, are
    left alone.
    """
    came: list[int] = []

    def interrupt(number: int, _: object) -> None:
        came.append(number)
        if len(came) == 1:
            raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    free = [one for one in _OTHERS if is_main and signal.getsignal(one) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, interrupt)
    try:
        yield lambda: came[0] if came else 0
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)


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
