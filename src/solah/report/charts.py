"""Draws small charts as SVG that prints, scales and needs no script."""

from __future__ import annotations

import math
import struct
import zlib
from base64 import b64encode
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from solah.data.spelling import spell_mean, spell_number
from solah.model import WordRange
from solah.report.svg import cut, path, tag, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


N_COLOURS = 10
"""How many classes have a colour of their own; more begin again."""

_WORDS_WIDTH, _WORDS_HEIGHT = 240, 56
_FULL = 0.92 * _WORDS_HEIGHT
_SHAPE_WIDTH, _SHAPE_HEIGHT = 240, 120
_SQUARE = 240


def colour_class(place: int, target: Mapping[str, Any]) -> str:
    """Return the style of a class: one colour per class, or a step on a ramp for a number."""
    return f"c{place % N_COLOURS}" if target["classes"] else "ramp"


def belief_bar(belief: Sequence[float], target: Mapping[str, Any], width: float = 100) -> Markup:
    """Draw probabilities as the parts of a bar."""
    starts = accumulate(belief, initial=0.0)
    parts = [
        tag(
            "rect",
            x=width * start or None,
            width=width * share,
            height=6,
            class_=colour_class(place, target),
            fill_opacity=ramp_opacity(place, len(belief)) if not target["classes"] else None,
        )
        for place, (start, share) in enumerate(zip(starts, belief, strict=False))
    ]
    return Markup("").join(parts)


def ramp_opacity(place: int, size: int) -> float:
    """Return how strong the colour of a number's focal set is, from low to high."""
    return 0.15 + 0.85 * place / max(size - 1, 1)


def words_picture(feature: Mapping[str, Any], target: Mapping[str, Any]) -> Markup:
    """Draw where each word applies, over how often values occur."""
    low, high = feature["shown"]
    shapes = [_histogram(feature["histogram"], target)] if feature["histogram"] else []
    for place, word in enumerate(feature["words"]):
        fully, partly = (  # open ends are None in a summary
            (-math.inf if start is None else start, math.inf if stop is None else stop)
            for start, stop in (word["fully"], word["partly"])
        )
        corners = WordRange(word["word"], fully, partly).outline(low, high)
        points = [
            ((x - low) / (high - low) * _WORDS_WIDTH, _WORDS_HEIGHT - y * _FULL) for x, y in corners
        ]
        shade = word_shade(place, len(feature["words"]))
        shapes.append(tag("path", d=path(points), class_=f"word w{shade}"))
    return tag(
        "svg",
        *shapes,
        viewBox=f"0 0 {_WORDS_WIDTH} {_WORDS_HEIGHT}",
        preserveAspectRatio="none",
        class_="words",
        aria_hidden="true",
    )


def word_shade(place: int, n_words: int) -> int:
    """Choose one of five shades for a word, from low to high."""
    return 2 if n_words < 2 else round(4 * place / (n_words - 1))


def _histogram(counts: Mapping[str, Any], target: Mapping[str, Any]) -> Markup:
    """Draw counts by bin as steps, the classes on top of each other."""
    by_class: list[list[int]] = counts["counts"]
    tallest = max(map(sum, zip(*by_class, strict=True))) or 1
    width = _WORDS_WIDTH / len(by_class[0])
    base = [0.0] * len(by_class[0])
    layers = []
    for place, of_class in enumerate(by_class):
        top = [b + n for b, n in zip(base, of_class, strict=True)]
        style = f"hist {colour_class(place, target)}" if len(by_class) > 1 else "hist"
        if any(of_class):  # along the top to the right and along the base back, a step per bin
            there, back = (
                _steps((_WORDS_HEIGHT - n * _FULL / tallest for n in levels), step)
                for levels, step in ((top, width), (base[::-1], -width))
            )
            layers.append(tag("path", d=f"M0 {_WORDS_HEIGHT}{there}{back}Z", class_=style))
        base = top
    return Markup("").join(layers)


def _steps(heights: Iterable[float], width: float) -> str:
    """Write a path of steps, equal neighbours as one."""
    runs = ((at, len(list(run))) for at, run in groupby(f"{height:.3g}" for height in heights))
    return "".join(f"V{at}h{length * width:.5g}" for at, length in runs)


def shape_picture(shape: Mapping[str, Any], features: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw the contribution of a term: curves with bands over the density, or coloured cells."""
    if shape["cells"]:
        return _cells_picture(shape)
    low, high = shape["low"], shape["high"]
    steps = [one for curve in shape["curves"] for one in curve["values"]]
    ends = [end for curve in shape["curves"] for band in curve["bands"] for end in band]
    bottom, top = min([0.0, *steps, *ends]), max([0.0, *steps, *ends])
    span = (top - bottom) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return (x - low) / (high - low) * _SHAPE_WIDTH, (top - y) / span * _SHAPE_HEIGHT

    counts = next(one["histogram"] for one in features if one["name"] == shape["title"])
    drawn = [_density(counts["counts"])] if counts else []
    drawn.append(tag("path", d=path([place(low, 0), place(high, 0)]), class_="diagonal"))
    for curve in shape["curves"]:
        style, knots = f"s{curve['place'] % N_COLOURS}", curve["knots"]
        bands = list(zip(knots, curve["bands"], strict=False))
        if shape["labels"]:  # categories are points with their bands
            drawn += [
                tag("path", d=path([place(x, a), place(x, b)]), class_=f"curve {style}")
                for x, (a, b) in bands
            ]
            for x, y in zip(knots, curve["values"], strict=True):
                cx, cy = place(x, y)
                fill = f"c{curve['place'] % N_COLOURS}"
                drawn.append(tag("circle", cx=cx, cy=cy, r=4, class_=fill))
            continue
        around = [place(x, a) for x, (a, _) in bands] + [place(x, b) for x, (_, b) in bands[::-1]]
        if around:
            fill = f"band c{curve['place'] % N_COLOURS}"
            drawn.append(tag("path", d=path(around, closed=True), class_=fill))
        line = map(place, knots, curve["values"])
        drawn.append(tag("path", d=path(line), class_=f"curve {style}"))
    return tag(
        "svg",
        *drawn,
        tag("text", written(spell_number(top, 2, "+")), x=2, y=10, class_="number"),
        tag(
            "text", written(spell_number(bottom, 2, "+")), x=2, y=_SHAPE_HEIGHT - 2, class_="number"
        ),
        viewBox=f"0 0 {_SHAPE_WIDTH} {_SHAPE_HEIGHT}",
        class_="shape",
        role="img",
        aria_label=f"Contribution of {shape['title']}",
    )


def _density(by_class: Sequence[Sequence[int]]) -> Markup:
    """Draw how often values occur at the foot of a shape."""
    totals = [sum(one) for one in zip(*by_class, strict=True)]
    width, tallest = _SHAPE_WIDTH / len(totals), max(totals) or 1
    steps = _steps((_SHAPE_HEIGHT * (1 - n / tallest / 4) for n in totals), width)
    return tag("path", d=f"M0 {_SHAPE_HEIGHT}{steps}V{_SHAPE_HEIGHT}Z", class_="hist")


def _cells_picture(shape: Mapping[str, Any]) -> Markup:
    """Draw a pair: a cell for each rule, from low to high, stronger where more is added."""
    lines = shape["cells"]
    most = max(abs(value) for line in lines for value in line) or 1.0
    width, height = _SHAPE_WIDTH / len(lines), _SHAPE_HEIGHT / len(lines[0])
    cells = [
        tag(
            "rect",
            tag("title", written(spell_number(value, 3, "+")), class_="number"),
            x=i * width,
            y=_SHAPE_HEIGHT - (j + 1) * height,
            width=width,
            height=height,
            class_="raises" if value > 0 else "lowers",
            fill_opacity=abs(value) / most,
        )
        for i, line in enumerate(lines)
        for j, value in enumerate(line)
    ]
    return tag(
        "svg",
        *cells,
        tag("rect", width=_SHAPE_WIDTH, height=_SHAPE_HEIGHT, class_="frame"),
        viewBox=f"0 0 {_SHAPE_WIDTH} {_SHAPE_HEIGHT}",
        class_="shape",
        role="img",
        aria_label=f"Contribution of {shape['title']}",
    )


def curves_picture(curves: Iterable[Mapping[str, Any]], target: Mapping[str, Any]) -> Markup:
    """Draw ROC curves, one per class, over the line of mere chance."""
    lines = [
        tag(
            "path",
            d=path(_unit_square(curve["points"])),
            class_=f"curve s{curve['place'] % N_COLOURS}",
        )
        for curve in curves
    ]
    return _square(
        "The share found of each class against the share of false alarms",
        *lines,
        x="false alarms",
        y="found",
    )


def calibration_picture(bins: Iterable[Mapping[str, Any]]) -> Markup:
    """Draw how often a class is true against its probability; a dot's area is the count."""
    known = [one for one in bins if one["pairs"]]
    most = max(one["pairs"] for one in known)
    points = _unit_square((one["belief"], one["share"]) for one in known)
    dots = [
        tag("circle", cx=x, cy=y, r=3 + 7 * (one["pairs"] / most) ** 0.5, class_="dot")
        for (x, y), one in zip(points, known, strict=True)
    ]
    line = tag("path", d=path(points), class_="curve")
    return _square(
        "How often a class is true against its probability", line, *dots, x="probability", y="true"
    )


def risk_picture(trust: Mapping[str, Any]) -> Markup:
    """Draw the share of wrong decisions against the share that is decided, with the limit."""
    curve, chosen = trust["curve"], trust["chosen"]
    most = max([risk for _, risk in curve["points"]] + [0.01])
    line = _unit_square((coverage, risk / most) for coverage, risk in curve["points"])
    shapes = [tag("path", d=path(line), class_="curve")]
    if chosen and chosen["risk"] is not None:
        ((x, y),) = _unit_square([(chosen["coverage"], chosen["risk"] / most)])
        note = f"the limit of the policy: {100 * chosen['coverage']:.0f}\N{NO-BREAK SPACE}% decided"
        shapes.append(
            tag("circle", tag("title", note, class_="number"), cx=x, cy=y, r=7, class_="dot")
        )
    return _square(
        "The share of wrong decisions against the share of rows decided",
        *shapes,
        x="decided",
        y="wrong",
        heights=("0", spell_number(most, 2)),
        has_diagonal=False,
    )


def scatter_picture(points: Sequence[Sequence[float]], low: float, high: float) -> Markup:
    """Draw estimates against true values."""
    span = (high - low) or 1.0
    scaled = _unit_square(((t - low) / span, (e - low) / span) for t, e in points)
    dots = [tag("circle", cx=x, cy=y, r=2.5, class_="dot") for x, y in scaled]
    ends = (spell_number(low), spell_number(high))
    return _square("Estimated against true values", *dots, x="true value", y="estimate", ends=ends)


def path_picture(steps: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw the loss against the number of rules, the chosen one marked."""
    rules, losses = ([step[name] for step in steps] for name in ("n_rules", "loss"))
    tops = [step["loss"] + step["error"] for step in steps]
    low, high = min(losses), max(max(tops), min(losses) + 1e-9)
    few, most = max(min(rules), 0.5), max(*rules, 0.5)
    span = math.log(most / few) or 1.0

    def place(n_rules: float, loss: float) -> tuple[float, float]:
        return math.log(max(n_rules, few) / few) / span, (loss - low) / (high - low)

    points = _unit_square(map(place, rules, losses))
    ends = _unit_square(map(place, rules, tops))
    shapes = [
        tag("path", d="".join(map(path, zip(points, ends, strict=True))), class_="wire"),
        tag("path", d=path(points), class_="curve"),
    ]
    for (x, y), step in zip(points, steps, strict=True):
        radius = 7 if step["is_chosen"] else 3.5
        note = f"{spell_mean(step['n_rules'])} rules, {spell_mean(step['n_features'])} features"
        title = tag("title", note, class_="number")
        shapes.append(tag("circle", title, cx=x, cy=y, r=radius, class_="dot"))
    return _square(
        "The loss against the number of rules",
        *shapes,
        x="rules",
        y="loss",
        ends=(spell_mean(few), spell_mean(most)),
        heights=(spell_number(low, 3), spell_number(high, 3)),
        has_diagonal=False,
    )


def _unit_square(points: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
    return [(_SQUARE * x, _SQUARE * (1 - y)) for x, y in points]


def _square(
    title: str,
    *shapes: Markup,
    x: str,
    y: str,
    ends: tuple[str, str] = ("0", "1"),
    heights: tuple[str, str] | None = None,
    has_diagonal: bool = True,
) -> Markup:
    """Frame a square figure with the names of its axes and, if both are alike, the diagonal."""
    frame = tag("rect", width=_SQUARE, height=_SQUARE, class_="frame ground")
    diagonal = tag("path", d=path([(0, _SQUARE), (_SQUARE, 0)]), class_="diagonal")
    below, left, heights = _SQUARE + 16, -8, heights or ends
    words = [
        tag("text", written(ends[0]), x=0, y=below, class_="number"),
        tag("text", x, x=_SQUARE / 2, y=below, text_anchor="middle", class_="axis"),
        tag("text", written(ends[1]), x=_SQUARE, y=below, text_anchor="end", class_="number"),
        tag("text", written(heights[1]), x=left, y=10, text_anchor="end", class_="number"),
        tag("text", written(heights[0]), x=left, y=_SQUARE, text_anchor="end", class_="number"),
        tag(
            "text",
            y,
            x=left,
            y=_SQUARE / 2,
            text_anchor="middle",
            class_="axis",
            transform=f"rotate(-90 {left} {_SQUARE // 2})",
        ),
    ]
    margin = 12 + 7 * max(map(len, heights))
    return tag(
        "svg",
        tag("title", title),
        frame,
        *([diagonal] if has_diagonal else []),
        *shapes,
        *words,
        viewBox=f"{-margin} -12 {_SQUARE + margin + 12} {_SQUARE + 34}",
        class_="square",
        role="img",
    )


_COLOUR = bytes((44, 110, 155))
_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_WITH_ALPHA = 6
_SIDE = 480
_LABELS = 132
_LETTERS = 19
_MOST_LABELS = 40


def heat_map(dependence: Mapping[str, Any]) -> Markup:
    """Draw a matrix of dependence, the features of one tree outlined together."""
    names: list[str] = dependence["names"]
    cell = _SIDE / len(names)
    picture = tag(
        "image",
        href=f"data:image/png;base64,{_png(dependence['matrix'])}",
        width=_SIDE,
        height=_SIDE,
        class_="pixels",
    )
    frames = []
    for group in dependence["groups"]:
        low, high = group["start"] * cell, group["stop"] * cell
        corners = [(low, low), (high, low), (high, high), (low, high)]
        frames.append(tag("path", d=path(corners, closed=True), class_="group"))
    is_labelled = len(names) <= _MOST_LABELS
    labels = [
        tag("text", cut(name, _LETTERS), x=-6, y=(place + 0.5) * cell + 4, text_anchor="end")
        for place, name in enumerate(names if is_labelled else [])
    ]
    left = _LABELS if is_labelled else 2
    return tag(
        "svg",
        tag("title", "How far features depend on each other"),
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


def _png(matrix: Sequence[Sequence[float]]) -> str:
    """Encode shares as the opacity of one colour, so that the figure suits light and dark."""
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
