"""Exported models on devices, many in one program: they answer as their simulators."""

import struct
import subprocess

import numpy as np
from c_programs import C99, TYPES, readings

from solah.export.platforms import PLATFORMS, build, missing_tools, run
from solah.export.platforms.known import C_FOLDER

SANITIZED = ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

_HEAD = """
#include "solah_io.h"
"""
# Reads how many rows follow, and the rows; writes for each what is decided and why.
_MODEL = """
#include "{m}.h"

static void run_{m}(void)
{{
    uint32_t n_rows;
    {reading} readings[{M}_N_READINGS];
    {declared}
    (void)solah_io_read(&n_rows, sizeof n_rows);
    for (; n_rows > 0u; n_rows--) {{
        (void)solah_io_read(readings, sizeof readings);
        {answered}
        {explained}
    }}
}}
"""
_EXPLAIN = """
        {m}_reason reasons[{n_reasons} + 1];
        const int count = {m}_why({memory}readings, reasons, {n_reasons});
        for (int i = 0; i < {n_reasons}; i++) {{
            int32_t rule = -1;
            {number} amount = 0;
            if (i < count) {{
                rule = reasons[i].rule;
                amount = reasons[i].amount;
            }}
            solah_io_write(&rule, sizeof rule);
            solah_io_write(&amount, sizeof amount);
        }}
"""
_ESTIMATE = """
        const {number} estimate = {m}_estimate({memory}readings);
        solah_io_write(&estimate, sizeof estimate);
"""
_DECIDE = """
        const int32_t decision = {m}_decide({memory}readings, belief);
        const int32_t predicted = {m}_predict({memory}readings);
        solah_io_write(&decision, sizeof decision);
        solah_io_write(belief, sizeof belief);
        solah_io_write(&predicted, sizeof predicted);
"""
_JUDGE = """
        const int32_t settled = {m}_judge({memory}&state, readings, belief, &verdict);
        const int32_t judged = verdict.decision;
        solah_io_write(&settled, sizeof settled);
        solah_io_write(&judged, sizeof judged);
        solah_io_write(&verdict.abstain_reasons, 1);
        solah_io_write(&verdict.n_unseen, 1);
        solah_io_write(belief, sizeof belief);
"""


def with_tools(name, find_tool):
    """Return a platform, or skip where something that it needs is not installed."""
    platform = PLATFORMS[name]
    for tool in missing_tools(platform, counting=True):
        find_tool(tool)
    return platform


def program_of(cases, n_reasons):
    """Write the program that runs all cases: a model and its export each."""
    parts = [_HEAD]
    for model, export, _ in cases:
        learns = "_memory;" in export.files[f"{export.name}.h"]
        words = {"m": export.name, "M": export.name.upper(), "memory": "&memory, " * learns}
        words |= TYPES[export.numbers] | {"n_reasons": n_reasons}
        words["explained"] = _EXPLAIN.format(**words) if export.style == "tables" else ""
        declared = ["static {m}_memory memory;\n    {m}_begin(&memory);"] * learns
        answered = _ESTIMATE
        if model.target.classes:
            declared.insert(0, "{belief} belief[{M}_N_CLASSES];")
            answered = _DECIDE
        if judges(model):
            declared.insert(0, "{m}_verdict verdict;\n    static {m}_state state;")
            declared.append("{m}_settle_start(&state);")
            answered += _JUDGE
        words["declared"] = "\n    ".join(declared).format(**words)
        words["answered"] = answered.format(**words)
        parts.append(_MODEL.format(**words))
    calls = "".join(f"    run_{export.name}();\n" for _, export, _ in cases)
    return "".join([*parts, f"\nint main(void)\n{{\n{calls}    return 0;\n}}\n"])


def sources(export, folder, program):
    """Write an export and a program around it; return the sources."""
    for name, text in export.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "main.c").write_text(program.format(**TYPES[export.numbers]), encoding="utf-8")
    return [folder / "m.c", folder / "main.c"]


def judges(model):
    return model.policy is not None or model.domain is not None


def check_on(platform, cases, folder, n_reasons=3, timeout=600):
    """Assert that models answer as their simulators; cases are (model, export, rows)."""
    sources = _written(cases, folder, n_reasons)
    program = build(platform, sources, folder, includes=[folder])
    _check_printed(run(program, _sent(cases), timeout=timeout), cases, n_reasons)


def check_sanitized(cases, folder, compiler="cc", n_reasons=3):
    """Do that on this machine, where whatever is undefined or out of bounds ends the program."""
    sources = [*_written(cases, folder, n_reasons), C_FOLDER / "io_hosted.c"]
    command = [compiler, *C99, *SANITIZED, f"-I{C_FOLDER}", *sources, "-o", "program"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "program"], input=_sent(cases), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    _check_printed(done.stdout, cases, n_reasons)


def _written(cases, folder, n_reasons):
    """Write exports and the program around them; return the sources."""
    for _, export, _ in cases:
        for name, text in export.files.items():
            (folder / name).write_text(text, encoding="utf-8")
    (folder / "main.c").write_text(program_of(cases, n_reasons), encoding="utf-8")
    return [folder / f"{export.name}.c" for _, export, _ in cases] + [folder / "main.c"]


def _sent(cases):
    return b"".join(
        struct.pack("<I", len(rows)) + readings(export, rows).tobytes() for _, export, rows in cases
    )


def _check_printed(printed, cases, n_reasons):
    """Assert that what a program wrote of all cases is what the simulators answer, bit for bit."""
    at = 0
    for model, export, rows in cases:
        kind = _answer_type(model, export, n_reasons)
        check(model, export.simulator, rows, np.frombuffer(printed, kind, len(rows), at))
        at += kind.itemsize * len(rows)
    assert at == len(printed)


def _answer_type(model, export, n_reasons):
    is_float = export.numbers == "float"
    number, belief = ("<f4", "<f4") if is_float else ("<i4", "<u2")
    believed = (belief, (len(model.target.classes),))
    kind = [("decision", "<i4"), ("belief", *believed), ("predicted", "<i4")]
    if not model.target.classes:
        kind = [("estimate", number)]
    if judges(model):
        kind += [
            ("settled", "<i4"),
            ("judged", "<i4"),
            ("abstain_reasons", "u1"),
            ("n_unseen", "u1"),
        ]
        kind += [("smoothed", *believed)]
    n_reasons = n_reasons if export.style == "tables" else 0
    return np.dtype([*kind, ("reasons", [("rule", "<i4"), ("amount", number)], (n_reasons,))])


def check(model, simulator, rows, found):
    """Assert that answers are those of the simulator; ``found`` has a field for each."""
    if model.target.classes:
        places, beliefs = simulator.decide(rows)
        np.testing.assert_array_equal(found["decision"], places)
        if "predicted" in found.dtype.names:
            np.testing.assert_array_equal(found["predicted"], places)
        np.testing.assert_array_equal(_bits(found["belief"]), _bits(beliefs))
    else:
        np.testing.assert_array_equal(found["estimate"], simulator.estimate(rows))
    if judges(model):
        verdicts = simulator.judge(rows)
        np.testing.assert_array_equal(found["settled"], verdicts.settled)
        np.testing.assert_array_equal(found["judged"], verdicts.decisions)
        np.testing.assert_array_equal(found["abstain_reasons"], verdicts.abstain_reasons)
        np.testing.assert_array_equal(found["n_unseen"], verdicts.n_unseen)
        np.testing.assert_array_equal(_bits(found["smoothed"]), _bits(verdicts.beliefs))
    if n_reasons := found["reasons"].shape[1]:
        named = [[one for one in line if one[0] >= 0] for line in found["reasons"].tolist()]
        assert named == simulator.why(rows, n_reasons)


def _bits(numbers):
    return np.ascontiguousarray(numbers).view(f"u{numbers.itemsize}")


def module_of(text):
    """Run a module for boards, with nothing at hand but Python itself."""
    module = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), module)
    return module


def check_board(model, simulator, rows, module):
    """Assert that a module for boards answers as the simulator."""
    prepared = simulator.prepare(rows).tolist()
    if model.target.classes:
        places, beliefs = simulator.decide(rows)
        found = [module["decide_prepared"](row) for row in prepared]
        assert [(place, [*belief]) for place, belief in found] == list(
            zip(places.tolist(), beliefs.tolist(), strict=True)
        )
    else:
        estimated = [module["estimate_prepared"](row) for row in prepared]
        assert estimated == simulator.estimate(rows).tolist()
    if judges(model):
        verdicts = simulator.judge(rows)
        module["settle_start"]()
        found = [module["judge_prepared"](row) for row in prepared]
        for name, values in zip(
            ("settled", "decisions", "abstain_reasons", "n_unseen", "beliefs"),
            map(list, zip(*found, strict=True)),
            strict=True,
        ):
            np.testing.assert_array_equal(values, getattr(verdicts, name))
    assert [module["why_prepared"](row, 3) for row in prepared] == simulator.why(rows, 3)
