"""Collect warnings of unseen states, and print one line per column when all rows are read.

Rows come piece by piece, and each piece warns of its own.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from solah.exceptions import UnseenStateWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def unseen_states_told(flags: Mapping[str, bool]) -> Iterator[None]:
    """Gather the warnings of some work, and print them at its end, unless flags say quiet."""
    found: dict[str, UnseenStateWarning] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("always", UnseenStateWarning)
        show_others = warnings.showwarning

        def show(message: Any, *where: Any, **more: Any) -> None:
            if not isinstance(message, UnseenStateWarning):
                show_others(message, *where, **more)
                return
            before = found.get(message.column)
            found[message.column] = before.with_more(message) if before else message

        warnings.showwarning = show
        try:
            yield
        finally:
            for one in () if flags.get("quiet") else found.values():
                print(f"solah: warning: {' '.join(str(one).split())}", file=sys.stderr)
