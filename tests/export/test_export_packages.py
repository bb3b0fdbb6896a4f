"""Libraries for Arduino, PlatformIO, Zephyr and ESP-IDF: what lies where, and that it compiles."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from arduino_stub import ARDUINO
from c_programs import C99
from signal_programs import describe_everything, model_of, noise
from sklearn.datasets import load_diabetes

from random_models import random_model
from solah import LinguisticTreeClassifier, LinguisticTreeRegressor
from solah.atomic import write_all
from solah.export import export_c, package_c
from solah.export.c_writer import training_range

ROOT = Path(__file__).parents[2]
# Runs a sketch for a while.
SHELL = """#include "Arduino.h"
#include "{sketch}.ino"
int main() {{ setup(); for (long n = 0; n < {n}; n++) {{ loop(); }} return 0; }}
"""


@cache
def made(name):
    """Make a model by what is special about it."""
    if name == "number":
        X, y = load_diabetes(return_X_y=True)
        return LinguisticTreeRegressor(max_depth=2).fit(X, y).model_
    if name == "classes":
        return random_model(np.random.default_rng(3), "words", 3)
    rng = np.random.default_rng(0)
    return model_of(rng, describe_everything(), noise(rng, 3000))


def run_sketch(folder, sketch, find_tool, n):
    """Compile a library and a sketch with as much of Arduino as it needs; return what it prints."""
    (folder / "Arduino.h").write_text(ARDUINO)
    (folder / "shell.cpp").write_text(SHELL.format(sketch=sketch, n=n))
    folders = [f"-I{folder / part}" for part in ("", "src", f"examples/{sketch}")]
    objects = []
    for source in sorted((folder / "src").glob("*.c")):
        objects.append(f"{source.stem}.o")
        library = [find_tool("cc"), *C99, "-c", source, "-o", objects[-1]]
        subprocess.run(library, cwd=folder, check=True)
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]
    command = [find_tool("c++"), *flags, *folders, "shell.cpp", *objects, "-o", "sketch"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "sketch"], check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.parametrize(
    ("name", "numbers"), [("classes", "q15"), ("number", "float"), ("signals", "q15")]
)
def test_the_sketches_of_an_arduino_library_compile_and_run(name, numbers, tmp_path, find_tool):
    model = made(name)
    export = export_c(model, name="sample", numbers=numbers)
    write_all(tmp_path, package_c(model, export, "arduino"))
    printed = run_sketch(tmp_path, "decide", find_tool, 300_000 if name == "signals" else 3)
    lines = printed.splitlines()
    if name == "number":
        assert len(lines) == 3
        assert all(float(line) > 0 for line in lines)
    else:
        states = "|".join(map(str, model.target.classes))
        assert all(re.fullmatch(rf"(?:{states}) [01]\.\d+", line) for line in lines)
    assert len(lines) >= 3
    printed = run_sketch(tmp_path, "self_test", find_tool, 1)
    assert printed == "sample: every row is decided as in Python\n"


def test_a_sketch_samples_at_the_rate_of_the_model(tmp_path, find_tool):
    model = made("signals")
    export = export_c(model, name="sample", numbers="q15")
    write_all(tmp_path, package_c(model, export, "arduino"))
    n_seconds = 6
    printed = run_sketch(tmp_path, "decide", find_tool, n_seconds * 100_000)
    signals = export.signals
    n_samples = n_seconds * signals.rate
    assert abs(len(printed.splitlines()) - ((n_samples - signals.window) / signals.step + 1)) <= 1


def test_a_sketch_reads_pins_as_it_says(tmp_path, find_tool):
    model = made("classes")
    export = export_c(model, name="sample", numbers="float")
    files = package_c(model, export, "arduino")
    sketch = files["examples/decide/decide.ino"]
    numbers = [one for one in model.features if not one.is_coded]
    for place, one in enumerate(numbers):
        row = re.search(
            rf"\{{SAMPLE_READING_{one.name.upper()}, A{place}, (\S+)f, (\S+)f\}}", sketch
        )
        assert (float(row[1]), float(row[2])) == pytest.approx(training_range(one))
    coded = [one for one in model.features if one.is_coded]
    assert all(len(one.categories) > 2 for one in coded)
    for one in coded:
        assert f"SAMPLE_READING_{one.name.upper()} is left unknown" in sketch


def test_a_switch_is_read_from_a_digital_pin(tmp_path, find_tool):
    rng = np.random.default_rng(0)
    door = rng.choice(["open", "shut"], 80)
    target = np.where(door == "open", "cold", "warm")
    model = LinguisticTreeClassifier().fit(pd.DataFrame({"door": door}), target).model_
    export = export_c(model, name="sample", numbers="q15")
    write_all(tmp_path, package_c(model, export, "platformio"))
    sketch = (tmp_path / "examples/decide/decide.ino").read_text("utf-8")
    assert "digitalRead(2) == LOW ? SAMPLE_STATE_DOOR_SHUT : SAMPLE_STATE_DOOR_OPEN" in sketch
    assert run_sketch(tmp_path, "decide", find_tool, 1).startswith("warm ")


def test_a_library_of_arduino_describes_itself():
    model = made("classes")
    page = "https://example.org/sample"
    files = package_c(model, export_c(model, name="sample"), "arduino", url=page)
    properties = dict(line.split("=", 1) for line in files["library.properties"].splitlines())
    assert properties["name"] == "solah_sample"
    assert properties["includes"] == "sample.h"
    # What arduino-lint asks for.
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", properties["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", properties["version"])
    assert properties["category"] == "Data Processing"
    assert properties["url"] == page
    assert "url=" not in package_c(model, export_c(model), "arduino")["library.properties"]
    assert all(properties.values())
    assert properties["sentence"] not in properties["paragraph"]
    assert {"README.md", "LICENSE"} <= files.keys()


def test_a_library_of_platformio_describes_itself():
    model = made("number")
    files = package_c(model, export_c(model, name="sample"), "platformio")
    library = json.loads(files["library.json"])
    assert (library["name"], library["license"]) == ("solah_sample", "BSD-3-Clause")
    assert f"src/{library['headers']}" in files
    assert "-ffp-contract=off" in library["build"]["flags"]
    for example in library["examples"]:
        assert all(f"{example['base']}/{name}" in files for name in example["files"])


def test_a_component_of_esp_idf_has_a_program_that_tests_the_board(tmp_path, find_tool):
    model = made("signals")
    files = package_c(model, export_c(model, name="sample"), "esp-idf")
    manifest = yaml.safe_load(files["idf_component.yml"])
    assert manifest["license"] == "BSD-3-Clause"
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    main = yaml.safe_load(files["examples/self_test/main/idf_component.yml"])
    assert main["dependencies"]["solah_sample"]["override_path"] == "../../.."
    assert 'SRCS "src/sample.c" "src/sample_test.c" INCLUDE_DIRS "src"' in files["CMakeLists.txt"]
    write_all(tmp_path, files)
    shell = "void app_main(void);\nint main(void) { app_main(); return 0; }\n"
    (tmp_path / "shell.c").write_text(shell)
    sources = ["src/sample.c", "src/sample_test.c", "examples/self_test/main/main.c", "shell.c"]
    command = [find_tool("cc"), *C99, "-Isrc", *sources, "-o", "board"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "board"], check=True, capture_output=True, text=True)
    assert done.stdout == "sample: every row is decided as in Python\n"


@pytest.mark.parametrize("kind", ["arduino", "platformio", "zephyr", "esp-idf"])
def test_a_package_has_its_licence_and_no_trace_of_a_test_that_is_not_wanted(kind):
    model = made("classes")
    export = export_c(model, name="sample")
    files = package_c(model, export, kind)
    assert files["LICENSE"] == (ROOT / "LICENSE").read_text("utf-8")
    untested = package_c(model, export, kind, {})
    assert [name for name in untested if "test" in name] == []
    assert [
        name for name, text in untested.items() if "self_test" in text or "_test.c" in text
    ] == []
    for name, text in files.items():
        if Path(name).suffix in (".c", ".h", ".ino"):
            assert "SPDX-License-Identifier: BSD-3-Clause" in text, name
