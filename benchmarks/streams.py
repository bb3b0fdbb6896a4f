"""Streams that drift: what learning row by row brings, and what organising anew adds.

    SOLAH_DATA=… python benchmarks/streams.py [--rows 12000] [--seeds 3] [--stream NAME …]
    python benchmarks/streams.py --detectors

Each row is decided on first and learnt from then; accuracy is over all rows but the first 500,
which every learner gets to begin with. Streams, seeded: *abrupt*, a plane in five attributes that
jumps at one and two thirds, with a tenth of the classes wrong; *gradual*, the same with two planes
that mix in the middle third; *gas_drift*, batches of gas sensors over three years in their order,
rows of a batch in random order. Learners: a hierarchy fitted once; the same with ``partial_fit``
alone, at its usual pace and at that of the stream; the stream learner; and, where river is
installed, its Hoeffding adaptive tree and its adaptive random forest. All hierarchies have the same
settings.

``--paces`` compares paces of the stream learner, with seeds from 100 on: the usual one was chosen
by them.

``--detectors`` measures how often a detector raises a false alarm over 10,000 rows with an error of
0.1 and of 0.4, and how many rows it takes to tell a step of the error from 0.1 to 0.3.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from solah import SelfOrganisedHierarchyClassifier, datasets
from solah.data import from_array
from solah.stream import AdaptiveWindow, PageHinkley, StreamLearner
from solah.stream.deciding import Decider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Rows = tuple[NDArray[Any], NDArray[Any]]

FIRST = 500
BATCH = 100
N_STREAMS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--stream", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--detectors", action="store_true")
    parser.add_argument("--paces", action="store_true")
    options = parser.parse_args()
    if options.detectors:
        measure_detectors()
        return
    first_seed, compared = (100, paces()) if options.paces else (0, learners())
    seeds = range(first_seed, first_seed + options.seeds)
    for name in options.stream:
        print(f"{name}: means over {options.seeds} seeds")
        print(f"  {'learner':<28}{'accuracy':>10}{'(min to max)':>18}{'rows/s':>10}")
        for learner, run in compared.items():
            streams = [STREAMS[name](options.rows, seed) for seed in seeds]
            found = [timed(run, *rows) for rows in streams]
            print(f"  {learner:<28}{spelt(found)}", flush=True)


def timed(
    run: Callable[[Rows, Rows], int], X: NDArray[Any], y: NDArray[Any]
) -> tuple[float, float]:
    """Return the share of rows behind the first that were decided rightly, and rows a second."""
    start = perf_counter()
    n_right = run((X[:FIRST], y[:FIRST]), (X[FIRST:], y[FIRST:]))
    return n_right / (len(y) - FIRST), len(y) / (perf_counter() - start)


def spelt(found: list[tuple[float, float]]) -> str:
    accuracies, speeds = np.array(found).T
    spread = f"({accuracies.min():.3f} to {accuracies.max():.3f})"
    return f"{accuracies.mean():>10.3f}{spread:>18}{np.median(speeds):>10,.0f}"


def abrupt(n_rows: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, noisy(rng, sides(X, planes(rng), np.arange(n_rows) * 3 // n_rows))


def gradual(n_rows: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    way = np.clip(np.arange(n_rows) * 3 / n_rows - 1, 0, 1)  # the middle third mixes
    return X, noisy(rng, sides(X, planes(rng), (rng.random(n_rows) < way).astype(int)))


def gas_drift(n_rows: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    data = datasets.load("gas_drift")
    X = np.column_stack([column.values for column in data.table.columns])
    batches = [np.flatnonzero(data.groups == one) for one in dict.fromkeys(data.groups.tolist())]
    order = np.concatenate([rng.permutation(batch) for batch in batches])[:n_rows]
    return X[order], data.goal[order]


def planes(rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.normal(size=(3, 5))


def sides(
    X: NDArray[np.float64], normals: NDArray[np.float64], which: NDArray[np.intp]
) -> NDArray[np.bool_]:
    return np.asarray((X * normals[which]).sum(axis=1) > 0)


def noisy(rng: np.random.Generator, y: NDArray[np.bool_]) -> NDArray[np.int64]:
    return (y ^ (rng.random(len(y)) < 0.1)).astype(np.int64)


STREAMS: dict[str, Callable[[int, int], Rows]] = {
    "abrupt": abrupt,
    "gradual": gradual,
    "gas_drift": gas_drift,
}


def learners() -> dict[str, Callable[[Rows, Rows], int]]:
    try:
        from river import forest, tree
    except ImportError:
        peers: dict[str, Callable[[Rows, Rows], int]] = {}
    else:
        peers = {
            "river, Hoeffding adaptive": of_river(
                lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)
            ),
            "river, adaptive forest": of_river(lambda: forest.ARFClassifier(seed=0)),
        }
    return {
        "fitted once": fitted_once,
        "partial_fit, pace 1": partial_fit_alone(1.0),
        "partial_fit, pace 1/32": partial_fit_alone(1 / 32),
        "stream": stream,
        "stream, Page-Hinkley": page_hinkley,
        **peers,
    }


def paces() -> dict[str, Callable[[Rows, Rows], int]]:
    return {f"stream, pace 1/{part}": at_pace(1 / part) for part in (1, 8, 16, 32, 64, 128)}


def at_pace(pace: float) -> Callable[[Rows, Rows], int]:
    return lambda first, rest: of_stream(StreamLearner(hierarchy(), pace=pace), first, rest)


def hierarchy() -> SelfOrganisedHierarchyClassifier:
    """Make a hierarchy with settings that are given: choosing them takes a minute a fit on gas."""
    return SelfOrganisedHierarchyClassifier(interactions=0, max_rules=60)


def batches_of(rows: Rows) -> Iterator[Rows]:
    X, y = rows
    for start in range(0, len(y), BATCH):
        yield X[start : start + BATCH], y[start : start + BATCH]


def fitted_once(first: Rows, rest: Rows) -> int:
    return int((hierarchy().fit(*first).predict(rest[0]) == rest[1]).sum())


def partial_fit_alone(pace: float) -> Callable[[Rows, Rows], int]:
    """Do as ``partial_fit`` with each row; classes that came later are wrong, and not learnt."""

    def run(first: Rows, rest: Rows) -> int:
        model = hierarchy().fit(*first).model_
        table = from_array(rest[0], [attribute.name for attribute in model.attributes])
        decider = Decider(model, pace=pace, forgetting=0.0)
        return int(decider.serve(table, rest[1].tolist()).is_right.sum())

    return run


def stream(first: Rows, rest: Rows) -> int:
    return of_stream(StreamLearner(hierarchy()), first, rest)


def page_hinkley(first: Rows, rest: Rows) -> int:
    return of_stream(StreamLearner(hierarchy(), detector="page-hinkley"), first, rest)


def of_stream(learner: StreamLearner, first: Rows, rest: Rows) -> int:
    learner.learn(*first)
    before = learner.metrics
    for rows in batches_of(rest):
        learner.learn(*rows)
    return n_right_of(learner.metrics) - n_right_of(before)


def n_right_of(metrics: Any) -> int:
    return round(metrics.accuracy_overall * metrics.decided)


def of_river(make: Callable[[], Any]) -> Callable[[Rows, Rows], int]:
    def run(first: Rows, rest: Rows) -> int:
        model, n_right = make(), 0
        names = [f"x{j}" for j in range(first[0].shape[1])]
        for scored, (X, y) in ((False, first), (True, rest)):
            for row, label in zip(X.tolist(), y.tolist(), strict=True):
                readings = dict(zip(names, row, strict=True))
                n_right += scored and model.predict_one(readings) == label
                model.learn_one(readings, label)
        return n_right

    return run


def measure_detectors() -> None:
    makers: dict[str, Callable[[], Any]] = {
        "adwin, delta 0.002": lambda: AdaptiveWindow(only_rises=True),
        "adwin, delta 0.05": lambda: AdaptiveWindow(0.05, only_rises=True),
        "page-hinkley, threshold 50": PageHinkley,
        "page-hinkley, threshold 25": lambda: PageHinkley(threshold=25),
    }
    print(f"{N_STREAMS} streams each; false alarms: share of streams with one in 10,000 rows")
    heads = ("error 0.1", "error 0.4", "delay", "95 %", "missed")
    print(f"  {'detector':<28}" + "".join(f"{head:>10}" for head in heads))
    for name, make in makers.items():
        false = [share_of_alarms(make, error) for error in (0.1, 0.4)]
        delays = [delay(make(), seed) for seed in range(N_STREAMS)]
        told = [one for one in delays if one is not None]
        print(
            f"  {name:<28}{false[0]:>10.1%}{false[1]:>10.1%}{np.median(told):>10.0f}"
            f"{np.quantile(told, 0.95):>10.0f}{len(delays) - len(told):>10}",
            flush=True,
        )


def share_of_alarms(make: Callable[[], Any], error: float) -> float:
    return float(np.mean([has_alarm(make(), error, seed) for seed in range(N_STREAMS)]))


def has_alarm(detector: Any, error: float, seed: int) -> bool:
    errors = np.random.default_rng(seed).random(10_000) < error
    return any(detector.update(float(one)) for one in errors)


def delay(detector: Any, seed: int) -> int | None:
    """Return how many rows behind the step it was told; None if never within 3,000."""
    rng = np.random.default_rng(1_000 + seed)
    for one in rng.random(2_000) < 0.1:
        if detector.update(float(one)):
            detector.reset()
    later = enumerate(rng.random(3_000) < 0.3, start=1)
    return next((n for n, one in later if detector.update(float(one))), None)


if __name__ == "__main__":
    main()
