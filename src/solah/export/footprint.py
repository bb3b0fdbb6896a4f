"""Measures what an export costs a platform: flash, RAM, stack and instructions.

The flash can also be counted, without a compiler.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.exceptions import ParameterError
from solah.export.fixed_simulator import FixedSimulator
from solah.export.platforms import find_platform, measure, missing_tools
from solah.export.platforms.measuring import measure_flash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from solah.export.blob import Blob
    from solah.export.c_export import Export
    from solah.export.platforms import Footprint, Platform
    from solah.kernels.arrays import Float

_PROBE = """
#define SOLAH_REAL float
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
    {name}_verdict now;
    if (!is_begun) {{
        {name}_settle_start(&state);
        is_begun = 1;
    }}
    (void){name}_judge(&state, {row}, ({belief} *)answer, &now);"""
_LEARN = """static {name}_memory memory;
    *(int *)answer = {name}_learn(&memory, {row}, 0);"""
_ESTIMATE = "*({reading} *)answer = {name}_estimate({row});"
_WHY = """{name}_reason reasons[3];
    (void){name}_why({row}, reasons, 3);
    (void){name}_copy_rule_text(reasons[0].rule, (char *)answer, 8);"""
_CONVERT = """static const int16_t bits[] = {{{bits}}};
    int32_t readings[{NAME}_N_READINGS];
    for (int i = 0; i < {NAME}_N_READINGS; i++) {{
        readings[i] = bits[i] == INT16_MIN ? ((const int32_t *)row)[i]
                                           : solah_reading_of(((const float *)row)[i], bits[i]);
    }}
    {then}"""
_PUSH = """static {name}_signals signals;
    static int is_started;
    if (!is_started) {{
        {name}_start(&signals);
        is_started = 1;
    }}
    if ({name}_push(&signals, (const {reading} *)row)) {{
        {then}
    }}"""
# Behind a volatile pointer, so that nothing is known of the blob when its runtime is compiled.
_BLOB = """#include "solah_blob.h"
#include "solah_probe.h"

static const union {{ uint32_t aligned; uint8_t bytes[{size}]; }} slot = {{.bytes = {{{data}}}}};
static const void *volatile place = slot.bytes;
static solah_blob blob;
static solah_blob_state state;

void solah_probe(const void *row, void *answer)
{{
    static int is_begun;
    const int32_t *const readings = (const int32_t *)row;
    uint16_t *const answers = (uint16_t *)answer;
    if (!is_begun) {{
        is_begun = solah_blob_open(&blob, place, {size}u, NULL) == SOLAH_BLOB_OK;
        solah_blob_settle_start(&blob, &state);
    }}
    {call}
}}
"""
_BLOB_CALLS = {
    "estimate": "*(int32_t *)answer = solah_blob_estimate(&blob, readings); (void)answers;",
    "decide": "(void)solah_blob_decide(&blob, readings, answers);",
    "judge": "solah_blob_verdict now;\n    "
    "(void)solah_blob_judge(&blob, &state, readings, answers, &now);",
}
_MEASURE = """{reading} readings[{NAME}_N_READINGS];
        {name}_measure(&signals, readings);
        {then}"""
_TYPES = {
    "float": {"reading": "float", "belief": "float"},
    "q15": {"reading": "int32_t", "belief": "uint16_t"},
}

# What code takes on a Cortex-M0+ (GCC, -Os), for want of a compiler: a line of plain C, the runtime
# of tables, the conversion of readings, and the helpers of soft floating point.
_LINE, _RUNTIME, _CONVERSION, _SOFT_FLOAT = 8, 700, 200, 3_900
_TABLE = re.compile(r"^static const SOLAH_FLASH (?!char)\w+ \w+\[[^=]*= \{(.*?)\};", re.M | re.S)
_NUMBER = re.compile(r"(?<![\w.])-?[\d.][\w.+-]*")


@dataclass(frozen=True)
class FlashSize:
    """The flash of a model, with the conversion of its readings.

    Attributes
    ----------
    n_bytes : code and tables
    is_measured : whether a compiler measured it, rather than a count of tables and lines
    """

    n_bytes: int
    is_measured: bool

    def __str__(self) -> str:
        """Return the size, and how it is known."""
        how = "measured" if self.is_measured else "counted from tables and lines"
        return f"{self.n_bytes:,} bytes of flash ({how})"


@dataclass(frozen=True)
class SignalFootprint:
    """The memory and instructions that a model of samples takes on a platform.

    Attributes
    ----------
    platform : str
        The platform's name.
    flash, ram, stack : int
        Bytes, as :class:`~solah.export.platforms.Footprint` has them; the last samples are in the
        RAM.
    sample : int
        The maximum number of instructions that taking a sample took.
    window : int
        That of the readings of a window and the decision.
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


def footprint(export: Export | Blob, platform: Platform, rows: Float) -> Footprint:
    """Measure an exported model on a platform: its decisions or, if it learns, its learning.

    Of a model with a policy, decisions follow the policy, and its state is in the RAM.

    Parameters
    ----------
    export : Export or Blob
        With a blob, its runtime, which takes readings and no samples, is measured, too.
    platform : Platform
        As ``solah.export.platforms.find_platform`` returns it.
    rows : ndarray of shape (n_rows, n_features)
        Readings to count instructions on.

    Returns
    -------
    footprint : Footprint
        Flash and RAM of the model and the helpers that it pulls in, the stack and the instructions
        of a decision, both the maximum over the rows.
    """
    simulator = export.simulator
    readings: NDArray[Any] = rows.astype(np.float32)
    if isinstance(simulator, FixedSimulator):
        readings = simulator.prepare(rows)
    from solah.export.blob import Blob

    if not isinstance(export, Blob):
        return _measured(export, platform, _call(export), readings)
    data = export.data
    call = "estimate" if simulator.is_number else "decide"
    call = call if simulator.policy is None else "judge"
    probe = _BLOB.format(size=len(data), data=", ".join(map(str, data)), call=_BLOB_CALLS[call])
    with _folder_of({**export.files, "probe.c": probe}) as folder:
        return measure(platform, [folder / "probe.c"], readings, includes=[folder])


def signal_footprint(export: Export, platform: Platform, samples: Float) -> SignalFootprint:
    """Measure an exported model of samples on a platform: each sample, each window, each second.

    Parameters
    ----------
    export : Export
    platform : Platform
    samples : ndarray of shape (n_samples, n_channels)
        Of the measured channels, for at least two windows.

    Returns
    -------
    footprint : SignalFootprint
    """
    if export.signals is None or export.learns:
        raise ParameterError("only a model of samples that does not learn is measured so")
    rows: NDArray[Any] = np.asarray(samples, dtype=np.float32)
    if export.features is not None:
        named = zip((one.name for one in export.signals.measured), samples.T, strict=True)
        columns = [export.features.counts(name, column) for name, column in named]
        rows = np.column_stack(columns).astype(np.int32)
    decide = _filled(export, _MEASURE, then=_call(export, "readings"))
    pushed, decided = (
        _measured(export, platform, _filled(export, _PUSH, then=then), rows, warm_up=1)
        for then in ("*(int *)answer = 1;", decide)
    )
    window = decided.instructions - pushed.instructions
    return SignalFootprint(
        platform=platform.name,
        flash=decided.flash,
        ram=decided.ram,
        stack=decided.stack,
        sample=pushed.instructions,
        window=window,
        second=export.signals.rate * (pushed.mean_instructions + window / export.signals.step),
        unit=decided.unit,
    )


def flash_size(export: Export, platform: Platform | str = "cortex-m0plus") -> FlashSize:
    """Return the flash of a decision: tables, code, the conversion of readings, and reasons.

    Parameters
    ----------
    export : Export
    platform : Platform or str, default="cortex-m0plus"

    Returns
    -------
    size : FlashSize
        Measured with the compiler of the platform. If that is not installed, bytes of tables and
        lines of code are counted, for a processor without floating point.

    Examples
    --------
    >>> from solah import RuleClassifier, datasets
    >>> from solah.export import export_c, flash_size
    >>> wine = datasets.load("wine")
    >>> model = RuleClassifier(max_rules=12).fit(wine.table, wine.target).model_
    >>> flash_size(export_c(model, numbers="q15")).n_bytes < 2_000
    True
    """
    platform = find_platform(platform) if isinstance(platform, str) else platform
    if missing_tools(platform):
        return FlashSize(counted_flash(export.files, export.name, export.style), False)
    row = "readings" if _bits(export) else "(const {reading} *)row"
    call = _call(export, row)
    if export.gives_reasons:
        call += f"\n    {_filled(export, _WHY, row=_filled(export, row))}"
    if _bits(export):
        call = _filled(export, _CONVERT, bits=", ".join(map(str, _bits(export))), then=call)
    with _written(export, call) as (sources, folder):
        row_bytes = 4 * len(export.simulator.features)
        return FlashSize(measure_flash(platform, sources, row_bytes, includes=[folder]), True)


def counted_flash(files: Mapping[str, str], name: str, style: str) -> int:
    """Count the flash of generated C: numbers of tables, and lines of code.

    Parameters
    ----------
    files : the files by name
    name : that of the model
    style : ``"plain"`` or ``"tables"``
    """
    is_float = "solah_float_math.h" in files
    source = re.sub(r"/\*.*?\*/", "", files[f"{name}.c"], flags=re.S)
    code = source.partition("solah_find_class_name")[0].partition("solah_rules rules")[0]
    n_numbers = sum(len(_NUMBER.findall(table)) for table in _TABLE.findall(code))
    lines = re.findall(r"[;{]$", _TABLE.sub("", code), re.M)
    numbers = n_numbers * (4 if is_float else 2)
    own = _LINE * len(lines) if style == "plain" else _RUNTIME
    return numbers + own + (_SOFT_FLOAT if is_float else _CONVERSION)


def _call(export: Export, row: str = "(const {reading} *)row") -> str:
    """Return what makes one decision, from a row to an answer."""
    if export.learns:
        call = _LEARN
    elif export.simulator.is_number:
        call = _ESTIMATE
    else:
        call = _DECIDE if export.simulator.policy is None else _JUDGE
    return _filled(export, call, row=_filled(export, row))


def _filled(export: Export, text: str, **parts: str) -> str:
    return text.format(
        name=export.name, NAME=export.name.upper(), **_TYPES[export.numbers], **parts
    )


def _bits(export: Export) -> list[int]:
    """Return the bits of readings that are converted; empty if none is."""
    simulator = export.simulator
    if export.signals is not None or not isinstance(simulator, FixedSimulator):
        return []
    is_taken = [unit.is_code or unit.counts is not None for unit in simulator.units]
    bits = [unit.bits for unit in simulator.units]
    found = [-(2**15) if taken else n for taken, n in zip(is_taken, bits, strict=True)]
    return [] if all(is_taken) else found


@contextmanager
def _folder_of(files: Mapping[str, str | bytes]) -> Iterator[Path]:
    """Write files into a folder that does not stay."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (folder / file).write_bytes(data)
        yield folder


@contextmanager
def _written(export: Export, call: str) -> Iterator[tuple[list[Path], Path]]:
    """Write an export, and a probe that calls it, into a folder that does not stay."""
    probe = _PROBE.format(name=export.name, call=call)
    with _folder_of({**export.files, "probe.c": probe}) as folder:
        yield [folder / f"{export.name}.c", folder / "probe.c"], folder


def _measured(
    export: Export, platform: Platform, call: str, rows: NDArray[np.generic], warm_up: int = 0
) -> Footprint:
    with _written(export, call) as (sources, folder):
        return measure(platform, sources, rows, includes=[folder], warm_up=warm_up)
