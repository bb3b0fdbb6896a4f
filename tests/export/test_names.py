"""Generated names: none is there twice, and none is that of something else."""

import re
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_models import random_feature, random_model, random_tree
from solah.data import Kind
from solah.exceptions import ParameterError
from solah.export import export_blob, export_c, export_micropython
from solah.export.names import check_identifier, identifier
from solah.export.online import Pace
from solah.model import Model, Target

# Names of columns that are also what headers of models call other things, alone or once joined.
COLUMNS = (
    *("h", "n readings", "unknown", "n_classes", "n_rules", "n_learned", "n_saved", "model"),
    *(
        "x",
        "x_bits",
        "bits_x",
        "bits",
        "X",
        "x 2",
        "x_2",
        "reading_x",
        "reading",
        "reading reading",
    ),
    *("decide", "why", "class_name", "memory", "int", "if", "__func__", "2", "", "色", "色色"),
)
KINDS = ({"numbers": "float"}, {"numbers": "q15"}, {"numbers": "q15", "learning": Pace()})
TREE = random_model(np.random.default_rng(0), "tree")


def model_with(names):
    """Make a model of one tree that asks features of these names."""
    rng = np.random.default_rng(0)
    kinds = (Kind.CONTINUOUS, Kind.CATEGORICAL)
    features = [random_feature(rng, name, kinds[i % 5 == 4]) for i, name in enumerate(names)]
    tree = random_tree(rng, "y", features, 2)
    return Model(Target("y", ("h", "n_readings")), tuple(features), (tree,))


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("kind", KINDS, ids=["float", "q15", "learns"])
def test_no_name_of_a_header_is_there_twice(kind, tmp_path, find_tool):
    export = export_c(model_with(COLUMNS), name="m", **kind)
    for name, text in export.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    header = export.files["m.h"]
    enumerators = re.search(r"enum \{\n(.*?)\};", header, re.DOTALL)[1]
    readings = re.findall(r"^    (\w+)", enumerators, re.MULTILINE)
    macros = re.findall(r"^#define (\w+)", header, re.MULTILINE)
    functions = re.findall(r"\b(m_\w+)(?:\(|;)", header)
    assert len(readings) == len(COLUMNS) + 1
    every = [*readings, *macros, *functions]
    assert len(set(every)) == len(every)
    # A macro would stand for an enumerator of its name in silence: ask for all places.
    asked = "".join(
        f"typedef char place_{i}[{name} == {i} ? 1 : -1];\n" for i, name in enumerate(readings)
    )
    main = f'#include "m.h"\n{asked}int main(void) {{ return 0; }}\n'
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only")
    subprocess.run([find_tool("cc"), *strict, "m.c", "main.c"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("kind", KINDS, ids=["float", "q15", "learns"])
def test_no_name_of_a_model_leads_to_a_name_within_its_source(kind):
    export = export_c(model_with(["x"]), name="m", **kind)
    header, source = (without_comments(export.files[f"m.{kind}"]) for kind in "hc")
    endings = {name.removeprefix("m") for name in re.findall(r"\bm_\w+", header)}
    assert {"_decide", "_reason"} <= endings
    within = set(re.findall(r"\b[a-z_]\w+", source))
    meant = {name for name in within if name.endswith(tuple(endings))}
    assert {name for name in meant if not re.match("(m|solah)_", name)} == set()


@given(
    st.text() | st.sampled_from(["solah", "Solah_tables", "time", "int", "NUL", "lambda", "x" * 50])
)
def test_any_text_becomes_a_name_that_is_taken(text):
    name = identifier(text, "model")
    assert check_identifier(name) == name


@pytest.mark.parametrize("export", [export_c, export_micropython, export_blob])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, "runtime") for name in ("solah", "solah_tables", "Solah_Fixed", "SOLAH_BLOB")),
        *((name, f"header {name.lower()}.h") for name in ("stdint", "Math", "string", "Arduino")),
        *((name, "Windows") for name in ("nul", "AUX", "com1")),
    ],
)
def test_a_name_that_is_taken_is_refused(name, said, export):
    with pytest.raises(ParameterError, match=f"a model cannot be called '{name}': .*{said}"):
        export(TREE, name=name)


@pytest.mark.parametrize("name", ["json", "Zlib", "network", "machine"])
def test_a_module_has_no_name_of_another(name):
    with pytest.raises(ParameterError, match=f"has a module '{name.lower()}'"):
        export_micropython(TREE, name=name)
    assert export_c(TREE, name=name).name == name


@pytest.mark.parametrize("name", ["lambda", "None", "import"])
def test_a_module_has_no_name_that_cannot_be_imported(name):
    with pytest.raises(ParameterError, match="word of the language"):
        export_micropython(TREE, name=name)


def test_all_names_of_the_runtime_begin_alike():
    """What keeps names of models and of the runtime apart."""
    for header in files("solah.export").joinpath("c_runtime").iterdir():
        assert header.name.startswith("solah_")
        text = without_comments(header.read_text(encoding="utf-8"))
        names = re.findall(r"^\s*#define (\w+)", text, re.MULTILINE)
        names += re.findall(r"^(?:static|SOLAH_INLINE)[^={;]*?(\w+)(?:\(|\[|;)", text, re.MULTILINE)
        names += re.findall(r"^(?:\}|typedef [^{}]*?) (\w+)(?:\[\w+\])?;", text, re.MULTILINE)
        assert names
        assert [name for name in names if not name.lower().startswith("solah")] == []
