"""Write tables as C99 that a person can read and a device can run."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version as package_version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from solah.exceptions import ParameterError
from solah.explain.rules import part_rules
from solah.export.checksum import checksum, summed_parts, summed_tables
from solah.export.fixed_tables import LEARNT_BITS
from solah.export.footprint import counted_flash
from solah.export.names import distinct, distinct_states
from solah.export.plain import plain_parts
from solah.export.policy_tables import state_bytes
from solah.export.programs import known_by
from solah.export.quoting import c_string, comment, json_string, kconfig, one_line
from solah.model.format import model_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.explain.rule_text import Rule
    from solah.export.layout import Layout
    from solah.export.online import Pace
    from solah.export.policy_tables import PolicyTables
    from solah.export.signal_tables import SignalTables
    from solah.export.tables import Tables, WalkTables
    from solah.export.units import Unit
    from solah.model.document import Model
    from solah.model.features import Feature
    from solah.model.program import Axis

Style = Literal["plain", "tables"]
_A_LINE = 92
SHARE_BITS = 14
"""What a rule's share of an estimate is multiplied by, as a power of two."""
_RUNTIME_NOTICE = """\
/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026, the solah developers. Compile with -ffp-contract=off, for the same bits of
 * floats everywhere, and -ffunction-sections -fdata-sections; link with -Wl,--gc-sections. */
"""


def write_c(
    model: Model,
    tables: Tables,
    name: str,
    pace: Pace | None = None,
    policy: PolicyTables | None = None,
    *,
    style: Style = "tables",
    missing: bool = True,
    signals: SignalTables | None = None,
) -> dict[str, str]:
    """Write a model as C.

    Parameters
    ----------
    model : the model
    tables : its tables, in float32 or in integers
    name : what files and functions are called
    pace : how fast the device learns, if its tables are such
    policy : when the device decides, and when it does not know; None if it always decides
    style : a function per feature, or tables that one runtime reads
    missing : whether a reading may be missing, in plain C
    signals : how samples become readings

    Returns
    -------
    files : dict of file name to text
        The model's header and source, and the runtime that the source includes.
    """
    _refuse_more("features", len(model.features), 2**8 - 1)
    _refuse_more("nodes", len(tables.stages), 2**8 - 1)
    _refuse_more("rules", len(tables.layout.rules), 2**16 - 1)
    is_fixed = tables.is_fixed
    kind = "fixed" if is_fixed else "float"
    math: tuple[str, ...] = (f"solah_{kind}_math.h", *(("solah_reading.h",) if is_fixed else ()))
    shared: tuple[str, ...] = ("solah_crc.h", "solah_flash.h", *math)
    learning = ("solah_learn.h",) if pace else ()
    windows = ("solah_signals.h", f"solah_signals_{kind}.h") if signals else ()
    windows = (*windows, "solah_fixed_math.h") if signals and is_fixed else windows
    judging = ("solah_judge.h",) if policy else ()
    values = _values(model, tables, name, signals, pace, policy) | _learning(tables, name, pace)
    values |= {"style": style}
    if style == "plain":
        source, headers = "plain.c.j2", (*shared, *windows)
        names = [feature["enumerator"] for feature in values["features"]]
        values |= plain_parts(tables, names, values["rules"], missing=missing)
        values["summed"] = summed = summed_parts(values)
        values["checksum"] = checksum(summed)
    else:
        source = "tables.c.j2"
        own = ("solah_fixed.h",) if is_fixed else ("solah_float.h", "solah_core.h")
        headers = (*shared, *own, "solah_decide.h", "solah_tables.h", *learning, *windows, *judging)
    environment = source_environment()
    files = {f"{name}.c": environment.get_template(source).render(**values)}
    files |= {header: runtime_text(header) for header in headers}
    values["flash"] = counted_flash(files, name, style)
    header = environment.get_template("model.h.j2").render(**values)
    return {f"{name}.h": header, **files}


def write_python(
    model: Model,
    tables: Tables,
    name: str,
    policy: PolicyTables | None = None,
    signals: SignalTables | None = None,
) -> dict[str, str]:
    """Write a model as a module for MicroPython, in integers, and its rules as another.

    Returns
    -------
    files : dict of file name to text
    """
    values = _values(model, tables, name, signals, policy=policy) | _learning(tables, name, None)
    needed = {
        "fixed": True,
        "lost": tables.loses,
        "judge": policy is not None,
        "signals": model.signals is not None,
    }
    environment = source_environment()
    example = f"{model.features[0].peaks[0]:.4g}"
    own = "\n\n\n".join(python_text(part) for part, is_needed in needed.items() if is_needed)
    model_text = environment.get_template("model.py.j2")
    return {
        f"{name}.py": model_text.render(**values, example=example, runtime=own),
        f"{name}_rules.py": environment.get_template("model_rules.py.j2").render(**values),
    }


def runtime_text(name: str) -> str:
    """Return a header of the runtime, behind its licence."""
    text = files("solah.export").joinpath("c_runtime", name).read_text(encoding="utf-8")
    return f"{_RUNTIME_NOTICE}{text}"


def python_text(name: str) -> str:
    """Return a part of the runtime for MicroPython."""
    part = files("solah.export").joinpath("py_runtime", f"{name}.py.txt")
    return part.read_text(encoding="utf-8").rstrip()


def _refuse_more(what: str, number: int, most: int) -> None:
    if number > most:
        raise ParameterError(
            f"an exported model has {most:,} {what} at the most; this one has {number:,}"
        )


def _values(
    model: Model,
    tables: Tables,
    name: str,
    signals: SignalTables | None = None,
    pace: Pace | None = None,
    policy: PolicyTables | None = None,
) -> dict[str, Any]:
    """Gather what the templates show."""
    rules = rules_of(model, tables.layout)
    summed = summed_tables(tables, policy, signals, tables.of_rules)
    return {
        "name": name,
        "NAME": name.upper(),
        "target": model.target.name,
        "hash": model_hash(model),
        "generator": f"solah {package_version('solah')}",
        "is_number": tables.layout.is_number,
        "takes_exp": tables.layout.takes_exp,
        "n_classes": max(len(model.target.classes), 1),
        "n_values": tables.layout.n_values,
        "class_names": [str(state) for state in model.target.classes],
        "class_enumerators": class_enumerators(model),
        "rules": rules,
        "sizes_of_texts": {
            "class_name": _text_size(str(state) for state in model.target.classes),
            "rule_text": _text_size(rule.short for rule in rules),
        },
        "rule_numbers": tables.of_rules,
        "amount": _amount(tables),
        "amount_bits": _amount_bits(tables),
        "tables": tables,
        **_features(model, tables),
        **_signals(signals),
        **_kinds_of_numbers(tables),
        "types": _table_types(tables),
        **_policy(tables, policy),
        "summed": summed,
        "checksum": checksum(summed),
    }


def _policy(tables: Tables, policy: PolicyTables | None) -> dict[str, Any]:
    if policy is None:
        return {"policy": None}
    n_bytes = state_bytes(policy, tables.layout.n_values, is_fixed=tables.is_fixed)
    return {"policy": policy, "state_bytes": n_bytes}


def _learning(tables: Tables, name: str, pace: Pace | None) -> dict[str, Any]:
    if pace is None or tables.learned is None:
        return {"learning": None, "memory": ""}
    return {
        "learning": {
            "bits": LEARNT_BITS,
            "step_bits": [pace.step_bits(stage) for stage in tables.stages],
            "forget_bits": pace.forget_bits,
        },
        "learned_bytes": 4 * tables.learned.size,
        "memory": f"const {name}_memory *memory, ",
    }


def rules_of(model: Model, layout: Layout) -> tuple[Rule, ...]:
    """Return the rules of the last stage, by their numbers."""
    parts = {part.name: part.rules for part in part_rules(model)}
    return tuple(parts[name][number] for name, number in layout.rules)


def _table_types(tables: Tables) -> dict[str, Any]:
    """Choose the smallest types of numbers in tables, and the sizes of what is on the stack."""
    walks = tables.walks
    curves, grids = tables.curves, tables.grids
    places: list[Any] = [tables.values, tables.knots, tables.cells, curves, grids, walks]
    nodes = (max(int(walk.first_child.max()), int(walk.offsets[-1])) for walk in walks)
    max_inputs = max((len(walk.inputs) for walk in walks), default=0)
    return {
        "at": _unsigned(max(map(len, places))),
        "node": _unsigned(max(nodes, default=0)),
        "input": "int8_t" if max_inputs < 128 else "int16_t",
        "max_inputs": max_inputs,
        "max_depth": max((walk.depth for walk in walks), default=0),
    }


def _unsigned(largest: int) -> str:
    for bits in (8, 16, 32):
        if largest < 1 << bits:
            return f"uint{bits}_t"
    raise ParameterError("the model is too large to export")


def _text_size(texts: Iterable[str]) -> int:
    """Return the bytes of the longest text, and of the zero behind it."""
    return 1 + max((len(text.encode()) for text in texts), default=0)


def _amount(tables: Tables) -> str:
    """Describe the amount of a reason."""
    if tables.layout.adds_numbers:
        of = "logarithm of the " if tables.layout.takes_exp else ""
        return f"how far it moves the {of}estimate"
    if tables.layout.is_number:
        return "its share"
    kind = "evidence" if tables.stages[-1].is_weighed else "belief"
    return f"what it adds to the lead over the next best class, in {kind}"


def _amount_bits(tables: Tables) -> int | None:
    """Return the power of two that amounts of reasons are multiplied by; None with floats."""
    last = tables.stages[-1]
    if not tables.is_fixed:
        return None
    is_share = tables.layout.is_number and not tables.layout.adds_numbers
    return SHARE_BITS if is_share else last.value_bits


def _features(model: Model, tables: Tables) -> dict[str, Any]:
    names = feature_enumerators(model)
    states = state_enumerators(model)
    units = tables.units or [None] * len(names)
    return {
        "features": [
            {
                "enumerator": enumerator,
                "name": one.name,
                "about": _about(one, unit),
                "states": states.get(one.name, ()),
                "bits": None if unit is None or unit.is_code or unit.counts else unit.bits,
                "categories": known_by(one),
            }
            for enumerator, one, unit in zip(names, model.features, units, strict=True)
        ]
    }


def feature_enumerators(model: Model) -> list[str]:
    """Name the features as the header does, behind ``READING_`` and ``BITS_``."""
    return [name.upper() for name in distinct((a.name for a in model.features), "feature")]


def class_enumerators(model: Model) -> list[str]:
    """Name the classes as the header does, behind ``CLASS_``; there, NAME_SIZE is another macro."""
    texts = (str(state) for state in model.target.classes)
    return [name.upper() for name in distinct(texts, "class", ["name_size"])]


def state_enumerators(model: Model) -> dict[str, list[tuple[str, str]]]:
    """Name the states of features as the header does, behind ``STATE_``, with their texts.

    All of them are distinguished together: the state "c" of "a b" and "b c" of "a" would be one.
    """
    owners = zip(model.features, feature_enumerators(model), strict=True)
    states = [
        (one.name, name, str(state))
        for one, name in owners
        if one.is_coded
        for state in one.categories
    ]
    found: dict[str, list[tuple[str, str]]] = {}
    names = distinct_states((name, state) for _, name, state in states)
    for (owner, _, text), name in zip(states, names, strict=True):
        found.setdefault(owner, []).append((name.upper(), text))
    return found


def _signals(tables: SignalTables | None) -> dict[str, Any]:
    names = () if tables is None else (row.name for row in tables.measured)
    return {"signals": tables, "sample_names": [one.upper() for one in distinct(names, "channel")]}


def _kinds_of_numbers(tables: Tables) -> dict[str, Any]:
    is_fixed = tables.is_fixed
    unknown = "INT32_MIN" if is_fixed else "NAN"
    return {
        "is_fixed": is_fixed,
        "write": integers if is_fixed else floats,
        "number": "int32_t" if is_fixed else "float",
        "reading": "int32_t" if is_fixed else "float",
        "belief": "uint16_t" if is_fixed else "float",
        "unknown": f"{unknown} (or an invalid code) means missing.",
        "walks": [_walk(walk) for walk in tables.walks],
    }


def _about(feature: Feature, unit: Unit | None) -> str:
    """Describe a reading of a feature."""
    if unit is not None and unit.counts is not None:
        counts = unit.counts
        scale = f"{counts.offset:.6g} + {counts.gain:.6g} * count"
        return f"the count of an ADC, 0 to {2**counts.bits - 1}, of {scale}"
    if not feature.is_coded:
        low, high = training_range(feature)
        return f"a number, {low:.6g} to {high:.6g} in training rows"
    states = ", ".join(f"{place} = {state}" for place, state in enumerate(feature.categories[:8]))
    more = ", …" if len(feature.categories) > 8 else ""
    return f"a code: {states}{more}"


def training_range(feature: Feature) -> tuple[float, float]:
    """Return the range of a feature's training values; of states, the first and the last."""
    if feature.low is None or feature.high is None:
        return feature.peaks[0], feature.peaks[-1]
    return feature.low, feature.high


def _walk(walk: WalkTables) -> dict[str, Any]:
    tables = {**vars(walk), "values": walk.values.ravel()}
    return {**tables, "asked": [asked(one) for one in walk.inputs]}


def asked(axis: Axis) -> tuple[int, int, int]:
    """Return the kind of an axis, its source and its output, as ``solah_asked`` has them."""
    return (axis.kind.value, axis.source, axis.output)


@cache
def source_environment() -> Environment:
    """Return what renders templates of sources; names of the data go through its filters."""
    environment = Environment(
        loader=PackageLoader("solah.export"),
        undefined=StrictUndefined,
        autoescape=False,  # C, not HTML: every text goes through one of the filters below
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "float_literal": float_literal,
        "floats": floats,
        "integers": integers,
    }
    environment.filters |= {
        "comment": comment,
        "float_bytes": float_bytes,
        "float_literal": float_literal,
        "floats": floats,
        "integers": integers,
        "json": json_string,
        "kconfig": kconfig,
        "line": one_line,
        "lines": _lines,
        "python": ascii,
        "text": c_string,
        "tuple_of": tuple_of,
    }
    return environment


def float_literal(value: float) -> str:
    """Write a float32 so that a compiler reads the same bits.

    Examples
    --------
    >>> float_literal(0.1), float_literal(3), float_literal(1e-7)
    ('0.1f', '3.0f', '1e-07f')
    """
    text = str(np.float32(value))
    return f"{text}f" if any(sign in text for sign in ".en") else f"{text}.0f"


def floats(values: Iterable[float]) -> str:
    """Write the lines of a table of floats."""
    return _lines([float_literal(value) for value in values])


def float_bytes(values: Iterable[float]) -> str:
    """Write the bits of float32 as bytes of Python, which no board rounds."""
    return ascii(np.array(list(values), dtype="<f4").tobytes())


def integers(values: Iterable[int]) -> str:
    """Write the lines of a table of integers."""
    return _lines([str(int(value)) for value in values])


def tuple_of(values: Iterable[int]) -> str:
    """Write integers as a tuple of Python."""
    return f"({''.join(f'{int(value)}, ' for value in values)})"


def _lines(items: list[str]) -> str:
    lines, line = [], ""
    for item in items or ["0"]:
        if len(line) + len(item) + 2 > _A_LINE:
            lines.append(line)
            line = ""
        line += f"{item}, "
    return "\n".join(f"    {one.rstrip()}" for one in [*lines, line]).rstrip(",")
