"""Measure what an export costs a platform: flash, RAM, stack and instructions."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solah.exceptions import ParameterError
from solah.export.fixed_simulator import FixedSimulator
from solah.export.platforms import measure

if TYPE_CHECKING:
    from solah.export.exporting import Export
    from solah.export.platforms import Footprint, Platform
    from solah.kernels.arrays import Float
    from solah.model.document import Model
    from solah.model.features import Feature

_PROBE = """
#include "{name}.h"
#include "solah_probe.h"

void solah_probe(const void *row, void *answer)
{{
    {call}
}}
"""
_DECIDE = "(void){name}_decide({row}, ({belief} *)answer);"
_JUDGE = """static {name}_state state;
    static int is_begun;
    {name}_verdict verdict;
    if (!is_begun) {{
        {name}_settle_start(&state);
        is_begun = 1;
    }}
    (void){name}_judge(&state, {row}, ({belief} *)answer, &verdict);"""
_LEARN = """static {name}_memory memory;
    *(int *)answer = {name}_learn(&memory, {row}, 0);"""
_ESTIMATE = "*({reading} *)answer = {name}_estimate({row});"
_PUSH = """static {name}_signals signals;
    static int is_started;
    if (!is_started) {{
        {name}_start(&signals);
        is_started = 1;
    }}
    if ({name}_push(&signals, (const float *)row)) {{
        {then}
    }}"""
_MEASURE = """{reading} readings[{NAME}_N_READINGS];
        {name}_measure(&signals, readings);
        {decide}"""


@dataclass(frozen=True)
class SignalFootprint:
    """What a model of samples costs on a platform.

    Attributes
    ----------
    platform : str
        The platform's name.
    flash, ram, stack : int
        Bytes, as :class:`~solah.export.platforms.Footprint` has them; the last samples are in the
        RAM.
    sample : int
        The most instructions that taking a sample took.
    window : int
        The most that the readings of a window and the decision took.
    second : float
        The instructions of a second of signal.
    unit : str
        What was counted: ``"instructions"``, or ``"cycles"`` on AVR.
    """

    platform: str
    flash: int
    ram: int
    stack: int
    sample: int
    window: int
    second: float
    unit: str


def footprint(export: Export, platform: Platform, rows: Float) -> Footprint:
    """Measure an exported model on a platform: its decisions or, if it learns, its learning.

    Of a model with a policy, decisions follow the policy, and its state is in the RAM.

    Parameters
    ----------
    export : Export
    platform : Platform
        As ``solah.export.platforms.find_platform`` returns it.
    rows : ndarray of shape (n_rows, n_features)
        Readings to count instructions on.

    Returns
    -------
    footprint : Footprint
        Flash and RAM of the model and the helpers that it pulls in, the stack and the instructions
        of a decision, both the most over the rows.
    """
    return _measured(export, platform, _call(export), _readings(export, rows))


def signal_footprint(export: Export, platform: Platform, samples: Float) -> SignalFootprint:
    """Measure an exported model of samples on a platform: each sample, each window, each second.

    Parameters
    ----------
    export : Export
    platform : Platform
    samples : ndarray of shape (n_samples, n_channels)
        Of the measured channels, for two windows at least.

    Returns
    -------
    footprint : SignalFootprint
    """
    if export.signals is None or export.learns:
        raise ParameterError("only a model of samples that does not learn is measured so")
    types = _types(export)
    call = _call(export, "readings")
    whole = _MEASURE.format(name=export.name, NAME=export.name.upper(), decide=call, **types)
    rows = np.asarray(samples, dtype=np.float32)
    pushed, decided = (
        _measured(export, platform, _PUSH.format(name=export.name, then=then), rows, warm_up=1)
        for then in ("*(int *)answer = 1;", whole)
    )
    window = decided.instructions - pushed.instructions
    per_second = export.signals.rate
    return SignalFootprint(
        platform=platform.name,
        flash=decided.flash,
        ram=decided.ram,
        stack=decided.stack,
        sample=pushed.instructions,
        window=window,
        second=per_second * (pushed.mean_instructions + window / export.signals.step),
        unit=decided.unit,
    )


def _measured(
    export: Export,
    platform: Platform,
    call: str,
    rows: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
    warm_up: int = 0,
) -> Footprint:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file_name, text in export.files.items():
            (folder / file_name).write_text(text, encoding="utf-8")
        probe = _PROBE.format(name=export.name, call=call)
        (folder / "probe.c").write_text(probe, encoding="utf-8")
        sources = [folder / f"{export.name}.c", folder / "probe.c"]
        return measure(platform, sources, rows, includes=[folder], warm_up=warm_up)


def sample_rows(model: Model, n_rows: int, seed: int = 0) -> Float:
    """Draw readings, for want of measured ones: near a word as often as the training rows were."""
    rng = np.random.default_rng(seed)
    return np.column_stack([_sample(rng, one, n_rows) for one in model.features])


def _sample(rng: np.random.Generator, feature: Feature, n_rows: int) -> Float:
    peaks, masses = np.array(feature.peaks), np.array(feature.mean_masses)
    near = rng.choice(len(peaks), n_rows, p=masses / masses.sum())
    if feature.is_coded:
        return near.astype(np.float64)
    beside = np.clip(near + rng.choice([-1, 1], n_rows), 0, len(peaks) - 1)
    # Few readings lie on the way to a word that has little of the mass.
    is_between = rng.uniform(size=n_rows) * masses[near] < masses[beside]
    share = np.where(is_between, rng.uniform(size=n_rows), 0.0)
    return np.asarray((1 - share) * peaks[near] + share * peaks[beside])


def _call(export: Export, row: str = "(const {reading} *)row") -> str:
    """Return what makes one decision, from a row to an answer."""
    types = _types(export)
    if export.learns:
        call = _LEARN
    elif export.simulator.is_number:
        call = _ESTIMATE
    else:
        call = _DECIDE if export.simulator.policy is None else _JUDGE
    return call.format(name=export.name, row=row.format(**types), **types)


def _types(export: Export) -> dict[str, str]:
    is_fixed = isinstance(export.simulator, FixedSimulator)
    return {
        "reading": "int32_t" if is_fixed else "float",
        "belief": "uint16_t" if is_fixed else "float",
    }


def _readings(export: Export, rows: Float) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    if isinstance(export.simulator, FixedSimulator):
        return export.simulator.prepare(rows)
    return rows.astype(np.float32)
