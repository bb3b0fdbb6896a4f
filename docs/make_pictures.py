"""Draw the figures of the README and the docs: `python docs/make_pictures.py`."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import load_wine

from solah import LinguisticLabeller
from solah.atomic import write_whole

FOLDER = Path(__file__).with_name("pictures")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 250, 30, 30, 46, 52
COLOURS = ("#2f6fa8", "#7a8b2e", "#b5532d")


def draw_words(feature: str) -> str:
    """Draw the words of one wine feature as trapezia over the histogram of its values."""
    wines = load_wine(as_frame=True).data
    labeller = LinguisticLabeller().fit(wines)
    values = wines[feature]
    low, high = values.min(), values.max()

    def x(value: float) -> float:
        inside = min(max(value, low), high)
        return LEFT + (inside - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = list(_histogram(values.to_numpy(), x, y))
    for colour, known in zip(COLOURS, labeller.describe(feature), strict=True):
        (p0, p3), (p1, p2) = known.partly, known.fully
        line = f"{x(p0):.1f},{y(0)} {x(p1):.1f},{y(1)} {x(p2):.1f},{y(1)} {x(p3):.1f},{y(0)}"
        if p1 < low:  # the first and the last word hold beyond the data
            line = f"{x(low):.1f},{y(1)} {x(p2):.1f},{y(1)} {x(p3):.1f},{y(0)}"
        if p2 > high:
            line = f"{x(p0):.1f},{y(0)} {x(p1):.1f},{y(1)} {x(high):.1f},{y(1)}"
        middle = (x(p1) + x(p2)) / 2
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="3"/>'
            f'<text x="{middle:.1f}" y="{TOP - 12}" text-anchor="middle" fill="{colour}" '
            f'font-weight="600">{known.word}</text>'
        )
    parts += [
        f'<text x="{x(v):.1f}" y="{HEIGHT - 30}" text-anchor="middle" fill="#777">{v:g}</text>'
        for v in labeller.features_[list(wines.columns).index(feature)].peaks
    ]
    return _svg(f"The words of {feature}, over the histogram of 178 wines", parts)


def _histogram(values, x, y):
    bins = 40
    low, high = values.min(), values.max()
    counts = [0] * bins
    for value in values:
        counts[min(int((value - low) / (high - low) * bins), bins - 1)] += 1
    width = (x(high) - x(low)) / bins
    for i, count in enumerate(counts):
        top = y(count / max(counts))
        yield (
            f'<rect x="{x(low) + i * width:.1f}" y="{top:.1f}" width="{width - 1:.1f}" '
            f'height="{y(0) - top:.1f}" fill="#8884"/>'
        )


def _svg(title: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="14" role="img">\n'
        f"<title>{title}</title>\n{body}\n"
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle" fill="#777">'
        f"{title}</text>\n</svg>\n"
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    write_whole(FOLDER / "words.svg", draw_words("flavanoids"))
