"""C programs around exported models, for tests: rows through stdin, decisions through stdout."""

import subprocess
from pathlib import Path

import numpy as np

from solah.export.platforms.building import WARNINGS

C99 = ["-std=c99", "-ffp-contract=off", *WARNINGS]
CPP11 = ["-std=c++11", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-xc++"]

DECIDE = """
#include "m.h"
#include <stdio.h>

int main(void)
{{
    {reading} readings[M_N_READINGS];
    {belief} belief[M_N_CLASSES];
    while (fread(readings, sizeof readings, 1, stdin) == 1) {{
        const int32_t decision = m_decide(readings, belief);
        fwrite(&decision, sizeof decision, 1, stdout);
        fwrite(belief, sizeof belief, 1, stdout);
    }}
    return 0;
}}
"""
ESTIMATE = """
#include "m.h"
#include <stdio.h>

int main(void)
{{
    {reading} readings[M_N_READINGS];
    while (fread(readings, sizeof readings, 1, stdin) == 1) {{
        const {number} estimate = m_estimate(readings);
        fwrite(&estimate, sizeof estimate, 1, stdout);
    }}
    return 0;
}}
"""
TYPES = {
    "float": {"reading": "float", "belief": "float", "number": "float"},
    "q15": {"reading": "int32_t", "belief": "uint16_t", "number": "int32_t"},
}


def build(export, folder: Path, compiler: str, program=DECIDE, flags=("-O2",), **values) -> Path:
    """Write an export and a program around it, and compile both."""
    for name, text in export.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    main = program.format(**TYPES[export.numbers], **values)
    (folder / "main.c").write_text(main, encoding="utf-8")
    command = [compiler, *C99, *flags, "m.c", "main.c", "-o", "m"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "m"


def readings(export, rows):
    """Turn rows into what the program reads."""
    if export.numbers == "float":
        return np.asarray(rows, dtype=np.float32)
    return export.simulator.prepare(rows)


def decide(program: Path, export, rows, n_classes: int):
    """Run the program on rows; return its decisions and beliefs."""
    belief = "<f4" if export.numbers == "float" else "<u2"
    done = subprocess.run(
        [program], input=readings(export, rows).tobytes(), capture_output=True, check=True
    )
    lines = np.frombuffer(done.stdout, [("decision", "<i4"), ("belief", belief, (n_classes,))])
    return lines["decision"], lines["belief"]


def estimate(program: Path, export, rows):
    """Run the program on rows; return its estimates."""
    done = subprocess.run(
        [program], input=readings(export, rows).tobytes(), capture_output=True, check=True
    )
    return np.frombuffer(done.stdout, "<f4" if export.numbers == "float" else "<i4")
