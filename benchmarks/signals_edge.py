"""What the way from samples to decisions costs on devices, beside emlearn with the same features.

    pip install --no-deps seglearn; pip install emlearn
    python benchmarks/signals_edge.py [--models default …] [--board NAME,MHZ,UA_PER_MHZ,VOLTS]
    python benchmarks/signals_edge.py --platform cortex-m0plus --peers

Models learn from all people of the smartwatch's recordings (see signals.py, which has their
accuracy), are exported, compiled for a Cortex-M4F or M0+ (-Os) and run under QEMU on 12 s of a
recording. The peers are a tree and a forest of 10 trees that emlearn writes as C; their features
are computed by our C, all that they ask for and no others, and our own decisions are not linked.
Instructions are the most of a sample and of a window; a decision comes once a second.

Energy is what computing takes, without sensors and sleep: instructions x cycles per instruction x
charge per cycle x volts. Cycles per instruction and the boards below are inputs, not measured:
round figures in the order of what datasheets state for running from flash. Give your own by
--board.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from edge import QUIET, emlearn_code, is_installed, written
from sklearn.base import clone

from signals import CHANNELS, MODELS, model_of, watch_recordings, watch_windows
from solah import RuleClassifier
from solah.export import export_c
from solah.export.footprint import SignalFootprint, signal_footprint
from solah.export.platforms import find_platform, measure
from solah.signals import with_signals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.export import Export
    from solah.export.platforms import Platform
    from solah.model import Model
    from solah.signals import Windows

PLATFORMS = ("cortex-m4f", "cortex-m0plus")
OURS = ("default", "rules-200", "rules-80-half")
PEERS = ("cart", "forest-10")
N_SAMPLES = 600
# Loads, branches and divisions take more than a cycle.
CYCLES_PER_INSTRUCTION = 1.3
PROBE = """
#include "watch.h"
#include "solah_probe.h"
#include "quiet.h"
void solah_probe(const void *row, void *answer)
{
    static watch_signals signals;
    static int is_started;
    if (!is_started) {
        watch_start(&signals);
        is_started = 1;
    }
    if (watch_push(&signals, (const float *)row)) {
        %s
    }
}
"""
DECIDE = """float readings[WATCH_N_READINGS];
        watch_measure(&signals, readings);
        *(int *)answer = peer_predict(readings, WATCH_N_READINGS);"""


@dataclass(frozen=True)
class Board:
    """A board: its clock, and what running takes."""

    name: str
    mhz: float
    microamperes_per_mhz: float
    volts: float

    @classmethod
    def parse(cls, text: str) -> Board:
        """Read a board from an option."""
        name, *numbers = text.split(",")
        if len(numbers) != 3:
            raise argparse.ArgumentTypeError("a board is NAME,MHZ,UA_PER_MHZ,VOLTS")
        return cls(name, *map(float, numbers))

    def share(self, instructions: float) -> float:
        """Return the share of the clock that instructions per second take."""
        return instructions * CYCLES_PER_INSTRUCTION / (self.mhz * 1e6)

    def microwatts(self, instructions: float) -> float:
        """Return the energy of instructions per second: microjoules per second of signal."""
        return self.share(instructions) * self.mhz * self.microamperes_per_mhz * self.volts


@dataclass(frozen=True)
class Measured:
    """A model on the device, in float or fixed point."""

    name: str
    numbers: str
    n_features: int
    cost: SignalFootprint

    def line(self) -> str:
        """Return a line of the table."""
        found = self.cost
        sizes = f"{self.n_features:>9}{found.flash:>9,}{found.ram:>7,}{found.stack:>7,}"
        counts = f"{found.sample:>8,}{found.window:>11,}{found.second:>12,.0f}"
        share = f"{found.second / 80e6:>11.2%}"
        return f"  {self.name:<15}{self.numbers:<8}{sizes}{counts}{share}"


BOARDS = (
    Board("nRF52840", 64, 52, 3.0),
    Board("STM32L476", 80, 110, 3.0),
    Board("STM32F411", 100, 130, 3.3),
    Board("SAMD51", 120, 65, 3.3),
)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=OURS, choices=OURS)
    parser.add_argument("--peers", nargs="*", default=PEERS, choices=PEERS)
    parser.add_argument("--platform", default=PLATFORMS[0], choices=PLATFORMS)
    parser.add_argument("--board", action="append", type=Board.parse, default=[])
    options = parser.parse_args(words)
    windows, platform = watch_windows(), find_platform(options.platform)
    print(f"  {'model':<15}{'numbers':<8}{'features':>9}{'flash':>9}{'RAM':>7}", end="")
    print(f"{'stack':>7}{'sample':>8}{'window':>11}{'second':>12}{'of 80 MHz':>11}")
    seconds: dict[str, float] = {}
    for one in chain(
        ours(options.models, windows, platform), peers(options.peers, windows, platform)
    ):
        print(one.line(), flush=True)
        if one.numbers == "float":
            seconds[one.name] = one.cost.second
    show_energy(seconds, (*BOARDS, *options.board))


def ours(names: Sequence[str], windows: Windows, platform: Platform) -> Iterator[Measured]:
    """Learn from all people, and measure our models."""
    for name in names:
        learner = model_of(name, windows.readings.shape[1]).set_params(feature_types=windows.kinds)
        learner.fit(windows.table, windows.labels.astype(str), groups=windows.groups)
        model = with_signals(learner.model_, windows.signals)
        for numbers in ("float", "q15"):
            export = export_c(model, name="watch", numbers=numbers)
            found = signal_footprint(export, platform, samples_for(export))
            yield Measured(name, numbers, len(model.features), found)


def peers(names: Sequence[str], windows: Windows, platform: Platform) -> Iterator[Measured]:
    """Let emlearn write trees that decide on the features that our C computes."""
    if not names or not is_installed("emlearn"):
        return
    codes = np.unique(windows.labels.astype(str), return_inverse=True)[1]
    for name in names:
        importances = clone(MODELS[name]).fit(windows.readings, codes).feature_importances_
        asked = [windows.signals.names[place] for place in np.flatnonzero(importances)]
        model = reading_model(windows, asked)
        columns = [windows.signals.names.index(one.name) for one in model.features]
        readings = windows.readings[:, columns].astype(np.float32)
        fitted = clone(MODELS[name]).fit(readings, codes)
        yield Measured(name, "float", len(asked), peer_footprint(fitted, model, platform))


def reading_model(windows: Windows, names: Sequence[str]) -> Model:
    """Return a model that asks for features: what it decides does not matter, as nobody asks."""
    learner = RuleClassifier(
        "quantile", interactions=0, required_features=list(names), max_rules=2 * len(names)
    )
    few = windows.take(np.arange(0, len(windows.labels), 10))
    learner.set_params(feature_types=dict.fromkeys(names, "continuous"))
    fitted = learner.fit(few.table.select(names), few.labels.astype(str))
    return with_signals(fitted.model_, windows.signals)


def peer_footprint(fitted: Any, model: Model, platform: Platform) -> SignalFootprint:
    """Measure a peer behind our features; what decides in ours is not linked."""
    export = export_c(model, name="watch", numbers="float")
    assert export.signals is not None
    header, includes = emlearn_code(fitted, "float", "inline")
    counted = []
    for then in ("*(int *)answer = 1;", DECIDE):
        files = {**export.files, "peer.h": header, "quiet.h": QUIET, "probe.c": PROBE % then}
        with written(files) as folder:
            sources = [folder / "watch.c", folder / "probe.c"]
            found = measure(
                platform,
                sources,
                samples_for(export).astype(np.float32),
                includes=(folder, *includes),
                warm_up=1,
            )
        counted.append(found)
    pushed, decided = counted
    window = decided.instructions - pushed.instructions
    second = export.signals.rate * (pushed.mean_instructions + window / export.signals.step)
    return SignalFootprint(
        platform.name,
        decided.flash,
        decided.ram,
        decided.stack,
        pushed.instructions,
        window,
        second,
        decided.unit,
    )


def samples_for(export: Export) -> np.ndarray:
    """Return samples of the channels that an export takes, of the first recording."""
    assert export.signals is not None
    recording = watch_recordings()[0]
    channels = [one.name for one in export.signals.measured]
    assert set(channels) <= set(CHANNELS)
    return np.column_stack([recording.samples[name][:N_SAMPLES] for name in channels])


def show_energy(seconds: dict[str, float], boards: Sequence[Board]) -> None:
    print("\nmicrojoules per second of signal (float), and the share of the clock")
    names = "".join(f"{name:>22}" for name in seconds)
    print(f"  {'board':<12}{'MHz':>5}{'µA/MHz':>8}{'V':>5}{names}")
    for board in boards:
        inputs = f"{board.mhz:>5g}{board.microamperes_per_mhz:>8g}{board.volts:>5g}"
        cells = "".join(
            f"{board.microwatts(one):>12.0f} µJ{board.share(one):>7.2%}" for one in seconds.values()
        )
        print(f"  {board.name:<12}{inputs}{cells}")


if __name__ == "__main__":
    main()
