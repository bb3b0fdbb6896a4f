"""Draws a matrix of shares with one pixel per cell, which stays small for any size."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from solah.report.svg import cut, path, tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

_COLOUR = bytes((44, 110, 155))
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_WITH_ALPHA = 6
_SIDE = 480
_LABELS = 132
_LETTERS = 19
_MOST_LABELS = 40


def heat_map(dependence: Mapping[str, Any]) -> Markup:
    """Draw a matrix of dependence, the attributes of one tree outlined together."""
    names: list[str] = dependence["names"]
    cell = _SIDE / len(names)
    picture = tag(
        "image",
        href=f"data:image/png;base64,{_png(dependence['matrix'])}",
        width=_SIDE,
        height=_SIDE,
        class_="pixels",
    )
    frames = [_frame(group["start"], group["stop"], cell) for group in dependence["groups"]]
    is_labelled = len(names) <= _MOST_LABELS
    labels = [_label(name, place, cell) for place, name in enumerate(names)] if is_labelled else []
    left = _LABELS if is_labelled else 2
    return tag(
        "svg",
        tag("title", "How far attributes depend on each other"),
        tag("rect", width=_SIDE, height=_SIDE, class_="frame ground"),
        picture,
        *frames,
        tag("path", id="heat-cursor", class_="cursor", d=""),
        *labels,
        viewBox=f"{-left} -2 {_SIDE + left + 2} {_SIDE + 4}",
        class_="heat",
        id="heat",
        role="img",
        tabindex=0,
        aria_describedby="heat-value",
    )


def _frame(start: int, stop: int, cell: float) -> Markup:
    low, high = start * cell, stop * cell
    corners = [(low, low), (high, low), (high, high), (low, high)]
    return tag("path", d=path(corners, closed=True), class_="group")


def _label(name: str, place: int, cell: float) -> Markup:
    y = (place + 0.5) * cell + 4
    return tag("text", cut(name, _LETTERS), x=-6, y=y, text_anchor="end")


def _png(matrix: Sequence[Sequence[float]]) -> str:
    """Encode shares as the opacity of one colour, so that the picture suits light and dark."""
    lines = b"".join(
        b"\0" + b"".join(_COLOUR + bytes((round(255 * share),)) for share in line)
        for line in matrix
    )
    size = struct.pack(">IIBBBBB", len(matrix[0]), len(matrix), 8, _WITH_ALPHA, 0, 0, 0)
    parts = ((b"IHDR", size), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b64encode(_PNG_HEAD + b"".join(chunks)).decode("ascii")
