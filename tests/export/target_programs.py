"""Programs around exported models for the targets: what they decide there against their twins."""

import numpy as np
from c_programs import TYPES, readings

from solah.export.targets import TARGETS, build, missing_tools, run

DRIVER = """
#include "m.h"
#include "solah_io.h"

int main(void)
{{
    {reading} readings[M_N_READINGS];
    {belief} belief[M_N_CLASSES];
    while (solah_io_read(readings, sizeof readings) == sizeof readings) {{
        const int32_t decision = m_decide(readings, belief);
        solah_io_write(&decision, sizeof decision);
        solah_io_write(belief, sizeof belief);
    }}
    return 0;
}}
"""


def with_tools(name, find_tool):
    """Return a target, or skip where something that it needs is not installed."""
    target = TARGETS[name]
    for tool in missing_tools(target, counting=True):
        find_tool(tool)
    return target


def sources(export, folder, program):
    """Write an export and a program around it."""
    for name, text in export.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "main.c").write_text(program.format(**TYPES[export.numbers]), encoding="utf-8")
    return [folder / "m.c", folder / "main.c"]


def check(target, export, rows, folder):
    """Assert that a target decides and believes as the twin, bit for bit."""
    program = build(target, sources(export, folder, DRIVER), folder, includes=[folder])
    printed = run(program, readings(export, rows).tobytes())
    places, beliefs = export.twin.decide(rows)
    kind = [("decision", "<i4"), ("belief", beliefs.dtype.newbyteorder("<"), (beliefs.shape[1],))]
    found = np.frombuffer(printed, kind)
    np.testing.assert_array_equal(found["decision"], places)
    bits = f"u{beliefs.itemsize}"
    np.testing.assert_array_equal(
        np.ascontiguousarray(found["belief"]).view(bits), beliefs.view(bits)
    )
