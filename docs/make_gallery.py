"""Draw the figures of docs/gallery.md: `python docs/make_gallery.py`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_wine

from solah import RuleClassifier
from solah.atomic import write_whole
from solah.plot import (
    DependenceDisplay,
    ImportanceDisplay,
    PathDisplay,
    WordsDisplay,
    shapes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure, SubFigure

FOLDER = Path(__file__).parent / "pictures" / "gallery"
# Text stays text, and no clock, chance or random name gets into a file.
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "solah", "font.family": "sans-serif"}


def figures() -> Iterator[tuple[str, Figure | SubFigure]]:
    """Draw every figure, each with the name of its file."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=30).fit(X, y)
    yield "words", WordsDisplay.from_estimator(model, "flavanoids", X).figure_
    yield "importance", ImportanceDisplay.from_estimator(model).figure_

    clustered = RuleClassifier(feature_groups=4, max_rules=30).fit(X, y)
    yield "dependence", DependenceDisplay.from_estimator(clustered).figure_

    cells, kinds = load_breast_cancer(return_X_y=True, as_frame=True)
    yield "path", PathDisplay.from_estimator(RuleClassifier().fit(cells, kinds)).figure_
    kinds = kinds.map(["malignant", "benign"].__getitem__)
    few = RuleClassifier(max_rules=14).fit(cells, kinds)
    yield "shapes", shapes(few.estimate_uncertainty(cells, kinds), cells)


def main() -> None:
    """Write one SVG a figure; a second run writes the same files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(SETTINGS):
        for name, figure in figures():
            text = StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            lines = (line.rstrip() for line in text.getvalue().splitlines())
            write_whole(FOLDER / f"{name}.svg", "\n".join(lines) + "\n")
            plt.close("all")


if __name__ == "__main__":
    main()
