"""How much a model changes when one row in a hundred is dropped.

    SOLAH_DATA=… python benchmarks/stability.py [--sets glass …] [--draws 10] [--rows 2000]

A model is fitted on all rows of a set, and again without 1 % of them, drawn at random, ten times.
Counted are the rows of the set whose decision changes (the median of the draws, and the most), and
how many rules there are. Other models of the comparison may be named; those that learn their rows
by heart decide alike on them whatever is dropped. Large sets are a seeded sample.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.models import MODELS
from comparison.sets import load_rows

from solah.exceptions import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.datasets import Dataset

SETS = (
    "breast_cancer_ljubljana",
    "diabetes_pima",
    "glass",
    "iot_room_occupancy",
    "iot_wall_following_robot",
)
COMPARED = ("solah", "solah-20")
LEFT_OUT = 0.01


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--models", nargs="*", default=COMPARED, choices=MODELS)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--rows", type=int, default=2_000, help="of a larger set, a sample")
    options = parser.parse_args(words)
    print(f"decisions that change without {LEFT_OUT:.0%} of the rows, {options.draws} draws")
    print(f"  {'set':<26}{'model':<22}{'median':>8}{'most':>8}{'rules':>7}{'from':>6}{'to':>6}")
    for name in options.sets:
        try:
            material = load_rows(name, options.rows)
        except DatasetError as error:
            print(f"  {name:<26}skipped: {error}")
            continue
        for model in options.models:
            print(line(name, MODELS[model].title, changes(model, material, options.draws)))


def changes(model: str, material: Dataset, n_draws: int) -> tuple[int | None, Any, Any]:
    """Return the rules of the first model, the shares that change, and the rules of the others."""
    make = partial(MODELS[model].make, material, material.table.n_rows, 0)
    every = np.arange(material.table.n_rows)
    decisions, n_rules = decide(make, material, every)
    shares, sizes = [], []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        n_left_out = max(1, round(LEFT_OUT * len(every)))
        kept = np.sort(rng.permutation(every)[n_left_out:])
        again, size = decide(make, material, kept)
        shares.append(float((again != decisions).mean()))
        sizes.append(size)
    return n_rules, np.array(shares), sizes


def decide(
    make: Callable[[], Any], material: Dataset, rows: np.ndarray
) -> tuple[np.ndarray, int | None]:
    """Fit on some rows; return what is decided for all, and the number of rules."""
    fitted = make().fit(material.table.take(rows), material.target[rows])
    decisions = fitted.classes_[fitted.predict_proba(material.table).argmax(axis=1)]
    return decisions, getattr(fitted, "n_rules_", None)


def line(name: str, title: str, found: tuple[int | None, Any, Any]) -> str:
    n_rules, shares, sizes = found
    text = f"  {name:<26}{title:<22}{np.median(shares):>8.2%}{shares.max():>8.2%}"
    if n_rules is None:
        return text
    return f"{text}{n_rules:>7}{min(sizes):>6}{max(sizes):>6}"


if __name__ == "__main__":
    main()
