"""Generate readings of a plant's sensors and its state: the data of `scale.py`.

A few hidden states of a plant (load, speed, heat, wear) drive groups of sensors. Most follow their
state with noise, some bend it, some have heavy tails, some read in coarse steps, some drop out now
and then, and some measure nothing. Whether the plant is in fault depends on the states: on wear,
and on load only where the speed is high. A row is a function of its place and the seed alone, so
rows are the same in whatever pieces they are made.

    python benchmarks/sensors.py FOLDER --rows 20000000
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

TARGET = "fault"
MACHINE = "machine"
MACHINES = ("lathe", "mill", "press", "saw")
CLASSES = (2, 4)

_BLOCK = 16_384  # rows that one generator makes, few enough to stay in the processor's cache
_STATES = 4
_LOAD, _SPEED, _HEAT, _WEAR = range(_STATES)
_DAY = 86_400  # rows, one a second
_QUANTITIES = ("vibration", "temperature", "pressure", "current", "flow", "humidity", "acoustic")
_MISSING = 0.01
_SHAPES = {"straight": 0.4, "bent": 0.2, "heavy": 0.15, "tenths": 0.15, "levels": 0.1}


@dataclass(frozen=True)
class Sensor:
    """A sensor: which state it measures, how well, and its output."""

    name: str
    state: int | None
    noise: float
    shape: str  # one of _SHAPES
    drops_out: bool


@dataclass(frozen=True)
class Block:
    """Rows behind one another: readings (a sensor a row), the state's code, the machine's code."""

    readings: NDArray[np.float32]
    target: NDArray[np.int8]
    machine: NDArray[np.int8]

    def rows(self, start: int, stop: int) -> Block:
        """Return some of the rows."""
        return Block(
            self.readings[:, start:stop], self.target[start:stop], self.machine[start:stop]
        )


@cache
def sensors(n_features: int = 50, seed: int = 0) -> tuple[Sensor, ...]:
    """Return the sensors of a plant; a larger plant has those of a smaller one, and more."""
    return tuple(_sensor(j, np.random.default_rng([seed, j])) for j in range(n_features))


def sensor_block(
    first_row: int, n_rows: int, n_features: int = 50, seed: int = 0, classes: int = 2
) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return readings (rows x sensors) and target of the rows from ``first_row`` on, from 0.

    The target is 1 in fault and 0 else; of four classes, 2 and 3 are the same for a plant too hot.
    """
    block = _rows(first_row, n_rows, n_features, seed, classes)
    return block.readings.T, block.target


def write_parquet(
    folder: str | Path,
    n_rows: int,
    n_features: int = 50,
    n_files: int = 4,
    seed: int = 0,
    row_group: int = 250_000,
    classes: int = 2,
    with_machine: bool = False,
    jobs: int = 1,
) -> list[Path]:
    """Write the rows to files of float32 columns, a row group of each in memory at a time."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    n_files = min(n_files, n_rows)
    bounds = [n_rows * j // n_files for j in range(n_files + 1)]
    paths = [Path(folder, f"sensors-{j:04}.parquet") for j in range(n_files)]

    def write(j: int) -> None:
        groups = _groups(bounds[j], bounds[j + 1], row_group)
        tables = (
            _table(_rows(first, size, n_features, seed, classes), n_features, seed, with_machine)
            for first, size in groups
        )
        _write_file(paths[j], tables)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(write, range(n_files)))
    return paths


def _sensor(place: int, rng: np.random.Generator) -> Sensor:
    """Draw a sensor; one in five measures nothing."""
    quantity = _QUANTITIES[place % len(_QUANTITIES)]
    measures = place < _STATES or rng.random() < 0.8
    return Sensor(
        name=f"{quantity}_{place:02}",
        state=place % _STATES if measures else None,
        noise=float(rng.uniform(0.4, 1.2)),
        shape=str(rng.choice(list(_SHAPES), p=list(_SHAPES.values()))),
        drops_out=bool(rng.random() < 0.1),
    )


def _rows(first_row: int, n_rows: int, n_features: int, seed: int, classes: int) -> Block:
    """Make the blocks that the rows lie in, and cut the rows out of them."""
    if classes not in CLASSES:
        raise ValueError(f"classes must be one of {CLASSES}: got {classes}")
    readings = np.empty((n_features, n_rows), np.float32)
    target, machine = np.empty(n_rows, np.int8), np.empty(n_rows, np.int8)
    done = 0
    while done < n_rows:
        number, start = divmod(first_row + done, _BLOCK)
        stop = min(_BLOCK, start + n_rows - done)
        block = _block(number, n_features, seed, classes).rows(start, stop)
        here = slice(done, done + stop - start)
        readings[:, here], target[here], machine[here] = block.readings, block.target, block.machine
        done = here.stop
    return Block(readings, target, machine)


def _block(number: int, n_features: int, seed: int, classes: int) -> Block:
    """Make a whole block, with a generator of its own."""
    rng = np.random.Generator(np.random.SFC64([seed, number]))
    states = _states(rng, number)
    target = _target(rng, states, classes)
    busy = states[_SPEED] + rng.standard_normal(_BLOCK, np.float32)
    machine = np.digitize(busy, [-1, 0, 1]).astype(np.int8)
    readings = np.empty((n_features, _BLOCK), np.float32)
    for out, sensor in zip(readings, sensors(n_features, seed), strict=True):
        _read(rng, sensor, states, out)
    return Block(readings, target, machine)


def _states(rng: np.random.Generator, number: int) -> NDArray[np.float32]:
    """Draw the hidden states; the heat follows the day and the load."""
    states = rng.standard_normal((_STATES, _BLOCK), np.float32)
    day = np.sin((np.arange(_BLOCK) + number * _BLOCK) % _DAY * (2 * np.pi / _DAY))
    states[_HEAT] = 0.6 * states[_HEAT] + 0.6 * day + 0.4 * states[_LOAD]
    return states


def _target(rng: np.random.Generator, states: NDArray[Any], classes: int) -> NDArray[np.int8]:
    load, speed, heat, wear = states
    strain = 1.5 * wear + 3 * np.maximum(load, 0) * (speed > 0) - 1
    strain += 0.3 * rng.standard_normal(_BLOCK, np.float32)
    target = strain > 0
    return (target + 2 * (heat > 0.5) if classes == 4 else target).astype(np.int8)


def _read(
    rng: np.random.Generator, sensor: Sensor, states: NDArray[Any], out: NDArray[np.float32]
) -> None:
    """Write what a sensor reads."""
    _draw_noise(rng, out)
    if sensor.shape == "heavy":
        out *= np.abs(out)
    if sensor.state is not None:
        out *= np.float32(sensor.noise)
        out += states[sensor.state]
    if sensor.shape == "bent":
        np.tanh(out, out=out)
    elif sensor.shape == "tenths":
        np.divide(np.rint(out * np.float32(10), out=out), np.float32(10), out=out)
    elif sensor.shape == "levels":
        np.clip(np.rint(out, out=out), -2, 2, out=out)
    if sensor.drops_out:
        out[rng.random(_BLOCK, np.float32) < _MISSING] = np.nan


def _draw_noise(rng: np.random.Generator, out: NDArray[np.float32]) -> None:
    """Fill with normal noise of 65,536 values, which are drawn in a third of the usual time."""
    np.take(_quantiles(), rng.integers(0, 2**16, len(out), np.uint16), out=out, mode="wrap")


@cache
def _quantiles() -> NDArray[np.float32]:
    normal = NormalDist()
    return np.array([normal.inv_cdf((j + 0.5) / 2**16) for j in range(2**16)], np.float32)


def _groups(first: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield where each row group begins, and its rows."""
    return ((at, min(size, end - at)) for at in range(first, end, size))


def _table(block: Block, n_features: int, seed: int, with_machine: bool) -> pa.Table:
    names = [sensor.name for sensor in sensors(n_features, seed)]
    columns = dict(zip(names, map(pa.array, block.readings), strict=True))
    if with_machine:
        codes = pa.array(block.machine)
        columns[MACHINE] = pa.DictionaryArray.from_arrays(codes, list(MACHINES)).cast(pa.string())
    return pa.table({**columns, TARGET: pa.array(block.target)})


def _write_file(path: Path, tables: Iterator[pa.Table]) -> None:
    """Write a file; random numbers gain nothing from compression."""
    first = next(tables)
    with pq.ParquetWriter(
        path, first.schema, compression="none", use_dictionary=[MACHINE], write_statistics=[TARGET]
    ) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write Parquet files of synthetic sensor data.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--classes", type=int, choices=CLASSES, default=2)
    parser.add_argument("--machine", action="store_true", help="add a column of text")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="files written at a time")
    request = parser.parse_args()
    start = time.perf_counter()
    paths = write_parquet(
        request.folder,
        request.rows,
        request.features,
        request.files,
        request.seed,
        classes=request.classes,
        with_machine=request.machine,
        jobs=request.jobs,
    )
    taken = time.perf_counter() - start
    size = sum(path.stat().st_size for path in paths)
    print(
        f"{request.rows:,} rows, {size / 1e9:.2f} GB, in {taken:.1f} s: "
        f"{request.rows / taken:,.0f} rows a second"
    )


if __name__ == "__main__":
    main()
