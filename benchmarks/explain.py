"""The speed of explanations: one row, and a stream of rows.

    python benchmarks/explain.py [--rows 10000]

The model is the default one of Sonar (60 features) where SOLAH_DATA is set, else of 60 seeded
features. Each time is also printed in single decisions, measured in the same run.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from solah import RuleClassifier, datasets
from solah.data import from_array
from solah.exceptions import DatasetError
from solah.explain import Explainer
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.data import Table
    from solah.model import Model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    n_rows = parser.parse_args().rows
    name, model, table = _model()
    print(f"{name}: {len(model.features)} features, {len(model.parts)} parts")
    rows = table.take(np.arange(n_rows) % table.n_rows)
    predict = _milliseconds(lambda i: Predictor(model).predict_proba(rows.rows(i, i + 1)))
    print(f"one row, median of 50: decide {predict:.1f} ms")
    for what, changes in (("explain", False), ("explain with what would change it", True)):
        took = _milliseconds(_explaining(Explainer(model, changes=changes), rows))
        print(f"  {what}: {took:.1f} ms, as {took / predict:.1f} single decisions")
    start = time.perf_counter()
    explanations = Explainer(model).of_table(rows)
    n_bytes = sum(len(explanation.to_json(8)) for explanation in explanations)
    speed, size = n_rows / (time.perf_counter() - start), n_bytes / n_rows / 1e3
    print(f"{n_rows:,} rows as JSON: {speed:,.0f} rows/s, {size:.0f} kB each")


def _model() -> tuple[str, Model, Table]:
    try:
        data = datasets.load("sonar")
        return (
            "Sonar",
            RuleClassifier().fit(data.table, data.target).model_,
            data.table,
        )
    except DatasetError:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((208, 60))
        y = (X[:, :5].sum(axis=1) + rng.standard_normal(208) > 0).astype(int)
        table = from_array(X, [f"x{i}" for i in range(60)])
        return "seeded", RuleClassifier().fit(X, y).model_, table


def _explaining(explainer: Explainer, rows: Table) -> Callable[[int], None]:
    def explain(i: int) -> None:
        for explanation in explainer.of_table(rows.rows(i, i + 1)):
            str(explanation)

    return explain


def _milliseconds(work: Callable[[int], object]) -> float:
    times = []
    for i in range(50):
        start = time.perf_counter()
        work(i)
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3


if __name__ == "__main__":
    main()
