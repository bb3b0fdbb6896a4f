"""``solah export``: files for a device, and how well they decide."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from small_models import room_model
from solah.model import save_document


def test_a_model_is_written_and_compiles(run, wine_model, tmp_path, find_tool):
    outcome = run("export", wine_model, "-o", tmp_path / "fw")
    written = sorted(file.name for file in (tmp_path / "fw").iterdir())
    model = ["wine.c", "wine.h", "wine_test.c", "wine_test.h"]
    runtime = ["core", "crc", "decide", "flash", "float", "float_math", "tables"]
    assert written == [*(f"solah_{part}.h" for part in runtime), *model]
    assert outcome.out.startswith("Written\n")
    assert "tables, which one runtime reads" in outcome.out
    command = [find_tool("cc"), "-std=c99", "-Wall", "-Werror", "-c", "wine.c", "-o", "wine.o"]
    subprocess.run(command, cwd=tmp_path / "fw", check=True)


def test_reasons_take_tables(run, wine_model, tmp_path):
    model = tmp_path / "room.json"
    save_document(room_model(), model)
    assert "plain C, a function per feature" in run("export", model, "-o", tmp_path / "a").out
    outcome = run("export", model, "--reasons", "-o", tmp_path / "b")
    assert "tables, which one runtime reads" in outcome.out
    assert "int room_why(" in (tmp_path / "b" / "room.h").read_text(encoding="utf-8")
    words = ("export", model, "--reasons", "--style", "plain", "-o", tmp_path / "c")
    run(*words).check_error("plain C has no reasons; pass style='tables' (--style tables)")
    run("export", wine_model, "--to", "blob", "--no-missing").check_error(
        "which a blob does not have"
    )
    words = ("export", model, "--arithmetic", "q15", "-o", tmp_path / "d")
    assert run(*words, "--adc", "CO2=12,0.5,200").code == 0
    assert "the count of an ADC" in (tmp_path / "d" / "room.h").read_text(encoding="utf-8")
    run(*words, "--adc", "CO2=12").check_error("--adc must be COL=BITS,GAIN,OFFSET")
    run(*words, "--adc", "CO2=12,0.5,0", "--to", "arduino").check_error(
        "--adc requires --to c, zephyr"
    )


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_the_device_is_compared_with_the_model(run, wine_model, tmp_path, numbers):
    words = ("export", wine_model, "wine", "--arithmetic", numbers, "-o", tmp_path / "fw")
    found = run(*words, "--json").document
    assert found["arithmetic"] == numbers
    assert found["check"]["rows"] == 178
    assert found["check"]["same_decisions"] > 0.98
    assert found["check"]["accuracy_on_device"] == pytest.approx(
        found["check"]["accuracy"], abs=0.02
    )
    assert "accuracy on the device" in run(*words).out


def test_a_module_for_micropython_is_written(run, wine_model, tmp_path):
    words = ("export", wine_model, "wine", "--to", "micropython", "-o", tmp_path / "board")
    found = run(*words, "--json").document
    assert found["arithmetic"] == "q15"
    written = sorted(file.name for file in (tmp_path / "board").iterdir())
    assert written == ["wine.py", "wine_rules.py", "wine_test.py"]
    run(*words, "--arithmetic", "float").check_error("a MicroPython module computes in integers")


@pytest.mark.parametrize(
    ("to", "file"),
    [
        ("arduino", "library.properties"),
        ("platformio", "library.json"),
        ("zephyr", "zephyr/module.yml"),
        ("esp-idf", "idf_component.yml"),
    ],
)
def test_libraries_are_laid_out(run, wine_model, tmp_path, to, file):
    outcome = run("export", wine_model, "--to", to, "--arithmetic", "q15", "-o", tmp_path / "lib")
    assert outcome.code == 0
    assert (tmp_path / "lib" / file).is_file()
    assert (tmp_path / "lib" / "src" / "wine.c").is_file()
    assert (tmp_path / "lib" / "src" / "wine_test.c").is_file()
    assert (tmp_path / "lib" / "LICENSE").is_file()


def test_names_run_nothing_and_compile(run, write, tmp_path, find_tool):
    target = r"-*- coding: raw_unicode_escape -*- \u000aopen('canary','w')#$(shell,touch canary)"
    columns = ("h", "n_readings", "unknown", "x", "x_bits", f'"{target}"')
    rows = [f"{i},{i % 3},{i % 5},{-i},{i % 7},{'no' if i % 2 else 'yes'}" for i in range(40)]
    table, model = write("t.csv", ",".join(columns), *rows), tmp_path / "m.json"
    assert run("fit", table, "-t", target, "--model", "tree", "-o", model, "-q").code == 0
    board, firmware, module = (tmp_path / name for name in ("board", "firmware", "module"))
    assert run("export", model, "--to", "micropython", "-o", board).code == 0
    environment = {**os.environ, "PYTHONPATH": str(board)}
    subprocess.run([sys.executable, "-c", "import m"], env=environment, cwd=board, check=True)
    assert not (board / "canary").exists()
    assert run("export", model, "--arithmetic", "q15", "-o", firmware).code == 0
    command = [find_tool("cc"), "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "m.c"]
    subprocess.run(command, cwd=firmware, check=True)
    assert run("export", model, "--to", "zephyr", "-o", module).code == 0
    assert "$(" not in (module / "Kconfig").read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt])
def test_an_export_that_fails_leaves_the_folder_as_it_was(
    run, wine_model, tmp_path, monkeypatch, fault
):
    folder = tmp_path / "fw"
    run("export", wine_model, "-o", folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    renamed = []

    def replace(draft, target):
        renamed.append(target)
        if Path(target).suffix == ".c":
            raise fault
        return os.replace(draft, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        outcome = run("export", wine_model, "--arithmetic", "q15", "-o", folder)
    assert outcome.code != 0
    assert outcome.err.count("\n") <= 1
    assert any(Path(target).suffix == ".h" for target in renamed)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_model_that_is_too_large_is_refused(run, wine_model, tmp_path):
    words = ("export", wine_model, "--arithmetic", "q15", "-o", tmp_path / "fw")
    outcome = run(*words, "--max-flash", "0.5k", "--platform", "avr")
    outcome.check_error(
        "on avr, and 'max_flash' allows 512", "--set max_flash=512 --set platform=avr"
    )
    run(*words, "--max-flash", "1.5").check_error("must be a number of bytes such as 2048 or 4k")
    run(*words, "--platform", "avr").check_error("requires --footprint or --max-flash")
    several = ("--platform", "cortex-m0plus", "--platform", "avr,cortex-m4")
    run(*words, "--max-flash", "0.5k", *several).check_error("'max_flash' allows 512")
    assert not (tmp_path / "fw").exists()
    assert run(*words, "--max-flash", "9k", *several).code == 0


def test_a_blob_is_written_with_what_opens_it(run, wine_model, tmp_path):
    found = run(
        "export", wine_model, "wine", "--to", "blob", "-o", tmp_path / "out", "--json"
    ).document
    assert found["check"]["same_decisions"] > 0.98
    assert (tmp_path / "out" / "wine.bin").read_bytes().startswith(b"SLHB")
    assert (tmp_path / "out" / "solah_blob.h").exists()
    assert (tmp_path / "out" / "solah_blob.py").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--learn", "--arithmetic", "float"), "learns in integers"),
        (("--learn", "--to", "micropython"), "does not learn"),
        (("--learn", "--pace", "0"), "'pace' must be"),
        (("--pace", "2"), "--pace requires --learn"),
        (("--forgetting", "0.1"), "--forgetting requires --learn"),
        (("--footprint", "--max-flash", "4k"), "--max-flash requires an export"),
        (("--arithmetic", "q15", *("--adc", "hue=8,0.01,0") * 2), "states 'hue' twice"),
        (("--arithmetic", "q15", "--adc", "hue=17,0.01,0"), "1 to 16 bits"),
        (("--to", "blob", "--arithmetic", "float"), "computes in integers"),
        (("--to", "blob", "--max-flash", "4k"), "which a blob does not have"),
        (("--new-key", "key"), "requires --to blob"),
        (("--to", "blob", "--counter", "3"), "requires --sign or --new-key"),
        (("--to", "blob", "--sign", __file__), "has no readable key"),
        (("--to", "blob", "--sign", __file__, "--new-key", "key"), "no --sign"),
    ],
)
def test_what_does_not_go_together_is_said(run, wine_model, tmp_path, words, said):
    run("export", wine_model, *words, "-o", tmp_path / "out").check_error(said)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def outlier(run, write, tmp_path):
    """Fit a model to readings up to 1, of which two were 1e9; return it and a row of these."""
    near = [f"{i / 400},{'low' if i < 200 else 'high'}" for i in range(400)]
    table = write("near.csv", "x,y", *near, "1e9,far", "1e9,far")
    run("fit", table, "-t", "y", "--model", "tree", "-o", tmp_path / "near.json", "-q")
    return tmp_path / "near.json", table, write("far.csv", "x,y", "1e9,far")


@pytest.mark.parametrize(
    "words",
    [
        ("--arithmetic", "q15"),
        ("--arithmetic", "q15", "--max-flash", "100k"),
        ("--to", "arduino", "--arithmetic", "q15"),
        ("--to", "micropython"),
        ("--to", "blob"),
        ("--learn",),
    ],
)
def test_a_device_that_decides_otherwise_is_not_written(run, outlier, tmp_path, words):
    model, table, far = outlier
    outcome = run("export", model, far, *words, "-o", tmp_path / "fw")
    outcome.check_error(
        "the device decides as the model does on 0 % of 1 rows, and 99.5 % are asked for "
        "(--min-agreement): 'x' is clipped to 0 … 0.7525: steps that reach its word at 1e+09"
    )
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "fw").exists()
    allowed = run("export", model, far, *words, "--min-agreement", "0", "-o", tmp_path / "fw")
    assert "'x' is clipped to 0 … 0.7525" in allowed.err
    run("export", model, table, *words, "-o", tmp_path / "fw")


def test_a_blob_is_signed(run, wine_model, tmp_path):
    from solah.export import open_signed

    words = ("export", wine_model, "--to", "blob", "-o", tmp_path / "fw")
    found = run(*words, "--new-key", tmp_path / "key", "--json").document
    assert {str(tmp_path / "key.pem"), str(tmp_path / "key.pub.pem")} < set(found["files"])
    data = (tmp_path / "fw" / "wine.bin").read_bytes()
    blob, first = open_signed(data, tmp_path / "key.pub.pem")
    assert blob.startswith(b"SLHB")
    run(*words, "--sign", tmp_path / "key.pem", "--counter", first + 7)
    data = (tmp_path / "fw" / "wine.bin").read_bytes()
    assert open_signed(data, tmp_path / "key.pub.pem", first) == (blob, first + 7)
    assert "wine_public_key[32]" in (tmp_path / "fw" / "wine_key.h").read_text("utf-8")
    run(*words, "--new-key", tmp_path / "key").check_error("key.pem", "never overwritten")


def test_a_new_key_is_not_written_over_anything(run, wine_model, tmp_path):
    (tmp_path / "key.pub.pem").write_text("mine")
    words = ("export", wine_model, "--to", "blob", "--new-key", tmp_path / "key")
    run(*words, "-o", tmp_path / "fw").check_error("key.pub.pem")
    assert not (tmp_path / "fw").exists()
    assert not (tmp_path / "key.pem").exists()
