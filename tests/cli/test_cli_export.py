"""``solah export``: files for a device, and how well they decide."""

import subprocess

import pytest


def test_a_model_is_written_and_compiles(run, wine_model, tmp_path, find_tool):
    outcome = run("export", wine_model, "-o", tmp_path / "fw")
    written = sorted(file.name for file in (tmp_path / "fw").iterdir())
    assert written == ["solah_core.h", "solah_float.h", "solah_tables.h", "wine.c", "wine.h"]
    assert outcome.out.startswith("Written\n")
    command = [find_tool("cc"), "-std=c99", "-Wall", "-Werror", "-c", "wine.c", "-o", "wine.o"]
    subprocess.run(command, cwd=tmp_path / "fw", check=True)


@pytest.mark.parametrize("numbers", ["float", "q15"])
def test_the_device_is_compared_with_the_model(run, wine_model, tmp_path, numbers):
    words = ("export", wine_model, "wine", "--numbers", numbers, "-o", tmp_path / "fw")
    found = run(*words, "--json").document
    assert found["numbers"] == numbers
    assert found["check"]["rows"] == 178
    assert found["check"]["same_decisions"] > 0.98
    assert found["check"]["accuracy_on_device"] == pytest.approx(
        found["check"]["accuracy"], abs=0.02
    )
    assert "accuracy on the device" in run(*words).out


def test_rows_without_truth_are_compared_too(run, fruits, fruit_model, tmp_path):
    lines = fruits.read_text(encoding="utf-8").splitlines()
    fruits.write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n", encoding="utf-8")
    check = run("export", fruit_model, fruits, "-o", tmp_path / "fw", "--json").document["check"]
    assert check["same_decisions"] == 1.0
    assert "accuracy" not in check


def test_a_number_is_compared_in_its_unit(run, write, tmp_path):
    table = write("n.csv", "x,y", *(f"{i},{i * 2.5}" for i in range(40)))
    run("fit", table, "-t", "y", "--task", "regression", "-o", tmp_path / "n.json", "-q")
    for numbers in ("float", "q15"):
        words = ("export", tmp_path / "n.json", table, "--numbers", numbers, "-o", tmp_path / "fw")
        assert run(*words, "--json").document["check"]["largest_difference"] < 0.2


def test_a_module_for_micropython_is_written(run, wine_model, tmp_path):
    words = ("export", wine_model, "wine", "--to", "micropython", "-o", tmp_path / "board")
    found = run(*words, "--json").document
    assert found["numbers"] == "q15"
    assert [file.name for file in (tmp_path / "board").iterdir()] == ["wine.py"]
    run(*words, "--numbers", "float").check_error("MicroPython computes in integers")


@pytest.mark.parametrize(
    ("to", "file"), [("arduino", "library.properties"), ("zephyr", "zephyr/module.yml")]
)
def test_libraries_are_laid_out(run, wine_model, tmp_path, to, file):
    outcome = run("export", wine_model, "--to", to, "--numbers", "q15", "-o", tmp_path / "lib")
    assert outcome.code == 0
    assert (tmp_path / "lib" / file).is_file()
    assert (tmp_path / "lib" / "src" / "wine.c").is_file()


def test_the_name_is_the_users(run, wine_model, tmp_path):
    run("export", wine_model, "--name", "cellar", "-o", tmp_path / "fw")
    assert "int cellar_decide(" in (tmp_path / "fw" / "cellar.h").read_text(encoding="utf-8")
    run("export", wine_model, "--name", "2nd", "-o", tmp_path / "fw2").check_error("--name")
    assert not (tmp_path / "fw2").exists()


def test_a_file_is_no_folder(run, wine_model, write):
    run("export", wine_model, "-o", write("file", "x")).check_error("file")
