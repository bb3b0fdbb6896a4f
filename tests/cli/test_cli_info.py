"""``solah info``, ``solah datasets``, ``--version`` and the help pages."""

from typer.main import get_command

import solah
from solah.cli.main import app
from solah.kernels import native


def test_info_names_versions_kernel_and_threads(run):
    document = run("info", "--json").document
    assert document["versions"]["solah"] == solah.__version__
    assert set(document["versions"]) == {"solah", "numpy", "scikit-learn", "python"}
    assert document["kernel"]["name"] in ("native", "reference")
    assert document["threads"] >= 1
    assert set(document["extras"]) >= {"dask", "plot"}
    text = run("info").out
    assert f"kernel {document['kernel']['name']}" in " ".join(text.split())
    assert "/" not in text.partition("library")[2].partition("\n")[0]


def test_info_says_why_it_is_numpy(run, monkeypatch):
    monkeypatch.setattr(native, "load", lambda: None)
    monkeypatch.setattr(native, "find_library", lambda: None)
    assert "reference (NumPy, as solah was installed without a C compiler)" in run("info").out
    monkeypatch.undo()
    monkeypatch.setenv("SOLAH_KERNEL", "reference")
    kernel = run("info", "--json").document["kernel"]
    assert kernel["name"] == "reference"
    monkeypatch.setenv("SOLAH_KERNEL", "fast")
    run("info").check_error("SOLAH_KERNEL")


def test_datasets_are_listed(run):
    names = {each["name"]: each for each in run("datasets", "--json").document}
    assert names["wine"]["at_hand"] is True
    assert names["wine"]["rows"] == 178
    text = run("datasets").out
    assert "wine" in text
    assert names["sonar"]["source"] in text
    assert f"[1] {names['iris']['licence']}" in text


def test_version(run):
    assert run("--version").out == f"solah {solah.__version__}\n"


def test_every_help_page_fits_a_screen_and_ends_with_an_example(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    commands = get_command(app).commands
    pages = [*commands, *(f"site {name}" for name in commands["site"].commands)]
    pages += ["rules edit", "rules build"]
    for name in pages:
        page = run(*name.split(), "--help").out
        assert len(page.splitlines()) <= 64, name
        if name != "site":
            assert f"solah {name}" in page.partition("Example: ")[2], name
            assert page.startswith(f"Usage: solah {name} "), name
    assert len(commands) == 17


def test_options_stand_in_sections(run):
    titles = ["Arguments:", "Columns (lists: repeat the option, or use commas):"]
    titles += ["The model:", "Recordings of samples:", "Options:"]
    page = run("fit", "--help").out
    found = [line for line in page.splitlines() if line.endswith(":") and line[0] != " "]
    assert found == titles
    options = [line for line in page.splitlines() if line.startswith("  -")]
    assert len(options) <= 21  # four of which every command has
