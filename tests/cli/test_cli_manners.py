"""Errors in one line, interrupts, pipes that close, and a start that stays quick."""

import io
import os
import subprocess
import sys

import pytest

from solah import load_model
from solah.cli import main as program
from solah.cli import rules

PROGRAM = [sys.executable, "-m", "solah.cli.main"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("fti",), "Did you mean 'fit'?"),
        (("fit", "wine", "--plaement", "x"), "--placement"),
        (("fit",), "Missing argument 'DATA'. (see 'solah fit --help')"),
        (("rules", "m.json", "--limit", "many"), "--limit"),
        (("-q",), "Missing command"),
    ],
)
def test_wrong_usage(run, words, part):
    run(*words).check_error(part)


def test_verbose_adds_a_traceback(run, tmp_path):
    for words in (("-v", "rules"), ("rules", "-v")):
        outcome = run(*words, tmp_path / "no.json")
        assert outcome.code == 2
        assert outcome.err.startswith("Traceback")
        assert outcome.err.splitlines()[-1].startswith("solah: error: ")
    assert "Traceback" not in run("rules", tmp_path / "no.json").err


def test_an_error_of_ours_is_not_hidden(monkeypatch, tmp_path, run, fruit_model):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(rules, "_show", broken)
    with pytest.raises(ZeroDivisionError):
        run("rules", fruit_model)


def test_an_interrupt_is_one_line(monkeypatch, run, fruit_model):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(rules, "_show", interrupted)
    outcome = run("rules", fruit_model)
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "solah: interrupted\n")


def test_a_full_disk_behind_stdout(fruit_model):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, "rules", fruit_model], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (2, "solah: error: No space left on device\n")


def test_a_reader_that_leaves_early_is_no_error(run, write, tmp_path):
    run("fit", "wine", "-o", tmp_path / "m.json", "--set", "@paper", "--set", "max_depth=4")
    names = [feature.name for feature in load_model(tmp_path / "m.json").model_.features]
    write("t.csv", ",".join(names), *(",".join(map(str, range(i, i + 13))) for i in range(5_000)))
    for line in ("rules m.json", "rules m.json --json", "predict m.json t.csv"):
        writer = subprocess.Popen(
            [*PROGRAM, *line.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
        )
        reader = subprocess.run(["head", "-1"], stdin=writer.stdout, capture_output=True)
        writer.stdout.close()
        assert reader.stdout.count(b"\n") == 1
        error = writer.stderr.read()
        writer.stderr.close()
        # 0 where the pipe is so large that all of it had room before the reader left.
        assert (error, writer.wait() in (0, 1)) == (b"", True)


@pytest.mark.parametrize("method", ["write", "flush"])
def test_a_broken_pipe_is_quiet_wherever_it_breaks(monkeypatch, capsys, fruit_model, method):
    class Broken(io.StringIO):
        pass

    def broken(*_):
        raise BrokenPipeError(32, "Broken pipe")

    stream = Broken()
    monkeypatch.setattr(stream, method, broken)
    monkeypatch.setattr(sys, "stdout", stream)
    capsys.readouterr()
    assert program.main(["rules", str(fruit_model)]) == 1
    assert capsys.readouterr().err == ""


def test_names_that_the_terminal_cannot_write(fruit_model):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "FORCE_COLOR": ""}
    done = subprocess.run([*PROGRAM, "rules", fruit_model], capture_output=True, env=environment)
    assert done.returncode == 0
    assert b"\\u8272 is rot" in done.stdout


def imported_by(*calls, names):
    """Run the program in a fresh process; tell which of the packages it imported."""
    code = (
        f"import sys; from solah.cli.main import main; codes = [main(c) for c in {calls!r}];"
        f"print(codes, [name for name in {names!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


def test_help_imports_nothing_heavy():
    names = ["sklearn", "scipy", "numpy", "pandas", "polars", "pyarrow", "rich", "jinja2"]
    assert imported_by(["--help"], ["fit", "--help"], ["--version"], names=names) == "[0, 0, 0] []"


def test_models_are_used_without_scikit_learn(fruits, fruit_model):
    model, data = str(fruit_model), str(fruits)
    used = imported_by(["rules", model], ["predict", model, data], names=["sklearn", "scipy"])
    assert used == "[0, 0] []"


def test_a_terminal_gets_colours_and_a_pipe_does_not(run, fruit_model, monkeypatch):
    assert "\x1b" not in run("rules", fruit_model).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in run("rules", fruit_model).out
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b" not in run("rules", fruit_model).out


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text on other systems")
@pytest.mark.parametrize("more", [(), ("--memory", "8GB")])
def test_a_file_name_that_is_not_utf_8_loses_nothing(run, fruits, tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    data, model = (os.fsdecode(name) for name in (b"caf\xe9.csv", b"mod\xe8le.json"))
    fruits.rename(data)
    fit = run("fit", data, "-t", "geschmack 👅", "--drop", "id", "-o", model, *more)
    assert fit.code == 0, fit.err
    assert '"source": "caf\N{REPLACEMENT CHARACTER}.csv"' in (tmp_path / model).read_text("utf-8")
    for words in (("report", "--card", model, data), ("report", model, data, "-o", "report.html")):
        assert run(*words).code == 0
