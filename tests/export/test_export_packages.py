"""Libraries for Arduino and modules for Zephyr: what lies where, and that it compiles."""

import subprocess

import numpy as np
import pytest
import yaml
from c_programs import C99
from sklearn.datasets import load_diabetes

from random_models import random_model
from solah import LinguisticTreeRegressor
from solah.atomic import write_all
from solah.export import export_c, package_c

# As much of Arduino as the example asks for.
ARDUINO = """
#include <math.h>
#include <stdint.h>
struct Port {
  void begin(long) {}
  template <typename T> void print(T) {}
  template <typename T> void println(T) {}
};
static Port Serial;
static void delay(int) {}
"""
SHELL = '#include "Arduino.h"\n#include "decide.ino"\nint main() { setup(); loop(); return 0; }\n'


def models():
    number = LinguisticTreeRegressor(max_depth=2).fit(*load_diabetes(return_X_y=True)).model_
    return [random_model(np.random.default_rng(3), "words", 3), number]


@pytest.mark.parametrize("numbers", ["float", "q15"])
@pytest.mark.parametrize("model", models(), ids=["classes", "number"])
def test_the_sketch_of_an_arduino_library_compiles_and_runs(model, numbers, tmp_path, find_tool):
    export = export_c(model, name="sample", numbers=numbers)
    write_all(tmp_path, package_c(model, export, "arduino"))
    properties = dict(
        line.split("=", 1)
        for line in (tmp_path / "library.properties").read_text("utf-8").splitlines()
    )
    assert properties["name"] == "solah_sample"
    assert properties["includes"] == "sample.h"
    (tmp_path / "Arduino.h").write_text(ARDUINO)
    (tmp_path / "shell.cpp").write_text(SHELL)
    folders = [f"-I{tmp_path / part}" for part in ("", "src", "examples/decide")]
    library = [find_tool("cc"), *C99, "-c", "src/sample.c", "-o", "sample.o"]
    sketch = [find_tool("c++"), "-std=c++11", "-Wall", "-Werror", *folders, "shell.cpp", "sample.o"]
    subprocess.run(library, cwd=tmp_path, check=True)
    subprocess.run([*sketch, "-o", "sketch"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "sketch"], check=True)


def test_a_zephyr_module_names_its_files(tmp_path):
    model = random_model(np.random.default_rng(3), "flat fusion", 2)
    files = package_c(model, export_c(model, name="sample"), "zephyr")
    module = yaml.safe_load(files["zephyr/module.yml"])
    assert module == {"name": "solah_sample", "build": {"cmake": ".", "kconfig": "Kconfig"}}
    assert "zephyr_library_sources(src/sample.c)" in files["CMakeLists.txt"]
    assert files["Kconfig"].startswith("config SOLAH_SAMPLE\n")
    assert {"src/sample.c", "src/sample.h", "src/solah_float.h"} <= files.keys()
