"""Measure what an export costs a target: flash, RAM, stack and instructions."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from solah.device.fixed_twin import FixedTwin
from solah.export.targets import measure

if TYPE_CHECKING:
    from solah.export.exporting import Export
    from solah.export.targets import Footprint, Target
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Model

_PROBE = """
#include "{name}.h"
#include "solah_probe.h"

void solah_probe(const void *row, void *answer)
{{
    {call}
}}
"""
_DECIDE = "(void){name}_decide((const {reading} *)row, ({belief} *)answer);"
_LEARN = """static {name}_memory memory;
    *(int *)answer = {name}_learn(&memory, (const {reading} *)row, 0);"""
_ESTIMATE = "*({reading} *)answer = {name}_estimate((const {reading} *)row);"


def footprint(export: Export, target: Target, rows: Float) -> Footprint:
    """Measure an exported model on a target: its decisions or, if it learns, its learning.

    Parameters
    ----------
    export : Export
    target : Target
        As ``solah.export.targets.find_target`` returns it.
    rows : ndarray of shape (n_rows, n_attributes)
        Readings to count instructions on.

    Returns
    -------
    footprint : Footprint
        Flash and RAM of the model and the helpers that it pulls in, the stack and the instructions
        of a decision, both the most over the rows.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file_name, text in export.files.items():
            (folder / file_name).write_text(text, encoding="utf-8")
        (folder / "probe.c").write_text(_probe(export), encoding="utf-8")
        sources = [folder / f"{export.name}.c", folder / "probe.c"]
        return measure(target, sources, _readings(export, rows), includes=[folder])


def sample_rows(model: Model, n_rows: int, seed: int = 0) -> Float:
    """Draw readings, for want of measured ones: near a word as often as the training rows were."""
    rng = np.random.default_rng(seed)
    return np.column_stack([_sample(rng, one, n_rows) for one in model.attributes])


def _sample(rng: np.random.Generator, attribute: Attribute, n_rows: int) -> Float:
    peaks, masses = np.array(attribute.peaks), np.array(attribute.ignorance)
    near = rng.choice(len(peaks), n_rows, p=masses / masses.sum())
    if attribute.is_coded:
        return near.astype(np.float64)
    beside = np.clip(near + rng.choice([-1, 1], n_rows), 0, len(peaks) - 1)
    # Few readings lie on the way to a word that has little of the mass.
    is_between = rng.uniform(size=n_rows) * masses[near] < masses[beside]
    share = np.where(is_between, rng.uniform(size=n_rows), 0.0)
    return np.asarray((1 - share) * peaks[near] + share * peaks[beside])


def _probe(export: Export) -> str:
    is_fixed = isinstance(export.twin, FixedTwin)
    types = {
        "reading": "int32_t" if is_fixed else "float",
        "belief": "uint16_t" if is_fixed else "float",
    }
    is_number = f"{export.name}_estimate(" in export.files[f"{export.name}.h"]
    call = _LEARN if export.learns else (_ESTIMATE if is_number else _DECIDE)
    return _PROBE.format(name=export.name, call=call.format(name=export.name, **types))


def _readings(export: Export, rows: Float) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    if isinstance(export.twin, FixedTwin):
        return export.twin.prepare(rows)
    return rows.astype(np.float32)
