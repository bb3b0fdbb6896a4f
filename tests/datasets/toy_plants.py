"""A small data set of our own, in both its forms, and a mirror that serves it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from solah.datasets.registry import TARGET, Entry, RawFile

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer
    from pathlib import Path

TOY_RAW = b"p1,2,small,1.5,?\np2,1,large,?,7\np3,2,?,0.5,7\n\n"
TOY_CSV = "size,weight,code,class\nsmall,1.5,,yes\nlarge,,7,no\n,0.5,7,yes\n"

TOY = Entry(
    name="toy_plants",
    aliases=("toy",),
    classes={"no": 1, "yes": 2},
    n_features=3,
    source="UCI 'Toy Plants'",
    licence="ours",
    kinds={"size": ("small", "large")},
    groups={"spring": 2, "autumn": 1},
    raw=RawFile(
        path="plants/toy.data",
        sha256=hashlib.sha256(TOY_RAW).hexdigest(),
        columns=("id", TARGET, "size", "weight", "code"),
        drop=("id",),
        words={TARGET: {"1": "no", "2": "yes"}},
    ),
)


@dataclass
class Mirror:
    """A running server, the folder it serves and what it was asked for."""

    root: Path
    server: ThreadingHTTPServer
    asked: list[str] = field(default_factory=list)

    def put(self, path: str, content: bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
