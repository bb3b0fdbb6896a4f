"""Texts that others chose stay in the comments, strings and lines that they are written into."""

import json
import re
import subprocess
import sys

import pytest
import yaml
from arduino_stub import ARDUINO
from c_programs import CPP11
from export_shapes import ALL_SHAPES
from hostile_models import HOSTILE, hostile_model
from hypothesis import given
from hypothesis import strategies as st

from solah.atomic import write_all
from solah.export import export_blob, export_c, export_micropython, package_c
from solah.export.online import Pace
from solah.export.quoting import c_string, comment, kconfig, one_line

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wcomment", "-Wtrigraphs", "-Werror")
KINDS = ({"numbers": "float"}, {"numbers": "q15"}, {"numbers": "q15", "learning": Pace()})
PLACES = range(len(HOSTILE))
TEXTS = st.one_of(st.text(), st.text("*/?\\\"'$#\n\r\x85\u2028\u202e\0 a", max_size=30))


@pytest.fixture(scope="module")
def models():
    """Return a model for each hostile text, which is its target, and has others everywhere else."""
    return [hostile_model(place, ALL_SHAPES[place % len(ALL_SHAPES)]) for place in PLACES]


def run(command, folder):
    """Run a program in a folder, which it must leave without a file called canary."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (folder / "canary").exists()


def test_c_compiles_whatever_names_it_has(models, tmp_path, find_tool):
    for place, model in enumerate(models):
        export = export_c(model, name=f"m{place}", **KINDS[place % len(KINDS)])
        write_all(tmp_path, export.files)
    sources = [f"m{place}.c" for place in PLACES]
    run([find_tool("gcc"), *STRICT, "-fsyntax-only", *sources], tmp_path)


def test_modules_are_imported_whatever_names_they_have(models, tmp_path):
    for place, model in enumerate(models):
        write_all(tmp_path, export_micropython(model, name=f"m{place}").files)
    ask = (
        "import importlib\nfor place in range({}): importlib.import_module(f'm{{place}}').why({{}})"
    )
    run([sys.executable, "-c", ask.format(len(models))], tmp_path)


def test_no_text_stands_where_an_encoding_is_looked_for(models):
    for model in models:
        for text in export_micropython(model).files.values():
            assert not re.search("coding[:=]", "".join(text.splitlines(keepends=True)[:2]))


def test_sketches_compile_whatever_names_they_have(models, tmp_path, find_tool):
    lines = ['#include "Arduino.h"']
    for place, model in enumerate(models):
        export = export_c(model, name=f"m{place}", **KINDS[place % len(KINDS)])
        write_all(tmp_path / f"{place}", package_c(model, export, "arduino"))
        properties = (tmp_path / f"{place}/library.properties").read_text("utf-8").splitlines()
        assert " ".join(line.partition("=")[0] for line in properties) == (
            "name version author maintainer sentence paragraph category architectures includes"
        )
        sketches = [f"{place}/examples/{name}/{name}.ino" for name in ("decide", "self_test")]
        headers = [f"{place}/src/m{place}.h", f"{place}/src/m{place}_test.h"]
        lines += [f'#include "{header}"' for header in headers]
        for sketch in sketches:
            lines += [f"namespace in_{len(lines)} {{", f'#include "{sketch}"', "}"]
    (tmp_path / "Arduino.h").write_text(ARDUINO, encoding="utf-8")
    (tmp_path / "all.cpp").write_text("\n".join(lines) + "\n", encoding="utf-8")
    folders = ["-I.", *(f"-I{place}/src" for place in PLACES)]
    run([find_tool("c++"), *CPP11, *folders, "-fsyntax-only", "all.cpp"], tmp_path)


def test_manifests_are_read_whatever_names_they_have(models):
    for place, model in enumerate(models):
        export = export_c(model, name=f"m{place}")
        library = json.loads(package_c(model, export, "platformio")["library.json"])
        assert len(library["description"]) <= 255
        component = package_c(model, export, "esp-idf")
        manifest = yaml.safe_load(component["idf_component.yml"])
        assert manifest["description"].startswith("Decides on ")
        calls = [line for line in component["CMakeLists.txt"].splitlines() if line[:1] != "#"]
        assert [line.partition("(")[0] for line in calls] == [
            "idf_component_register",
            "target_compile_options",
        ]


def test_modules_of_zephyr_are_built_whatever_names_they_have(models, tmp_path, find_tool):
    functions = ("include_directories", "library_named", "library_sources")
    lines = [f"function(zephyr_{name})\nendfunction()" for name in functions]
    lines += ['function(zephyr_library_compile_options)\n  file(APPEND built "x")\nendfunction()']
    for place, model in enumerate(models):
        files = package_c(model, export_c(model, name=f"m{place}"), "zephyr")
        write_all(tmp_path / f"{place}", files)
        lines += [f"set(CONFIG_SOLAH_M{place} y)", f"include({place}/CMakeLists.txt)"]
        _, option, prompt, *_ = kconfig_lines = files["Kconfig"].splitlines()
        assert (option, len(kconfig_lines)) == (f"config SOLAH_M{place}", 9)
        assert re.fullmatch(r'\tbool "[^"$\\]*"', prompt)
        module = {"name": f"solah_m{place}", "build": {"cmake": ".", "kconfig": "Kconfig"}}
        assert yaml.safe_load(files["zephyr/module.yml"]) == module
    (tmp_path / "all.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run([find_tool("cmake"), "-P", "all.cmake"], tmp_path)
    assert (tmp_path / "built").read_text() == "x" * len(models)


def test_rules_of_blobs_stand_on_a_line_each(models, tmp_path):
    short = [text for text in HOSTILE if len(text) < 1000]
    for place in range(0, len(short), 8):
        blob = export_blob(hostile_model(place, texts=short), name="m")
        lines = blob.files["m_rules.txt"].splitlines()
        assert len(lines) == len(blob.rules)
        assert all(line.isprintable() for line in lines)
        write_all(tmp_path, blob.files)
        ask = "import solah_blob as b; b.load('m.bin', 'm_rules.txt'); b.why({})"
        run([sys.executable, "-c", ask], tmp_path)


@given(TEXTS)
def test_a_comment_is_one_line_that_ends_nothing(text):
    written = comment(text)
    assert written.isprintable()
    assert not re.search(r"\*/|/\*|\?\?|\\", written)
    assert comment(written) == written


@given(TEXTS)
def test_what_can_be_seen_is_written_as_it_is(text):
    assert one_line(text).isprintable()
    if text.isprintable():
        assert one_line(text) == " ".join(text.split())


@given(TEXTS)
def test_a_prompt_of_kconfig_expands_nothing(text):
    assert not set(kconfig(text)) & set('"$\\')


@given(TEXTS)
def test_a_string_of_c_means_the_text(text):
    written = c_string(text)
    assert re.fullmatch(r'"(?:[ !#-\[\]-~]|\\[0-7]{3})*"', written)
    assert "?" not in written
    octal = re.compile(rb"\\([0-7]{3})")
    meant = octal.sub(lambda found: bytes([int(found[1], 8)]), written[1:-1].encode())
    assert meant == text.encode()


@pytest.mark.parametrize("text", ["ä" * 2048, "a" * 4096, "色" * 9999])
def test_a_string_that_is_too_long_for_c_is_cut(text):
    written = c_string(text)
    n_bytes = len(re.findall(r"\\[0-7]{3}|.", written[1:-1]))
    assert 4090 <= n_bytes <= 4095
    assert written.endswith(c_string("…")[1:])
