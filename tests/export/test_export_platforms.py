"""Exported models on the platforms: they decide as their simulators, bit for bit."""

import subprocess

import numpy as np
import pytest
from c_programs import readings
from devices import sources, with_tools

from random_models import random_model
from solah import RuleClassifier, datasets
from solah.export import export_c
from solah.export.platforms import build, measure, run
from solah.model.encode import encode

pytestmark = pytest.mark.slow

PREDICT = """
#include "m.h"
#include "solah_probe.h"

void solah_probe(const void *row, void *answer)
{{
    *(int *)answer = m_predict((const {reading} *)row);
}}
"""


@pytest.mark.parametrize(
    ("name", "max_rules", "flash", "instructions"),
    [("wine", 10, 650, 400), ("wine", 20, 900, 700), ("wdbc", 20, 900, 700)],
)
def test_few_rules_are_small_and_quick(name, max_rules, flash, instructions, tmp_path, find_tool):
    platform, data = with_tools("cortex-m0plus", find_tool), datasets.load(name)
    model = RuleClassifier(max_rules=max_rules).fit(data.table, data.target).model_
    export = export_c(model, name="m", numbers="q15")
    rows = readings(export, encode(data.table.take(np.arange(0, 150, 3)), model.features))
    found = measure(platform, sources(export, tmp_path, PREDICT), rows, includes=[tmp_path])
    assert found.flash <= flash
    assert found.instructions <= instructions
    assert (found.ram, found.stack < 128) == (0, True)


TEXTS = """
#include "m.h"
#include "solah_io.h"

#include <string.h>

int main(void)
{{
    char text[@SIZE@];
    {reading} readings[M_N_READINGS] = {{0}};
    {belief} belief[M_N_CLASSES];
    (void)m_decide(readings, belief);
    for (int place = -1; place <= M_N_CLASSES; place++) {{
        const size_t length = m_copy_class_name(place, text, sizeof text);
        solah_io_write(text, strlen(text) + 1);
        text[0] = (char)(length < 255 ? length : 255);
        solah_io_write(text, 1);
    }}
    for (int rule = -1; rule <= M_N_RULES; rule++) {{
        const size_t length = m_copy_rule_text(rule, text, sizeof text);
        solah_io_write(text, strlen(text) + 1);
        text[0] = (char)(length < 255 ? length : 255);
        solah_io_write(text, 1);
    }}
    return 0;
}}
"""


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize("size", ["M_RULE_TEXT_SIZE", "20"])
def test_texts_stay_in_the_flash_of_a_small_avr(numbers, size, tmp_path, find_tool):
    platform = with_tools("atmega328p", find_tool)
    model = random_model(np.random.default_rng(1), "words and pairs", 3)
    export = export_c(model, name="m", numbers=numbers, reasons=True)
    assert len(export.rules) >= 30
    parts = sources(export, tmp_path, TEXTS.replace("@SIZE@", size))
    program = build(platform, parts, tmp_path, includes=[tmp_path])
    texts = [*model.target.classes, "", "", *(rule.short for rule in export.rules), ""]
    room = int(size) - 1 if size.isdigit() else 10**6
    expected = b"".join(
        text.encode()[:room] + bytes([0, len(text.encode())]) for text in ["", *texts]
    )
    assert run(program, b"") == expected
    sizes = subprocess.run(
        [find_tool("avr-size"), program.file], capture_output=True, check=True, text=True
    )
    _, data, bss, *_ = map(int, sizes.stdout.splitlines()[1].split()[:3])
    assert data + bss < 64
