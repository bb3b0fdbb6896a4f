"""Write a test that a board runs: rows, and what the simulator decides on them to the last bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.export.agreement import drawn_rows
from solah.export.blob import Blob
from solah.export.c_writer import float_literal, source_environment
from solah.export.fixed_simulator import FixedSimulator
from solah.model.encode import encode
from solah.model.format import model_hash
from solah.model.signals import FeatureKind
from solah.signals.stream import SignalStream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.data import Table
    from solah.export.c_export import Export
    from solah.export.float_simulator import FloatSimulator
    from solah.export.policy_tables import Verdicts
    from solah.export.simulator import Reason
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.signals import Signals

N_REASONS = 3
"""How many reasons of each decision are compared."""
NO_RULE = 2**16 - 1
_N_MORE = 5
_MOST_ROWS = 10_000
_MOST_REPEATS, _MOST_JUDGED = 8, 100
_MOST_READING = 3e38  # C has no literal for more
_ONE_UNKNOWN = 7  # of this many readings of a row, where some are missing
_AS_LARGE_AS_SAMPLES = (
    *(FeatureKind.MEAN, FeatureKind.MIN, FeatureKind.MAX, FeatureKind.RMS),
    *(FeatureKind.RANGE, FeatureKind.DEVIATION, FeatureKind.PERCENTILE),
)
_NOISE = 1
_GAP = 29  # numbers of a noise of which the last is missing


@dataclass(frozen=True, eq=False)
class Vectors:
    """Rows, and what a device must make of them.

    Attributes
    ----------
    readings : (n_rows, n_features) as the device reads them: float32, or integers
    decisions : (n_rows,) the places of classes, or the estimated numbers
    beliefs : (n_rows, n_classes); no columns where a number is estimated
    reasons : of each row the rules that add most, and how much
    """

    readings: NDArray[Any]
    decisions: NDArray[Any]
    beliefs: NDArray[Any]
    reasons: tuple[tuple[Reason, ...], ...]

    @property
    def n_bytes(self) -> int:
        """The flash that they take in C."""
        number = int(self.readings.itemsize)
        belief = 2 if self.beliefs.dtype.kind in "iu" else 4
        n_classes = int(self.beliefs.shape[1])
        decision = belief * n_classes + (2 if n_classes else number)
        row = number * int(self.readings.shape[1]) + decision + N_REASONS * (2 + number)
        return len(self.readings) * row


@dataclass(frozen=True, eq=False)
class Noise:
    """Samples that a device makes for itself, and the windows that they complete.

    Attributes
    ----------
    n_samples : how many samples are pushed
    units : of each measured channel the power of two that the noise, 16 bits, is multiplied with;
        of integers the zero that is added to it
    windows : what must come out at the end of each window
    """

    n_samples: int
    units: tuple[float, ...]
    windows: Vectors


@dataclass(frozen=True, eq=False)
class Sequence:
    """The first rows in the order of time, each repeated, and the decisions by the policy.

    Attributes
    ----------
    n_repeats : how many times each row is taken before the next one
    verdicts : what must come out, one by one
    """

    n_repeats: int
    verdicts: Verdicts

    @property
    def n_bytes(self) -> int:
        """The flash that they take in C: two places, abstain_reasons, and a number of pairs."""
        return 6 * len(self.verdicts.decisions)


def self_test(
    model: Model, export: Export | Blob, table: Table | None = None, n_rows: int | None = None
) -> dict[str, str]:
    """Write a test of an export, which its device runs.

    Parameters
    ----------
    model : Model
        The model file.
    export : Export or Blob
        What was made of it.
    table : Table, default=None
        Rows to take some from; None for rows drawn around the words of the model.
    n_rows : int, default=None
        How many rows are decided on; None for one of each class and five more. 0 for no test.

    Returns
    -------
    files : dict of file name to text
        Functions that decide on the rows and return the first difference, and a program around
        them: in C, a header and a source; for MicroPython a module, for a blob both.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.export import export_c, self_test
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> export = export_c(model, name="wine", numbers="q15")
    >>> sorted(self_test(model, export, wine.table))
    ['wine_test.c', 'wine_test.h']
    """
    if n_rows is not None and not 0 <= n_rows <= _MOST_ROWS:
        raise ParameterError(
            f"a test has from 0 to {_MOST_ROWS:,} rows (--test-rows). Got {n_rows} instead."
        )
    if n_rows == 0:
        return {}
    rows = None if table is None else encode(table, model.features)
    chosen = choose_rows(model, export.simulator, rows, n_rows)
    values = _values(model, export, chosen)
    templates = ["test.h.j2", "test.c.j2"]
    if isinstance(export, Blob):
        templates += [] if export.public_key else ["test.py.j2"]
    elif f"{export.name}.py" in export.files:
        templates = ["test.py.j2"]
    environment = source_environment()
    return {
        f"{export.name}_{template.removesuffix('.j2')}": environment.get_template(template).render(
            **values
        )
        for template in templates
    }


def choose_rows(
    model: Model,
    simulator: FloatSimulator | FixedSimulator,
    rows: Float | None,
    n_rows: int | None = None,
) -> Float:
    """Choose rows that show most of a model.

    First one of each class that is decided on; then one of which nothing is known, the lower and
    the upper ends of all readings, and rows with some missing readings and without, in turn.

    Parameters
    ----------
    model : the model
    simulator : decides as the device does
    rows : (n_rows, n_features) rows to take some from; None for drawn ones
    n_rows : how many; None for one of each class and five more
    """
    drawn = drawn_rows(model)
    given = drawn if rows is None or not len(rows) else rows
    wanted = len(model.target.classes) + _N_MORE if n_rows is None else n_rows
    found: list[Float] = []
    if not simulator.is_number:
        pool = np.concatenate([given, drawn])
        _, first = np.unique(simulator.decide(pool)[0], return_index=True)
        found += list(pool[first])
    found += [np.full(len(model.features), np.nan), *_ends(model)]
    places = np.linspace(0, len(given) - 1, max(wanted - len(found), 1)).astype(int)
    for number, row in enumerate(given[places]):
        is_unknown = np.arange(number, number + len(row)) % _ONE_UNKNOWN == 0
        found.append(np.where(is_unknown & (number % 2 == 0), np.nan, row))
    return np.clip(found[:wanted], -_MOST_READING, _MOST_READING)


def vectors_of(simulator: FloatSimulator | FixedSimulator, rows: Float) -> Vectors:
    """Decide on rows as the device does."""
    readings: NDArray[Any] = np.asarray(rows, dtype=np.float32)
    if isinstance(simulator, FixedSimulator):
        readings = simulator.prepare(rows)
    reasons = tuple(tuple(row) for row in simulator.why(rows, N_REASONS))
    if simulator.is_number:
        nothing = np.empty((len(rows), 0), dtype=readings.dtype)
        return Vectors(readings, simulator.estimate(rows), nothing, reasons)
    return Vectors(readings, *simulator.decide(rows), reasons)


def sequence_of(simulator: FloatSimulator | FixedSimulator, rows: Float) -> Sequence | None:
    """Repeat each row until its decision is stable; None without policy and domain."""
    if simulator.policy is None:
        return None
    n_repeats = min(max(simulator.policy.votes, simulator.policy.min_hold) + 1, _MOST_REPEATS)
    judged = np.repeat(rows, n_repeats, axis=0)[:_MOST_JUDGED]
    return Sequence(n_repeats, simulator.judge(judged))


def _ends(model: Model) -> Iterator[Float]:
    """Yield a row below all that was learned from, and one above; of codes the first and last."""
    lowest = [a.peaks[0] - (0 if a.is_coded else _beyond(a.peaks)) for a in model.features]
    highest = [a.peaks[-1] + (0 if a.is_coded else _beyond(a.peaks)) for a in model.features]
    yield np.array(lowest, dtype=np.float64)
    yield np.array(highest, dtype=np.float64)


def _beyond(peaks: tuple[float, ...]) -> float:
    return 0.5 * (peaks[-1] - peaks[0]) or 1.0


def noise_of(model: Model, export: Export) -> Noise | None:
    """Make samples for two windows, and compute what must come out; None without signals."""
    if export.signals is None:
        return None
    signals = export.signals
    n_samples = signals.window + signals.step
    stream = SignalStream(signals, lambda _: (None, np.empty(0)), export.features)
    if export.features is None:
        sizes = (size_of_samples(model, signals, channel.name) for channel in signals.measured)
        units = tuple(map(_unit_of, sizes))
        samples = _noise(n_samples, units)
    else:
        channels = [export.features.units[one.name] for one in signals.measured]
        units = tuple(float(unit.zero) for unit in channels)
        stored = _noise(n_samples, (1.0,) * len(channels))
        values = [
            unit.gain * (stored[:, place] - unit.level) for place, unit in enumerate(channels)
        ]
        samples = np.column_stack(values)
    pushed = [stream.push(sample) for sample in samples.tolist()]
    rows = np.array([one.readings for one in pushed if one is not None])
    return Noise(n_samples, units, vectors_of(export.simulator, rows))


def size_of_samples(model: Model, signals: Signals, channel: str) -> float:
    """Return about how large the samples of a channel were, from what was learned of them."""
    peaks = {feature.name: feature.peaks for feature in model.features}
    channels = {channel} | {one.name for one in signals.channels if channel in one.axes}
    sizes = [
        max(abs(peaks[name][0]), abs(peaks[name][-1]))
        for name, computed in zip(signals.names, signals.features, strict=True)
        if channels & set(computed.channels) and computed.kind in _AS_LARGE_AS_SAMPLES
    ]
    return float(min(max(max(sizes, default=1.0), 2.0**-30), 2.0**30))


def _unit_of(size: float) -> float:
    """Return the power of two that makes a noise of 16 bits about so large."""
    return float(2.0 ** (round(np.log2(size)) - 15))


def _noise(n_samples: int, units: tuple[float, ...]) -> Float:
    """Return the samples that ``test.c.j2`` makes: exact in float32."""
    state, samples = _NOISE, np.empty((n_samples, len(units)))
    for number in range(samples.size):
        state = (state * 1664525 + 1013904223) % 2**32
        value = ((state >> 16) - 2**15) * units[number % len(units)]
        samples.flat[number] = np.nan if number % _GAP == _GAP - 1 else value
    return samples


def _values(model: Model, export: Export | Blob, rows: Float) -> dict[str, Any]:
    """Gather what the templates show."""
    vectors, sequence = vectors_of(export.simulator, rows), sequence_of(export.simulator, rows)
    noise = None if isinstance(export, Blob) else noise_of(model, export)
    is_fixed = export.numbers == "q15"
    name = export.name
    return {
        "name": name,
        "NAME": name.upper(),
        "target": model.target.name,
        "hash": model_hash(model),
        "is_number": export.simulator.is_number,
        "is_fixed": is_fixed,
        "blob": export.data if isinstance(export, Blob) else None,
        "key": export.public_key if isinstance(export, Blob) else b"",
        "has_reasons": isinstance(export, Blob) or export.style == "tables",
        "learns": not isinstance(export, Blob) and export.learns,
        "number": "int32_t" if is_fixed else "float",
        "belief": "uint16_t" if is_fixed else "float",
        "write": _integers_of_c if is_fixed else _floats_of_c,
        "vectors": vectors,
        "sequence": sequence,
        "noise": noise,
        "first_noise": _NOISE,
        "gap": _GAP,
        "n_reasons": N_REASONS,
        "no_rule": NO_RULE,
        "padded": _padded,
        "n_bytes": vectors.n_bytes
        + (sequence.n_bytes if sequence else 0)
        + (noise.windows.n_bytes if noise else 0),
    }


def _padded(vectors: Vectors, part: str) -> list[Any]:
    """List the rules or the amounts of reasons, as many for every row."""
    nothing = NO_RULE if part == "rule" else 0
    every = ([getattr(reason, part) for reason in row] for row in vectors.reasons)
    return [one for row in every for one in [*row, *[nothing] * (N_REASONS - len(row))]]


def _integers_of_c(numbers: NDArray[Any]) -> list[str]:
    return ["SOLAH_UNKNOWN" if one == -(2**31) else str(int(one)) for one in np.ravel(numbers)]


def _floats_of_c(numbers: NDArray[Any]) -> list[str]:
    return ["NOT_A_NUMBER" if np.isnan(one) else float_literal(one) for one in np.ravel(numbers)]
