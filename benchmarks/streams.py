"""Streams that drift: what learning row by row brings, and what organising again adds.

    SOLAH_DATA=… python benchmarks/streams.py [--rows 12000] [--seeds 1] [--stream NAME …]
    python benchmarks/streams.py --detectors | --paces | --as-before | --speed

Each row is decided on first and learnt from then; accuracy is over all rows but the first 500, and
a row without a decision is wrong. Rows a second are of CPU time, the first 500 rows included.
Streams, at most ``--rows`` of each, from the first on:

*abrupt*, seeded: a plane in five attributes that jumps at one and two thirds, with a tenth of the
classes wrong; *gradual*: the same with two planes that mix in the middle third; *agrawal*, with
river: its generator, whose function changes from 0 to 4 to 8 at one and two thirds.
*occupancy*, *skab*, *gas*: sensors, in the order of their files, in which most rows have the class
of the row before; with *_shuffled*, the rows that were taken in random order.

Learners: no change (the class of the row before); a hierarchy fitted once; the same with
``partial_fit`` alone; the stream learner, without and with the class before; and, where river is
installed, its Hoeffding adaptive tree and its adaptive random forest, with their own defaults. All
hierarchies have the same settings.

``--paces`` compares paces of the stream learner on *abrupt* and *gradual*, ``--as-before`` the
constants of ``solah.stream.persistence`` on generated streams, and ``--settled`` how long settings
last, on planes that jump and on two files of sensors that no table has; seeds from 100 on.
``--speed`` measures rows per CPU second on ten attributes, without, with few and with many drifts.

``--detectors`` measures how often a detector raises a false alarm over 10,000 rows with an error of
0.1 and of 0.4, and how many rows it takes to tell a step of the error from 0.1 to 0.3.
"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from solah import RuleClassifier, datasets
from solah.data import from_array
from solah.stream import AdaptiveWindow, PageHinkley, StreamLearner, organising, persistence
from solah.stream.deciding import Decider

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
    for mode in ("--detectors", "--paces", "--as-before", "--settled", "--speed"):
        parser.add_argument(mode, action="store_true")
    options = parser.parse_args()
    if options.detectors:
        measure_detectors()
    elif options.speed:
        measure_speed()
    elif options.as_before:
        compare(GENERATED, as_before_constants(), range(100, 100 + options.seeds), 6_000)
    elif options.settled:
        compare(OFTEN, settled_constants(), range(100, 100 + options.seeds), 12_000)
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
    """Return the share of rows behind the first that were decided rightly, and the speed."""
    start = process_time()
    n_right = run((X[:FIRST], y[:FIRST]), (X[FIRST:], y[FIRST:]))
    return n_right / (len(y) - FIRST), len(y) / (process_time() - start)


def spelt(found: list[tuple[float, float]]) -> str:
    accuracies, speeds = np.array(found).T
    spread = f"({accuracies.min():.3f} to {accuracies.max():.3f})"
    return f"{accuracies.mean():>10.3f}{spread:>18}{np.median(speeds):>12,.0f}"


def abrupt(n_rows: int, seed: int) -> Rows:
    return jumping(n_rows, seed, n_attributes=5, n_planes=3)


def jumping(n_rows: int, seed: int, *, n_attributes: int, n_planes: int) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_attributes))
    normals = rng.normal(size=(n_planes, n_attributes))
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
        data = datasets.load(name)
        X = np.column_stack([column.values for column in data.table.columns])
        return X[:n_rows], data.goal[:n_rows]

    return read


def shuffled(name: str) -> Callable[[int, int], Rows]:
    def read(n_rows: int, seed: int) -> Rows:
        X, y = in_file_order(name)(n_rows, seed)
        order = np.random.default_rng(seed).permutation(len(y))
        return X[order], y[order]

    return read


def in_runs(stay: float, n_classes: int) -> Callable[[int, int], Rows]:
    """Make classes that stay with a chance, and readings around centres that move at half time."""

    def draw(n_rows: int, seed: int) -> Rows:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(n_classes, size=n_rows)
        last_change = np.maximum.accumulate(
            np.where(rng.random(n_rows) < stay, 0, np.arange(n_rows))
        )
        y = drawn[last_change]
        centres = rng.normal(size=(2, n_classes, 5))[np.arange(n_rows) * 2 // n_rows, y]
        return rng.normal(size=(n_rows, 5)) + centres, y

    return draw


def runs_that_end(n_rows: int, seed: int) -> Rows:
    """Make long runs whose readings tell little, then no runs and readings that tell much."""
    (before, first), (after, last) = (in_runs(stay, 3)(n_rows // 2, seed) for stay in (0.99, 0.0))
    return np.vstack([before / 3, 2 * after]), np.concatenate([first, last])


def of_generator(make: Callable[[int], Any]) -> Callable[[int, int], Rows]:
    def draw(n_rows: int, seed: int) -> Rows:
        rows = list(make(seed).take(n_rows))
        return np.array([list(x.values()) for x, _ in rows], float), np.array([y for _, y in rows])

    return draw


def river_generators() -> dict[str, Callable[[int, int], Rows]]:
    if not HAS_RIVER:
        return {}
    from river.datasets import synth

    return {
        "SEA": of_generator(lambda seed: synth.SEA(variant=1, noise=0.1, seed=seed)),
        "RBF, drifting": of_generator(
            lambda seed: synth.RandomRBFDrift(
                seed_model=seed, seed_sample=seed, n_classes=4, n_features=8, change_speed=0.001
            )
        ),
    }


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
GENERATED = {
    **river_generators(),
    "runs of 5": in_runs(0.8, 3),
    "runs of 50": in_runs(0.98, 3),
    "runs of 500": in_runs(0.998, 2),
    "runs that end": runs_that_end,
}
OFTEN: dict[str, Callable[[int, int], Rows]] = {
    "2 drifts": partial(jumping, n_attributes=10, n_planes=3),
    "11 drifts": partial(jumping, n_attributes=8, n_planes=12),
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


def as_before_constants() -> dict[str, Callable[[Rows, Rows], int]]:
    tried = {"_ROWS_SCORED": (50, 1000), "_ROWS_COUNTED": (100, 2000), "_NATS_AT_MOST": (5, 40)}
    usual = {name: getattr(persistence, name) for name in tried}
    changed = {
        f"{name} {value}": {**usual, name: value}
        for name, values in tried.items()
        for value in values
    }
    return {
        "no-change": no_change,
        "never": without_class_before,
        "usual": with_constants(persistence, usual),
        **{name: with_constants(persistence, values) for name, values in changed.items()},
    }


def settled_constants() -> dict[str, Callable[[Rows, Rows], int]]:
    return {
        f"{n_rows} rows an attribute": with_constants(organising, {"_ROWS_AN_ATTRIBUTE": n_rows})
        for n_rows in (0, 200, 400)
    }


def with_constants(module: Any, values: dict[str, float]) -> Callable[[Rows, Rows], int]:
    def run(first: Rows, rest: Rows) -> int:
        for name, value in values.items():
            setattr(module, name, value)
        return stream(first, rest)

    return run


def paces() -> dict[str, Callable[[Rows, Rows], int]]:
    return {f"stream, pace 1/{part}": at_pace(1 / part) for part in (1, 8, 16, 32, 64, 128)}


def at_pace(pace: float) -> Callable[[Rows, Rows], int]:
    return lambda first, rest: of_stream(
        StreamLearner(hierarchy(), pace=pace, label_delay=None), first, rest
    )


def hierarchy() -> RuleClassifier:
    """Make a hierarchy with settings that are given: choosing them takes a minute a fit on gas."""
    return RuleClassifier(interactions=0, max_rules=60)


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


def no_change(first: Rows, rest: Rows) -> int:
    return int((np.append(first[1][-1], rest[1][:-1]) == rest[1]).sum())


def stream(first: Rows, rest: Rows) -> int:
    return of_stream(StreamLearner(hierarchy()), first, rest)


def without_class_before(first: Rows, rest: Rows) -> int:
    return of_stream(StreamLearner(hierarchy(), label_delay=None), first, rest)


def in_background(first: Rows, rest: Rows) -> int:
    return of_stream(StreamLearner(hierarchy(), swap_after=100), first, rest)


def of_stream(learner: StreamLearner, first: Rows, rest: Rows) -> int:
    learner.learn(*first)
    before = learner.metrics
    for rows in batches_of(rest):
        learner.learn(*rows)
    return n_right_of(learner.metrics) - n_right_of(before)


def n_right_of(metrics: Any) -> int:
    return round((metrics.accuracy_overall or 0.0) * metrics.decided)


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
    "stream-never-as-before": without_class_before,
    "stream": stream,
    "stream-swap-after-100": in_background,
    **peers(),
}


def measure_speed() -> None:
    """Time the stream learner on a plane in ten attributes, all fits included."""
    for n_planes in (1, 3, 10):
        X, y = jumping(20_000, 0, n_attributes=10, n_planes=n_planes)
        print(f"ten attributes, 20,000 rows, {n_planes - 1} drifts")
        for name in ("stream-never-as-before", "stream", "stream-swap-after-100"):
            print(f"  {name:<28}{spelt([timed(LEARNERS[name], X, y)])}", flush=True)


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
