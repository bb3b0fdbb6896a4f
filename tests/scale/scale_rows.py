"""Rows for tests of scale: frames of all sorts of columns, and ways to cut them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from solah.model.format import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

WIRING = "z1 <- s0, s1, place; z2 <- s2, s3; y <- z1, z2, s4"


def plant(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Make readings of a plant that depend on each other, and whether it is hot."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 3))
    X = hidden @ rng.normal(size=(3, 5)) + rng.normal(size=(n_rows, 5))
    X[:, 3] = np.round(X[:, 3], 1)
    X[:, 4] = rng.poisson(1.0, n_rows).clip(0, 4)
    frame = pd.DataFrame(X, columns=[f"s{j}" for j in range(5)])
    frame["s0"] = frame["s0"].where(rng.random(n_rows) > 0.05)
    frame["place"] = rng.choice(["hall", "roof", "Käfer"], n_rows)
    heat = hidden[:, 0] + hidden[:, 1] * hidden[:, 2] + 0.5 * rng.normal(size=n_rows)
    frame["y"] = np.where(heat + (frame["place"] == "roof") > 0.4, "hot", "cold")
    return frame


def document(estimator: Any, rows: Any, target: Any, weight: Any = None) -> str:
    """Fit, and return the model document."""
    return to_json(estimator.fit(rows, target, sample_weight=weight).model_)


def document_in_memory(
    estimator: Any, frame: pd.DataFrame, target: str = "y", weight: str | None = None
) -> str:
    """Fit on all rows at once, and return the model document."""
    X = frame.drop(columns=[name for name in (target, weight) if name is not None])
    return document(estimator, X, frame[target], None if weight is None else frame[weight])


def cut(frame: pd.DataFrame, n_parts: int) -> list[pd.DataFrame]:
    """Cut a frame into parts, of neighbouring rows, which differ in size."""
    places = np.unique((np.linspace(0, 1, n_parts + 1) ** 1.5 * len(frame)).astype(int))
    return [frame.iloc[a:b] for a, b in pairwise(places)]


@st.composite
def partitions(draw: Any, n_rows: int) -> list[np.ndarray]:
    """Deal the places of rows out to parts, in any order."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_parts = draw(st.integers(1, 6))
    places = rng.permutation(n_rows) if draw(st.booleans()) else np.arange(n_rows)
    cuts = np.sort(rng.integers(0, n_rows + 1, n_parts - 1))
    return [part for part in np.split(places, cuts) if len(part)]


CLASSES: dict[str, Sequence[Any]] = {
    "text": ("Äpfel", "b", "c d", "日"),
    "whole": (3, 10, -2, 7),
    "truth": (False, True),
}


@st.composite
def frames(draw: Any, min_rows: int = 130, max_rows: int = 300) -> tuple[pd.DataFrame, str | None]:
    """Make a frame with a target ``y``, and the name of its column of weights, if it has one."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(min_rows, max_rows))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5))
    hidden = rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {f"{kind} {j}": COLUMNS[kind](rng, hidden, n_rows) for j, kind in enumerate(kinds)}
    )
    classes = CLASSES[draw(st.sampled_from(sorted(CLASSES)))]
    n_classes = draw(st.integers(2, len(classes)))
    noisy = hidden + rng.normal(size=n_rows)
    codes = np.argsort(np.argsort(noisy)) * n_classes // n_rows
    frame["y"] = np.array(classes[:n_classes], dtype=np.array(classes).dtype)[codes]
    weight = draw(st.sampled_from([None, "0, 1, 2", "real"]))
    if weight is not None:
        numbers = rng.integers(0, 3, n_rows) if weight == "0, 1, 2" else rng.random(n_rows) * 3
        frame["how often"] = numbers
    return frame, weight and "how often"


def _gaps(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    return np.where(rng.random(len(values)) < 0.15, np.nan, values)


COLUMNS = {
    "continuous": lambda rng, hidden, n: hidden + rng.normal(size=n),
    "gaps": lambda rng, hidden, n: _gaps(rng, hidden + rng.normal(size=n)),
    "coarse": lambda rng, hidden, n: np.round(hidden + rng.normal(size=n), 1),
    "heavy Ω": lambda rng, hidden, n: np.exp(3 * hidden) * np.where(rng.random(n) < 0.1, 0, 1),
    "float32": lambda rng, hidden, n: hidden.astype(np.float32) ** 3,
    "zeros": lambda rng, hidden, n: np.where(hidden < 0, -0.0, hidden),
    "whole zeros": lambda rng, hidden, n: np.where(hidden < 0, -0.0, np.round(hidden)),
    "whole": lambda rng, hidden, n: rng.integers(0, 90, n).astype(np.int32),
    "ordinal": lambda rng, hidden, n: rng.integers(0, 5, n),
    "binary": lambda rng, hidden, n: np.where(hidden > rng.normal(size=n), 7.5, -1.0),
    "truth": lambda rng, hidden, n: hidden > rng.normal(size=n),
    "texts": lambda rng, hidden, n: np.array(["rot", "grün", "日", "naïve"])[rng.integers(0, 4, n)],
    "texts with gaps": lambda rng, hidden, n: np.where(
        rng.random(n) < 0.2, None, np.array(["a", "b", "ce"], dtype=object)[rng.integers(0, 3, n)]
    ),
    "spelt": lambda rng, hidden, n: np.array([f"{h:.2f}" for h in hidden], dtype=object),
    "constant": lambda rng, hidden, n: np.full(n, 4.25),
    "empty": lambda rng, hidden, n: np.full(n, np.nan),
}
