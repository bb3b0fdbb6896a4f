"""Streams that drift: what learning row by row brings, and what refitting adds.

    SOLAH_DATA=… python benchmarks/streams.py [--rows 12000] [--seeds 1] [--stream NAME …]
    python benchmarks/streams.py --detector | --paces | --selections | --speed

Each row is predicted first and then learned from; accuracy is over all rows but the first 500.
Rows a second are of CPU time, the first 500 rows included. Streams, at most ``--rows`` of each:

*abrupt*, seeded: a plane in five features that jumps at one and two thirds, with a tenth of the
classes wrong; *gradual*: the same with two planes that mix in the middle third; *agrawal*, with
river: its generator, whose function changes from 0 to 4 to 8 at one and two thirds.
*occupancy*, *skab*, *gas*: sensors, in the order of their files, in which most rows have the class
of the row before; with *_shuffled*, the same rows in random order.

Learners: no change (the class of the row before); a rule model fitted once; the same with
``partial_fit`` alone; the stream learner; and, where river is installed, its Hoeffding adaptive
tree and its adaptive random forest, with their own defaults. All rule models have the same
settings.

``--paces`` compares paces of the stream learner on *abrupt* and *gradual*, and ``--selections`` how
long cross-validated settings are reused, on planes that jump and on two files of sensors that no
table has; seeds from 100 on. ``--speed`` measures rows per CPU second on ten features, without,
with few and with many drifts. ``--detector`` measures how often the adaptive window raises a false
alarm over 10,000 rows with an error rate of 0.1 and of 0.4, and how many rows it takes to detect a
step of the error rate from 0.1 to 0.3.
"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.sensor_sets import load

from solah import RuleClassifier
from solah.data import from_array
from solah.stream import AdaptiveWindow, StreamLearner, refit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Rows = tuple[NDArray[Any], NDArray[Any]]

HAS_RIVER = find_spec("river") is not None
FIRST = 500
BATCH = 100
N_STREAMS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=12_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--stream", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    for mode in ("--detector", "--paces", "--selections", "--speed"):
        parser.add_argument(mode, action="store_true")
    options = parser.parse_args()
    if options.detector:
        measure_detector()
    elif options.speed:
        measure_speed()
    elif options.selections:
        compare(OFTEN, selection_ages(), range(100, 100 + options.seeds), 12_000)
    elif options.paces:
        drifting = {name: STREAMS[name] for name in ("abrupt", "gradual")}
        compare(drifting, paces(), range(100, 100 + options.seeds), options.rows)
    else:
        streams = {name: STREAMS[name] for name in options.stream}
        learners = {name: LEARNERS[name] for name in options.learner}
        compare(streams, learners, range(options.seeds), options.rows)


def compare(
    streams: dict[str, Callable[[int, int], Rows]],
    learners: dict[str, Callable[[Rows, Rows], int]],
    seeds: range,
    n_rows: int,
) -> None:
    for name, make in streams.items():
        rows = [make(n_rows, seed) for seed in seeds]
        print(f"{name}: {len(rows[0][1]):,} rows, seeds {seeds[0]} to {seeds[-1]}")
        print(f"  {'learner':<28}{'accuracy':>10}{'(min to max)':>18}{'rows/CPU s':>12}")
        for learner, run in learners.items():
            print(f"  {learner:<28}{spelt([timed(run, *one) for one in rows])}", flush=True)


def timed(
    run: Callable[[Rows, Rows], int], X: NDArray[Any], y: NDArray[Any]
) -> tuple[float, float]:
    """Return the share of rows after the first that were predicted rightly, and the speed."""
    start = process_time()
    n_right = run((X[:FIRST], y[:FIRST]), (X[FIRST:], y[FIRST:]))
    return n_right / (len(y) - FIRST), len(y) / (process_time() - start)


def spelt(found: list[tuple[float, float]]) -> str:
    accuracies, speeds = np.array(found).T
    spread = f"({accuracies.min():.3f} to {accuracies.max():.3f})"
    return f"{accuracies.mean():>10.3f}{spread:>18}{np.median(speeds):>12,.0f}"


def abrupt(n_rows: int, seed: int) -> Rows:
    return jumping(n_rows, seed, n_features=5, n_planes=3)


def jumping(n_rows: int, seed: int, *, n_features: int, n_planes: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    normals = rng.normal(size=(n_planes, n_features))
    return X, noisy(rng, sides(X, normals, np.arange(n_rows) * n_planes // n_rows))


def gradual(n_rows: int, seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    way = np.clip(np.arange(n_rows) * 3 / n_rows - 1, 0, 1)  # the middle third mixes
    normals = rng.normal(size=(3, 5))
    return X, noisy(rng, sides(X, normals, (rng.random(n_rows) < way).astype(int)))


def agrawal(n_rows: int, seed: int) -> Rows:
    from river.datasets import synth

    third = n_rows // 3
    rows = [
        row
        for function in (0, 4, 8)
        for row in synth.Agrawal(classification_function=function, seed=seed + function).take(third)
    ]
    return np.array([list(x.values()) for x, _ in rows], float), np.array([y for _, y in rows])


def in_file_order(name: str) -> Callable[[int, int], Rows]:
    def read(n_rows: int, _: int) -> Rows:
        data = load(name)
        X = np.column_stack([column.values for column in data.table.columns])
        return X[:n_rows], data.target[:n_rows]

    return read


def shuffled(name: str) -> Callable[[int, int], Rows]:
    def read(n_rows: int, seed: int) -> Rows:
        X, y = in_file_order(name)(n_rows, seed)
        order = np.random.default_rng(seed).permutation(len(y))
        return X[order], y[order]

    return read


def sides(
    X: NDArray[np.float64], normals: NDArray[np.float64], which: NDArray[np.intp]
) -> NDArray[np.bool_]:
    return np.asarray((X * normals[which]).sum(axis=1) > 0)


def noisy(rng: np.random.Generator, y: NDArray[np.bool_]) -> NDArray[np.int64]:
    return (y ^ (rng.random(len(y)) < 0.1)).astype(np.int64)


SENSORS = {"occupancy": "occupancy", "skab": "skab", "gas": "gas_drift"}
STREAMS: dict[str, Callable[[int, int], Rows]] = {
    "abrupt": abrupt,
    "gradual": gradual,
    **({"agrawal": agrawal} if HAS_RIVER else {}),
    **{short: in_file_order(name) for short, name in SENSORS.items()},
    **{f"{short}_shuffled": shuffled(name) for short, name in SENSORS.items()},
}
OFTEN: dict[str, Callable[[int, int], Rows]] = {
    "2 drifts": partial(jumping, n_features=10, n_planes=3),
    "11 drifts": partial(jumping, n_features=8, n_planes=12),
    **({"agrawal": agrawal} if HAS_RIVER else {}),
    **{name: in_file_order(name) for name in ("room_occupancy", "wall_following_robot")},
}


def peers() -> dict[str, Callable[[Rows, Rows], int]]:
    if not HAS_RIVER:
        return {}
    from river import forest, tree

    return {
        "river-hat": of_river(lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)),
        "river-arf": of_river(lambda: forest.ARFClassifier(seed=0)),
    }


def selection_ages() -> dict[str, Callable[[Rows, Rows], int]]:
    return {f"{n_rows} rows per feature": reusing_for(n_rows) for n_rows in (0, 200, 400)}


def reusing_for(n_rows: int) -> Callable[[Rows, Rows], int]:
    def run(first: Rows, rest: Rows) -> int:
        refit._ROWS_PER_FEATURE = n_rows
        return stream(first, rest)

    return run


def paces() -> dict[str, Callable[[Rows, Rows], int]]:
    return {f"stream, pace 1/{part}": at_pace(1 / part) for part in (1, 8, 16, 32, 64, 128)}


def at_pace(pace: float) -> Callable[[Rows, Rows], int]:
    return lambda first, rest: of_stream(StreamLearner(rule_model(), pace=pace), first, rest)


def rule_model() -> RuleClassifier:
    """Return a rule model of given size: selecting it takes a minute per fit on gas."""
    return RuleClassifier(interactions=0, max_rules=60)


def batches_of(rows: Rows) -> Iterator[Rows]:
    X, y = rows
    for start in range(0, len(y), BATCH):
        yield X[start : start + BATCH], y[start : start + BATCH]


def fitted_once(first: Rows, rest: Rows) -> int:
    return int((rule_model().fit(*first).predict(rest[0]) == rest[1]).sum())


def partial_fit_alone(pace: float) -> Callable[[Rows, Rows], int]:
    """Learn as ``partial_fit`` does with each row; classes that come later are wrong."""

    def run(first: Rows, rest: Rows) -> int:
        model = rule_model().fit(*first).model_
        table = from_array(rest[0], [feature.name for feature in model.features])
        online = refit.OnlineModel(model, pace=pace, forgetting=0.0)
        return int(online.test_then_learn(table, rest[1].tolist()).is_right.sum())

    return run


def no_change(first: Rows, rest: Rows) -> int:
    return int((np.append(first[1][-1], rest[1][:-1]) == rest[1]).sum())


def stream(first: Rows, rest: Rows) -> int:
    return of_stream(StreamLearner(rule_model()), first, rest)


def of_stream(learner: StreamLearner, first: Rows, rest: Rows) -> int:
    learner.learn(*first)
    before = learner.metrics
    for rows in batches_of(rest):
        learner.learn(*rows)
    return n_right_of(learner.metrics) - n_right_of(before)


def n_right_of(metrics: Any) -> int:
    return round((metrics.accuracy_overall or 0.0) * metrics.predicted)


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


LEARNERS: dict[str, Callable[[Rows, Rows], int]] = {
    "no-change": no_change,
    "fitted-once": fitted_once,
    "partial_fit": partial_fit_alone(1 / 32),
    "stream": stream,
    **peers(),
}


def measure_speed() -> None:
    """Time the stream learner on a plane in ten features, all fits included."""
    for n_planes in (1, 3, 10):
        X, y = jumping(20_000, 0, n_features=10, n_planes=n_planes)
        figures = spelt([timed(stream, X, y)])
        print(f"ten features, 20,000 rows, {n_planes - 1} drifts{figures}", flush=True)


def measure_detector() -> None:
    print(f"{N_STREAMS} streams each; false alarms: share of streams with one in 10,000 rows")
    heads = ("error 0.1", "error 0.4", "delay", "95%", "missed")
    print(f"  {'delta':<8}" + "".join(f"{head:>10}" for head in heads))
    for delta in (0.002, 0.05):
        make = partial(AdaptiveWindow, delta, only_rises=True)
        false = [share_of_alarms(make, error) for error in (0.1, 0.4)]
        delays = [delay(make(), seed) for seed in range(N_STREAMS)]
        detected = [one for one in delays if one is not None]
        print(
            f"  {delta:<8}{false[0]:>10.1%}{false[1]:>10.1%}{np.median(detected):>10.0f}"
            f"{np.quantile(detected, 0.95):>10.0f}{len(delays) - len(detected):>10}",
            flush=True,
        )


def share_of_alarms(make: Callable[[], Any], error: float) -> float:
    return float(np.mean([has_alarm(make(), error, seed) for seed in range(N_STREAMS)]))


def has_alarm(detector: Any, error: float, seed: int) -> bool:
    errors = np.random.default_rng(seed).random(10_000) < error
    return any(detector.update(float(one)) for one in errors)


def delay(detector: Any, seed: int) -> int | None:
    """Return the number of rows after the step at detection; None if not within 3,000."""
    rng = np.random.default_rng(1_000 + seed)
    for one in rng.random(2_000) < 0.1:
        if detector.update(float(one)):
            detector.reset()
    later = enumerate(rng.random(3_000) < 0.3, start=1)
    return next((n for n, one in later if detector.update(float(one))), None)


if __name__ == "__main__":
    main()
