"""Log-loss of predictions with missing values.

    SOLAH_DATA=… python benchmarks/missing.py [--sets glass …] [--shares 0.3 0.9] [--rows 2000]

Models are trained on half of the rows of a set, and tested on the other half with 10, 30, 60 and 90
% of its values missing at random, and without whole sensors: each important feature in turn, and
the more important half of the features. Compared by log-loss (lower is better):

- solah by default: rules whose values are missing add nothing, and probabilities move towards the
  class shares;
- the same model, its probabilities averaged over random fills of missing values, each the value of
  a training row (which would be right if features were independent);
- the class shares, which do not depend on the row;
- HistGradientBoosting, which takes missing values as they are;
- solah, fitted to lose features (``robust_to="features"``).
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.models import MODELS
from comparison.sets import EIGHT, load_rows
from sklearn.base import clone

from solah.data import Table
from solah.evaluation import over_all_classes
from solah.evaluation.scores import log_loss
from solah.exceptions import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.data import Column
    from solah.datasets import Dataset

SENSORS = ("iot_room_occupancy", "iot_wall_following_robot", "iot_occupancy")
SHARES = (0.1, 0.3, 0.6, 0.9)
MOST_LOST = 5
COLUMNS = ("solah", "random fills", "class shares", "boosting", "may lose")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=(*SENSORS, *EIGHT))
    parser.add_argument("--shares", nargs="*", type=float, default=SHARES)
    parser.add_argument("--fills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=2_000, help="of a larger set, a sample")
    options = parser.parse_args(words)
    warnings.simplefilter("ignore")  # states that only tested rows have
    print("log-loss on held-out rows")
    print(f"  {'set':<26}{'missing':<24}" + "".join(f"{name:>14}" for name in COLUMNS))
    for name in options.sets:
        try:
            material = load_rows(name, options.rows)
        except DatasetError as error:
            print(f"  {name:<26}skipped: {error}")
            continue
        for what, losses in measure(material, options.shares, options.fills):
            print(f"  {name:<26}{what:<24}" + "".join(f"{loss:>14.4f}" for loss in losses))


def measure(
    material: Dataset, shares: list[float], n_fills: int
) -> Iterator[tuple[str, list[float]]]:
    """Yield what is missing, and the log-loss of each way to go on."""
    rng = np.random.default_rng(0)
    order = rng.permutation(material.table.n_rows)
    learned, tested = np.sort(order[::2]), np.sort(order[1::2])
    solah, boosting = (
        MODELS[name].make(material, len(learned), 0) for name in ("solah", "boosting")
    )
    models = [
        one.fit(material.table.take(learned), material.target[learned])
        for one in (solah, boosting, clone(solah).set_params(robust_to="features"))
    ]
    classes, truth = np.unique(material.target), material.target[tested]
    counts = np.array([(material.target[learned] == each).sum() for each in classes])
    prior = np.tile(counts / counts.sum(), (len(tested), 1))
    table, pool = material.table.take(tested), material.table.take(learned)
    for what, lost in losses_of_readings(models[0], table, shares, rng):
        gapped = without(table, lost)
        fills = [
            believed(models[0], filled(gapped, lost, pool, rng), classes) for _ in range(n_fills)
        ]
        beliefs = [
            believed(models[0], gapped, classes),
            np.mean(fills, axis=0),
            prior,
            *(believed(model, gapped, classes) for model in models[1:]),
        ]
        yield what, [log_loss(truth, one, classes) for one in beliefs]


def losses_of_readings(
    model: Any, table: Table, shares: list[float], rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield which readings are missing ``(n_rows, n_columns)``, and what to call that."""
    shape = (table.n_rows, len(table.columns))
    yield "nothing", np.zeros(shape, dtype=bool)
    for share in shares:
        yield f"{share:.0%} at random", rng.random(shape) < share
    importances = np.asarray(model.feature_importances_)
    by_worth = np.argsort(-importances, kind="stable")
    for place in by_worth[: min(MOST_LOST, int((importances > 0).sum()))]:
        lost = np.zeros(shape, dtype=bool)
        lost[:, place] = True
        yield f"{table.names[place]}"[:23], lost
    lost = np.zeros(shape, dtype=bool)
    lost[:, by_worth[: len(by_worth) // 2]] = True
    yield "the half that matters", lost


def without(table: Table, lost: np.ndarray) -> Table:
    """Let readings be missing."""
    columns = (gap(column, lost[:, j]) for j, column in enumerate(table.columns))
    return Table(tuple(columns), table.n_rows)


def gap(column: Column, lost: np.ndarray) -> Column:
    if not lost.any():
        return column
    values = column.values
    if values.dtype.kind in "iufb":
        return replace(column, values=np.where(lost, np.nan, values.astype(float)))
    return replace(column, values=np.where(lost, None, values.astype(object)))


def filled(table: Table, lost: np.ndarray, pool: Table, rng: np.random.Generator) -> Table:
    """Fill what is missing with readings of rows that were learned from."""
    columns = []
    for j, column in enumerate(table.columns):
        drawn = pool.columns[j].values[rng.integers(0, pool.n_rows, table.n_rows)]
        values = np.where(lost[:, j], drawn.astype(column.values.dtype), column.values)
        columns.append(replace(column, values=values))
    return Table(tuple(columns), table.n_rows)


def believed(model: Any, table: Table, classes: np.ndarray) -> np.ndarray:
    return over_all_classes(model.predict_proba(table), model.classes_, classes)


if __name__ == "__main__":
    main()
