"""Write the tables of a model as bytes, so that a device can swap models without a new build.

The bytes are what ``c_runtime/solah_blob.h`` and ``py_runtime/blob.py.txt`` open.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from dataclasses import astuple, dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from solah.exceptions import ParameterError, shorten
from solah.export.blob_parts import (
    NO_BITS,
    POLICY_LAYOUT,
    SIGNAL_LAYOUT,
    policy_sections,
    signal_sections,
)
from solah.export.c_writer import (
    asked,
    feature_enumerators,
    python_text,
    rules_of,
    runtime_text,
    source_environment,
    state_enumerators,
)
from solah.export.fixed_simulator import FixedSimulator
from solah.export.fixed_tables import fixed_tables
from solah.export.layout import lay_out
from solah.export.names import check_identifier, distinct
from solah.export.policy_tables import policy_tables
from solah.export.programs import known_by
from solah.export.quoting import one_line
from solah.export.signal_tables import refuse_counts_of_features, signal_tables
from solah.model.format import model_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from solah.data import State
    from solah.explain.rule_text import Rule
    from solah.export.fixed_signals import FixedFeatures
    from solah.export.signal_tables import SignalTables
    from solah.export.tables import GridRow, StageTables, Tables, WalkTables
    from solah.export.units import Counts, Unit
    from solah.model.document import Model
    from solah.model.features import Feature
    from solah.model.signals import Signals

MAGIC = b"SLHB"
VERSION = 6
_BYTE_MARK = 0xFEFF
_HEAD = struct.Struct("<4sHHII")  # what the checksum is not of
_ABOUT = struct.Struct("<8s8sBBH")
_ENTRY = struct.Struct("<HH")
_WORD = 4
_MOST = 2**16 - 1
_MOST_SETS = 255
_ARE_NUMBERS = 2**15
"""What is added to the number of categories where these are numbers."""
_HEADERS = (
    *("solah_blob.h", "solah_blob_check.h", "solah_blob_format.h", "solah_blob_parts.h"),
    *(
        "solah_crc.h",
        "solah_decide.h",
        "solah_fixed.h",
        "solah_fixed_math.h",
        "solah_flash.h",
        "solah_judge.h",
    ),
    *("solah_reading.h", "solah_signals.h", "solah_signals_fixed.h", "solah_tables.h"),
)
_SIMPLER = "fit it with fewer rules, words or inputs, or export it as C"

Rows = list[tuple[float, ...]]
_SCALE = ("gain", "level", "zero")

LAYOUT = {
    "zeros": "i",
    "bits": "h",
    "knots": "h",
    "values": "h",
    "curves": "BBHH",
    "tables": "BBH",
    "grids": "BBBxHHBBBxHHHH",
    "lines": "B",
    "trees": "BBHHH",
    "asked": "BBB",
    "offsets": "H",
    "peaks": "h",
    "inverses": "H",
    "shifts": "B",
    "mean_masses": "H",
    "splits": "b",
    "children": "H",
    "leaves": "h",
    "stages": "BbBBHHHHHHHHH",
    "starts": "i",
    "lost": "H",
    "priors": "i",
    "preference": "i",
    "of_knots": "H",
    "of_states": "H",
    "of_grids": "H",
    "of_nodes": "H",
    "first_node": "H",
    "names": "B",
    "categories": "H",
    "bounds": "dd",
    **POLICY_LAYOUT,
    **SIGNAL_LAYOUT,
}
"""The sections, in the order of the header's list of them, with what a line of each holds."""


@dataclass(frozen=True, eq=False)
class Blob:
    """A model as bytes.

    Attributes
    ----------
    name : what the files are called
    data : the bytes
    files : the files by name: the bytes, the rules a line each, the inputs as a header, and what
        opens blobs in C and in MicroPython
    simulator : decides in Python as the device does, bit for bit
    rules : those that a device may name as reasons, by their numbers
    unit : the size of one unit of scores or of a predicted number
    warnings : what does not fit well into integers, or needs a runtime with more room
    signals : how readings are made of samples; None if they are not
    features : the device's arithmetic from samples to features
    public_key : of whoever signed it; empty for one that is not signed
    counter : grows from one signed blob to the next
    """

    name: str
    data: bytes
    files: Mapping[str, str | bytes]
    simulator: FixedSimulator
    rules: tuple[Rule, ...]
    unit: float
    warnings: tuple[str, ...]
    signals: Signals | None = None
    features: FixedFeatures | None = None
    public_key: bytes = b""
    counter: int = 0
    numbers: ClassVar[Literal["q15"]] = "q15"


def export_blob(
    model: Model, *, name: str = "model", adc: Mapping[str, Counts] | None = None
) -> Blob:
    """Write a model as bytes that devices open and run in place.

    Parameters
    ----------
    model : Model
        The model file.
    name : str, default="model"
        What the files are called.
    adc : mapping of channel name to Counts, default=None
        The channels of samples that are counts of an analog-digital converter.

    Returns
    -------
    blob : Blob

    Raises
    ------
    ParameterError
        The model has more of something than a blob can hold.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export.blob import export_blob
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    >>> blob = export_blob(tree.model_, name="iris")
    >>> [file for file in sorted(blob.files) if file.startswith("iris")]
    ['iris.bin', 'iris_inputs.h', 'iris_rules.txt']
    >>> blob.data[:4]
    b'SLHB'
    """
    check_identifier(name)
    refuse_counts_of_features(model, adc)
    tables = fixed_tables(lay_out(model))
    tables = replace(tables, walks=tuple(breadth_first(walk) for walk in tables.walks))
    _check(tables)
    policy, signals = policy_tables(model, tables), signal_tables(model, tables.units, adc)
    parts = {**policy_sections(policy), **signal_sections(signals)}
    data = _bytes(model, {**_sections(model, tables, signals), **parts}, tables, signals)
    rules = rules_of(model, tables.layout)
    texts = {
        f"{name}_inputs.h": source_environment()
        .get_template("blob_inputs.h.j2")
        .render(**_inputs(model, name, signals)),
        f"{name}_rules.txt": "".join(f"{one_line(rule.short)}\n" for rule in rules),
        **{header: runtime_text(header) for header in _HEADERS},
        "solah_blob.py": _python_runtime(),
    }
    simulator = FixedSimulator(tables, policy)
    return Blob(
        name=name,
        data=data,
        files={f"{name}.bin": data, **texts},
        simulator=simulator,
        rules=rules,
        unit=simulator.unit,
        warnings=(*tables.warnings, *_wants(tables, signals)),
        signals=None if signals is None else signals.signals,
        features=None if signals is None else signals.fixed,
    )


def breadth_first(walk: WalkTables) -> WalkTables:
    """Renumber the nodes of a tree level by level, so that one pass checks its shape."""
    n_sets = np.diff(walk.offsets)
    order = [0]
    for node in order:
        if walk.split[node] >= 0:
            first = int(walk.first_child[node])
            order += range(first, first + int(n_sets[walk.split[node]]))
    places = np.zeros(len(walk.split), dtype=np.int64)
    places[order] = np.arange(len(order))
    split, target = walk.split[order], walk.first_child[order]
    inner = split >= 0
    target[inner] = places[target[inner]]
    return replace(walk, split=split, first_child=target, rules=walk.rules[order])


# --- what fits -------------------------------------------------------------------------------


def _check(tables: Tables) -> None:
    """Refuse what neither runtime would open, and no section would notice."""
    most_sets = max((int(np.diff(walk.offsets).max()) for walk in tables.walks), default=0)
    _refuse_more("focal sets of an input", most_sets, _MOST_SETS)
    _refuse_more("readings", len(tables.units), 255)
    _refuse_more("classes", tables.layout.n_classes, 255)
    _refuse_more("rules", len(tables.layout.rules), _MOST)
    if not tables.layout.is_number and tables.layout.n_values < 1:
        raise ParameterError("a blob needs at least two classes; this model has one")


def _refuse_more(what: str, number: int, most: int) -> None:
    if number > most:
        raise ParameterError(
            f"a blob has {most:,} {what} at the most; this model has {number:,}: {_SIMPLER}"
        )


def _wants(tables: Tables, signals: SignalTables | None) -> Iterator[str]:
    """Name what the runtime must be compiled with, where its usual room is too small."""
    needs = {
        "CLASSES": tables.layout.n_values + 1,
        "STAGES": len(tables.stages),
        "WALKS": len(tables.walks),
        "INPUTS": max((len(walk.inputs) for walk in tables.walks), default=0),
        "DEPTH": max((walk.depth for walk in tables.walks), default=0),
    }
    usual = dict(re.findall(r"#define SOLAH_BLOB_MAX_(\w+) (\d+)", runtime_text("solah_blob.h")))
    of_samples = {} if signals is None else signals.limits
    for limit, need in {**needs, **of_samples}.items():
        if need > int(usual[limit]):
            to_take = "to take samples, " if limit in of_samples else ""
            yield (
                f"{to_take}the device must be compiled with -DSOLAH_BLOB_MAX_{limit}={need}: "
                f"solah_blob.h has room for {usual[limit]} by itself"
            )


# --- bytes -----------------------------------------------------------------------------------


def _bytes(
    model: Model, sections: dict[str, Rows], tables: Tables, signals: SignalTables | None
) -> bytes:
    counts = (tables.layout.n_classes, 0, len(tables.layout.rules))
    hashes = bytes.fromhex(model_hash(model)), input_hash(model, signals)
    about = _ABOUT.pack(*hashes, *counts)
    summed = about + _laid_out(sections)
    size = _HEAD.size + len(summed)
    return _HEAD.pack(MAGIC, VERSION, _BYTE_MARK, size, zlib.crc32(summed)) + summed


def _laid_out(sections: dict[str, Rows]) -> bytes:
    """Put sections one behind the other, and where they are before them."""
    for name, rows in sections.items():
        _refuse_more(f"lines of {name!r}", len(rows), _MOST)
    begin = _HEAD.size + _ABOUT.size + _ENTRY.size * len(LAYOUT)
    directory, contents = b"", b""
    for name, layout in LAYOUT.items():
        place = (begin + len(contents)) // _WORD
        _refuse_more("words of four bytes", place, _MOST)
        directory += _ENTRY.pack(place, len(sections[name]))
        packed = _packed(name, layout, sections[name])
        contents += packed + bytes(-len(packed) % _WORD)
    return directory + contents


def _packed(name: str, layout: str, rows: Rows) -> bytes:
    line = struct.Struct(f"<{layout}")
    packed = []
    for row in rows:
        try:
            packed.append(line.pack(*row))
        except struct.error as error:
            raise ParameterError(
                f"a line of {name!r} does not fit into a blob: {shorten(row)} ({error}): {_SIMPLER}"
            ) from None
    return b"".join(packed)


def _sections(model: Model, tables: Tables, signals: SignalTables | None) -> dict[str, Rows]:
    """List the lines of every section."""
    walks = tables.walks
    preference = () if tables.preference is None else tables.preference.tolist()
    losses = [stage.lost for stage in tables.stages if stage.lost is not None]
    starts = chain.from_iterable(stage.start.tolist() for stage in tables.stages)
    return {
        "zeros": _lines(tables.zeros or ()),
        "bits": _lines(_bits(unit) for unit in tables.units),
        "knots": _lines(tables.knots.tolist()),
        "values": _lines(tables.values.tolist()),
        "curves": [(one.feature, one.n_knots, one.knot, one.value) for one in tables.curves],
        "tables": [(one.feature, one.n_states, one.value) for one in tables.states],
        "grids": [_grid(grid) for grid in tables.grids],
        "lines": _lines(tables.cells.tolist()),
        "trees": [_tree(walk) for walk in walks],
        "asked": [asked(one) for walk in walks for one in walk.inputs],
        **{section: _all_of(walks, field) for section, field in _OF_WALKS.items()},
        "stages": [_stage(stage) for stage in tables.stages],
        "starts": _lines(starts),
        "lost": _lines(share for lost in losses for share in lost.shares.tolist()),
        "priors": _lines(number for lost in losses for number in lost.prior.tolist()),
        "preference": _lines(preference),
        **{part: _lines(numbers) for part, numbers in tables.of_rules.items()},
        "names": _lines(b"".join(_name(text) for text in _names(model, signals))),
        "categories": _lines(_n_categories(feature) for feature in model.features),
        "bounds": [
            bounds
            for feature in model.features
            for bounds in known_by(feature)
            if not isinstance(bounds, str)
        ],
    }


_OF_WALKS = {
    "offsets": "offsets",
    "peaks": "peaks",
    "inverses": "inverses",
    "shifts": "shifts",
    "mean_masses": "mean_masses",
    "splits": "split",
    "children": "first_child",
    "leaves": "values",
}


def _lines(numbers: Iterable[int]) -> Rows:
    return [(number,) for number in numbers]


def _all_of(walks: Iterable[WalkTables], field: str) -> Rows:
    return _lines(number for walk in walks for number in getattr(walk, field).ravel().tolist())


def _bits(unit: Unit) -> int:
    return NO_BITS if unit.is_code else unit.bits


def _grid(grid: GridRow) -> tuple[int, ...]:
    sides = chain.from_iterable(map(astuple, grid.sides))
    return (*map(int, sides), grid.cell, grid.value)


def _tree(walk: WalkTables) -> tuple[int, ...]:
    return (len(walk.inputs), 0, len(walk.peaks), len(walk.split), len(walk.values))


def _stage(stage: StageTables) -> tuple[int, ...]:
    lost = stage.lost
    factor = (0, 0, 0) if lost is None else (lost.shift, 1, lost.factor)
    return (
        int(stage.is_weighed),
        stage.value_bits,
        *factor,
        *stage.parts.firsts_and_numbers(),
    )


def _names(model: Model, signals: SignalTables | None) -> Iterator[str]:
    yield from (feature.name for feature in model.features)
    yield from (str(state) for state in model.target.classes)
    for feature in model.features:
        yield from (str(category) for category in _categories(feature))
    yield from (row.name for row in signals.measured) if signals else ()


def _categories(feature: Feature) -> tuple[State, ...]:
    return feature.categories if feature.is_coded else ()


def _n_categories(feature: Feature) -> int:
    are_numbers = any(not isinstance(one, str) for one in known_by(feature))
    return len(_categories(feature)) + _ARE_NUMBERS * are_numbers


def input_hash(model: Model, signals: SignalTables | None = None) -> bytes:
    """Return the hash of what a device must measure: features in order, and their categories.

    The bits of integers are not part of it: a device asks the blob for them. Of samples, the
    channels in order are, and the values of counts of an ADC.
    """
    inputs: list[Any] = [
        [feature.name, [str(category) for category in _categories(feature)]]
        for feature in model.features
    ]
    if signals is not None and signals.fixed is not None:
        inputs = [
            [row.name, row.every]
            if row.bits is not None
            else [
                row.name,
                row.every,
                *(getattr(signals.fixed.units[row.name], one) for one in _SCALE),
            ]
            for row in signals.measured
        ]
    return sha256(json.dumps(inputs).encode()).digest()[:8]


def _name(text: str) -> bytes:
    """Write a name behind its length, and a zero behind it, so that C can point to it."""
    encoded = text.encode()
    _refuse_more("bytes in a name", len(encoded), _MOST)
    return struct.pack("<H", len(encoded)) + encoded + b"\0"


def _inputs(model: Model, name: str, signals: SignalTables | None) -> dict[str, Any]:
    """Gather what the header of inputs shows."""
    states = state_enumerators(model)
    rows = () if signals is None else signals.measured
    names = [row.name for row in rows]
    return {
        "name": name,
        "NAME": name.upper(),
        "target": model.target.name,
        "inputs": input_hash(model, signals),
        "channels": [
            {"enumerator": enumerator.upper(), "name": row.name}
            for enumerator, row in zip(distinct(names, "channel"), rows, strict=True)
        ],
        "features": [
            {"enumerator": enumerator, "name": one.name, "states": states.get(one.name, ())}
            for enumerator, one in zip(feature_enumerators(model), model.features, strict=True)
        ],
    }


def _python_runtime() -> str:
    """Join the reader of blobs in MicroPython, its sections and the runtime."""
    parts = ("fixed", "lost", "judge", "signals")
    runtime = "\n\n\n".join(python_text(part) for part in parts)
    sections = "".join(f"    {entry!r},\n".replace("'", '"') for entry in LAYOUT.items())
    text = python_text("blob").replace("_SECTIONS = ()", f"_SECTIONS = (\n{sections})")
    return f"{text}\n".replace("# The runtime comes here.\n", f"{runtime}\n")
