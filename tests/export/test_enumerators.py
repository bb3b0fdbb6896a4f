"""Enumerators of classes and states: all different, and none a macro of a header."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from c_programs import C99
from hypothesis import given
from hypothesis import strategies as st

from random_models import random_feature, random_tree
from solah.data import Kind
from solah.exceptions import ParameterError
from solah.export import export_c
from solah.export.c_writer import class_enumerators, state_enumerators
from solah.export.names import check_identifier, distinct_states
from solah.model import Model, Target

CLASSES = (
    "ok",
    "OK",
    "name size",
    "-1",
    "1",
    "<=50K",
    ">50K",
    "色",
    "色色",
    "",
    "x" * 60,
    "x" * 61,
)
# Each state alone is harmless; behind its feature some are those of another.
STATES = {"a b": ("c", "C", "-1"), "a": ("b c", "b-c", "色"), "a b c": ("", "2", "*/ #error")}
# What a header of a model calls something, behind the name of the model.
GENERATED = re.compile(
    r"(?P<name>[A-Z][A-Z0-9_]*?)_"
    r"(?:(?:READING|BITS|STATE|CLASS|SAMPLE|TEST)_\w+|N_(?:READINGS|CLASSES|RULES|SAMPLES|LEARNT|SAVED)|UNKNOWN|MODEL|WINDOW|STEP|BITS"
    r"|RULE_TEXT_SIZE|H)"
)
HEADERS = (
    *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "limits", "locale"),
    *("math", "setjmp", "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib"),
    *("string", "tgmath", "time", "wchar", "wctype", "unistd", "fcntl", "dirent", "pthread"),
    *("sys/types", "sys/stat", "sys/socket", "sys/time", "sys/ioctl", "netinet/in", "net/if"),
    *("poll", "termios", "linux/i2c-dev", "linux/spi/spidev", "linux/gpio", "linux/input"),
    *("avr/io", "avr/interrupt", "avr/pgmspace", "avr/eeprom", "avr/sleep", "avr/wdt"),
    *("avr/power", "avr/boot", "util/delay", "util/twi", "util/crc16"),
)


def model():
    rng = np.random.default_rng(0)
    features = [
        replace(random_feature(rng, name, Kind.CATEGORICAL), categories=states)
        for name, states in STATES.items()
    ]
    tree = random_tree(rng, "y", features, len(CLASSES))
    return Model(Target("y", CLASSES), tuple(features), (tree,))


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_enumerators_are_the_places_of_classes_and_states(numbers, tmp_path, find_tool):
    export = export_c(model(), name="m", numbers=numbers)
    for name, text in export.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    asked = [
        *((f"M_CLASS_{name}", place) for place, name in enumerate(class_enumerators(model()))),
        *(
            (f"M_STATE_{name}", place)
            for states in state_enumerators(model()).values()
            for place, (name, _) in enumerate(states)
        ),
    ]
    assert len({name for name, _ in asked}) == len(asked) == len(CLASSES) + 9
    lines = [
        f"typedef char is_{i}[{name} == {place} ? 1 : -1];" for i, (name, place) in enumerate(asked)
    ]
    program = "\n".join(['#include "m.h"', *lines, "int main(void) { return 0; }", ""])
    (tmp_path / "main.c").write_text(program, encoding="utf-8")
    command = [find_tool("cc"), *C99, "-fsyntax-only", "main.c", "m.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_enumerators_can_be_read():
    assert class_enumerators(model())[:9] == [
        *(
            "OK",
            "OK_2",
            "NAME_SIZE_2",
            "MINUS_1",
            "1",
            "AT_MOST_50K",
            "ABOVE_50K",
            "CLASS",
            "CLASS_2",
        )
    ]
    names = {
        owner: [name for name, _ in states] for owner, states in state_enumerators(model()).items()
    }
    assert names == {
        "a b": ["A_B_C", "A_B_C_2", "A_B_MINUS_1"],
        "a": ["A_B_C_3", "A_B_C_4", "A_STATE"],
        "a b c": ["A_B_C_STATE", "A_B_C_2_2", "A_B_C_ERROR"],
    }


_TEXTS = st.text(max_size=3) | st.sampled_from(["a", "a_b", "b", "b_2", "2", "-2", "≤2", "<2"])


@given(st.lists(st.tuples(_TEXTS, _TEXTS)))
def test_states_are_all_different(states):
    names = distinct_states(states)
    assert len(set(names)) == len(names) == len(states)
    assert all(re.fullmatch("[0-9a-z_]+", name) for name in names)


def macros_of(header, command):
    """Return the macros of a header; none for one that a platform lacks, or that fails there."""
    text = f"#include <{header}.h>\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return re.findall(r"^#define (\w+)", done.stdout, re.MULTILINE) if not done.returncode else []


@pytest.mark.parametrize(
    ("compiler", "options"),
    [("cc", ()), ("arm-none-eabi-gcc", ()), ("avr-gcc", ("-mmcu=atmega328p", "-DF_CPU=16000000"))],
)
def test_no_macro_of_a_header_is_a_name_that_is_generated(compiler, options, find_tool):
    command = [find_tool(compiler), *options, "-D_GNU_SOURCE", "-dM", "-E", "-xc", "-"]
    macros = {macro for name in HEADERS for macro in macros_of(name, command)}
    assert len(macros) > 300
    taken = {found["name"] for macro in macros if (found := GENERATED.fullmatch(macro))}
    for name in sorted(taken):
        with pytest.raises(ParameterError, match=f"cannot be called '{name.lower()}'"):
            check_identifier(name.lower())
