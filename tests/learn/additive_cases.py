"""Rows of all kinds of columns, and what an additive model of them settles, for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from solah import RuleClassifier
from solah.estimators.inputs import read_class_target, read_features
from solah.estimators.rule_parameters import recipe_of
from solah.learn.learning import settle
from solah.learn.recipe import STRENGTHS
from solah.learn.sample import Sample

if TYPE_CHECKING:
    from solah.learn.learning import Structure
    from solah.learn.memory import MemoryRows

COLUMNS = {
    "number": lambda rng, hidden: hidden + rng.normal(size=len(hidden)),
    "gaps": lambda rng, hidden: with_gaps(rng, hidden + rng.normal(size=len(hidden)), 0.2),
    "coarse": lambda rng, hidden: np.round(hidden + rng.normal(size=len(hidden)), 1),
    "heavy": lambda rng, hidden: np.exp(3 * hidden),
    "ordinal": lambda rng, hidden: np.clip(np.round(2 + hidden), 0, 4).astype(int),
    "binary": lambda rng, hidden: np.where(hidden > rng.normal(size=len(hidden)), 7.5, -1.0),
    "text": lambda rng, hidden: np.array(["rot", "grün", "日", "ab"])[
        np.clip(hidden.astype(int) + rng.integers(0, 3, len(hidden)), 0, 3)
    ],
    "text with gaps": lambda rng, hidden: np.where(
        rng.random(len(hidden)) < 0.2,
        None,
        np.array(["a", "b", "c"], dtype=object)[rng.integers(0, 3, len(hidden))],
    ),
    "constant": lambda rng, hidden: np.full(len(hidden), 4.25),
    "empty": lambda rng, hidden: np.full(len(hidden), np.nan),
}


def with_gaps(rng: np.random.Generator, values: Any, share: float) -> Any:
    """Let some readings be missing."""
    return np.where(rng.random(len(values)) < share, np.nan, values)


def make_frame(
    seed: int, n_rows: int, kinds: list[str], n_classes: int
) -> tuple[pd.DataFrame, np.ndarray]:
    """Make columns that depend on something hidden, and classes that do."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    frame = pd.DataFrame(
        {f"{kind} {j}": COLUMNS[kind](rng, hidden) for j, kind in enumerate(kinds)}
    )
    noisy = hidden + 0.5 * rng.normal(size=n_rows)
    codes = np.argsort(np.argsort(noisy)) * n_classes // n_rows
    return frame, np.array(["one", "two", "three", "four"])[codes]


@st.composite
def cases(
    draw: Any, kinds: tuple[str, ...] = tuple(COLUMNS), min_rows: int = 30, max_rows: int = 150
) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw columns of any kinds, and classes."""
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))
    return make_frame(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(min_rows, max_rows)),
        chosen,
        draw(st.integers(2, 4)),
    )


def rows_of(X: Any, y: Any, weights: Any = None, **parameters: Any) -> MemoryRows:
    """Describe rows as the estimator does."""
    model = RuleClassifier(**parameters)
    table = read_features(model, X, reset=True)
    return model._rows(table, read_class_target(model, y, weights, table.n_rows))


def sample_of(X: Any, y: Any, weights: Any = None) -> Sample:
    """Take all rows as a sample."""
    return Sample.draw(rows_of(X, y, weights), len(y))


def settled(rows: MemoryRows, **parameters: Any) -> Structure:
    """Settle a model with given numbers of rules and pairs, comparing nothing."""
    model = RuleClassifier(**{"interactions": 2, "max_rules": 30} | parameters)
    recipe = replace(recipe_of(model, rows.names), strengths=(STRENGTHS[2],))
    return settle(Sample.draw(rows, 20_000), recipe)
