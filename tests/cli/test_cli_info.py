"""``solah info``, ``solah datasets``, ``--version`` and the help pages."""

import pytest

import solah
from solah.cli import info
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


def test_info_tells_how_to_get_what_is_missing(run, monkeypatch):
    monkeypatch.setattr(info, "_extras", lambda: {"plot": {"matplotlib": None}})
    assert "not installed; to get it: pip install 'solah[plot]'" in run("info").out


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


@pytest.mark.parametrize(
    "verb", ["demo", "datasets", "fit", "evaluate", "predict", "rules", "info"]
)
def test_every_verb_has_help_with_an_example(run, verb):
    assert f"\n  {verb} " in run("--help").out
    page = run(verb, "--help").out
    assert f"Usage: solah {verb} [OPTIONS]" in page
    assert f"solah {verb}" in page.partition("Example:")[2]
    assert "--json" in page


def test_options_stand_in_sections(run):
    page = run("fit", "--help-all").out
    titles = [line for line in page.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == [
        "Arguments:",
        "Columns:",
        "The model:",
        "Rules that add up, --model solah:",
        "Hierarchies of trees; with --model solah, any of these stacks trees:",
        "Trees; with --model solah, any of these stacks trees:",
        "The search, --model genetic:",
        "More rows than memory:",
        "Following a stream:",
        "Recordings of samples:",
        "Don't know:",
        "Decisions one after the other:",
        "Reading the file:",
        "Output:",
        "Work:",
        "Options:",
    ]
