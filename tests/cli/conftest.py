"""What the tests of the command line share."""

import json
import signal
from dataclasses import dataclass
from typing import Any

import pytest
from cli_wiring import WINE_HIERARCHY

from solah.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a run of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    def check_error(self, *parts: str) -> None:
        """See that the run failed politely: code 2, nothing on stdout, one line that says it."""
        assert self.code == 2
        assert self.out == ""
        assert self.err.startswith("solah: error: ")
        assert self.err.count("\n") == 1
        for part in parts:
            assert part in self.err


@pytest.fixture
def run(capsys):
    """Return a function that runs the program in this process."""

    def call(*words: object) -> Outcome:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def in_background():
    """Let processes start with SIGINT ignored, as those that a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a file of lines."""

    def make(name: str, *lines: str):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return make


@pytest.fixture
def fruits(write):
    """Return a small table with every kind of column, and names that are not plain ASCII."""
    rows = [
        f"{i},{1 + i % 7 * 0.5},{'rot' if i % 3 else 'grün'},{i % 4},{'süß' if i % 3 else 'saur'}"
        for i in range(24)
    ]
    return write("früchte.csv", "id,größe cm,色,kerne,geschmack 👅", *rows)


_FITTED: dict[str, bytes] = {}


def fitted(path, *words):
    """Write the model of a fit, which is made once."""
    if path.name not in _FITTED:
        assert main([*map(str, words), "-o", str(path), "-q"]) == 0
        _FITTED[path.name] = path.read_bytes()
    path.write_bytes(_FITTED[path.name])
    return path


@pytest.fixture
def fruit_model(fruits, tmp_path):
    """Return the model of a tree that knows the fruits."""
    columns = ("-t", "geschmack 👅", "--drop", "id")
    return fitted(tmp_path / "fruits.json", "fit", fruits, *columns, "--model", "tree")


@pytest.fixture
def wine_model(tmp_path):
    """Return the model of a custom hierarchy that knows the wines."""
    return fitted(tmp_path / "wine.json", "fit", "wine", "--set", f"hierarchy={WINE_HIERARCHY}")
