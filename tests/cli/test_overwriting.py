"""A file that a verb reads is never written by it, whatever it is called there."""

import os
from pathlib import Path

import pytest

from solah.cli.command import refuse_overwriting
from solah.exceptions import ParameterError

LOST = "would destroy it"


@pytest.fixture
def aliases(tmp_path, monkeypatch):
    """Return a function that lists other names of a file: relative, linked, hard-linked."""
    monkeypatch.chdir(tmp_path)

    def names_of(file):
        link, hard = tmp_path / f"link-{file.name}", tmp_path / f"hard-{file.name}"
        link.symlink_to(file)
        os.link(file, hard)
        return [
            file,
            Path(file.name),
            tmp_path / "." / ".." / tmp_path.name / file.name,
            link,
            hard,
        ]

    return names_of


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "MODEL", "DATA", "-o"),
        ("rules", "MODEL", "--format", "text", "-o"),
        ("explain", "MODEL", "DATA", "--format", "json", "-o"),
        ("report", "MODEL", "DATA", "-o"),
        ("adapt", "MODEL", "DATA", "-o"),
        ("adapt", "MODEL", "--device-state", "DATA", "-o"),
        ("site", "plan", "MODEL", "-o"),
        ("site", "plan", "MODEL", "-o", "fresh.json", "--acl"),
        ("site", "plan", "MODEL", "--placement", "DATA", "-o"),
        ("site", "plan", "MODEL", "--sign", "DATA", "-o"),
        ("fit", "DATA", "-t", "kerne", "--placement", "MODEL", "-o"),
        ("follow", "DATA", "-t", "kerne", "-o"),
        ("site", "node", "--plan", "MODEL", "--name", "a", "--replay", "DATA", "--state"),
        ("site", "node", "--plan", "MODEL", "--name", "a", "--trust", "DATA", "--state"),
        ("site", "node", "--plan", "MODEL", "--name", "a", "--key", "DATA", "--state"),
    ],
    ids=" ".join,
)
def test_no_verb_writes_what_it_reads(run, fruits, fruit_model, aliases, words):
    files = {"MODEL": fruit_model, "DATA": fruits}
    before = {file: file.read_bytes() for file in files.values()}
    for what in set(files) & set(words):
        for name in aliases(files[what]):
            run(*(files.get(word, word) for word in words), name).check_error(LOST, str(name))
    assert {file: file.read_bytes() for file in files.values()} == before
    assert not Path("fresh.json").exists()


def test_files_of_a_pattern_are_inputs(run, write, aliases):
    first = write("day1.csv", "a,b", "1,x", "2,y")
    write("day2.csv", "a,b", "3,x", "4,y")
    for name in aliases(first):
        run("fit", "day*.csv", "-t", "b", "-o", name).check_error(LOST, "day*.csv")
    assert first.read_text(encoding="utf-8") == "a,b\n1,x\n2,y\n"


def test_parquet_files_of_a_folder_are_inputs(run, tmp_path):
    folder = tmp_path / "days" / "may"
    folder.mkdir(parents=True)
    (folder / "1.parquet").write_bytes(b"rows")
    run("fit", tmp_path / "days", "-t", "b", "-o", folder / "1.parquet").check_error(LOST)
    refuse_overwriting([folder / "model.json"], [tmp_path / "days"])
    (folder / "model.json").write_text("{}", encoding="utf-8")
    refuse_overwriting([folder / "model.json"], [tmp_path / "days"])  # no rows are read from it


def test_export_keeps_the_model(run, fruit_model, tmp_path):
    odd = fruit_model.rename(tmp_path / "fruits.h")
    before = odd.read_bytes()
    run("export", odd, "-o", tmp_path).check_error(LOST)
    assert odd.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fruits.h", "früchte.csv"]


def test_what_a_run_remembers_is_not_its_output(run, fruits, fruit_model, tmp_path):
    state = tmp_path / "state.json"
    words = ("follow", fruits, "-t", "kerne", "--state", state, "-o", tmp_path / "." / "state.json")
    run(*words).check_error("written twice")
    keys = ("--new-key", tmp_path / "key", "-o", tmp_path / "key.pem")
    run("site", "plan", fruit_model, *keys).check_error("written twice")
    same = ("-o", tmp_path / "plan.json", "--acl", tmp_path / "." / "plan.json")
    run("site", "plan", fruit_model, *same).check_error("written twice")


def test_what_is_not_there_yet_destroys_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("a\n", encoding="utf-8")
    refuse_overwriting([tmp_path / "b.csv"], [tmp_path / "a.csv"])
    refuse_overwriting([tmp_path / "a.csv"], [tmp_path / "b.csv", "-", "x <- " + 400 * "y, ", "\0"])
    refuse_overwriting(["-"], ["-"])
    with pytest.raises(ParameterError, match=LOST):
        refuse_overwriting([tmp_path / "a.csv"], [tmp_path / "b.csv", tmp_path / "a.csv"])
