from __future__ import annotations

import dataclasses
import doctest
import importlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from toy_plants import TOY, TOY_CSV

import solah.datasets
from solah.datasets import Dataset, available, load, registry
from solah.exceptions import DataError, DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from solah.datasets.entries import Entry


def test_the_public_names() -> None:
    assert solah.datasets.__all__ == ["Dataset", "DatasetInfo", "available", "load"]


def test_importing_and_listing_do_not_import_scikit_learn() -> None:
    code = (
        "import sys, solah.datasets as d; assert 'pooch' not in sys.modules; d.available(); "
        "assert 'sklearn' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.parametrize("module", ["", ".loading", ".listing"])
def test_the_examples_in_the_docs_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"solah.datasets{module}"))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("entry", registry.BUNDLED, ids=lambda entry: entry.name)
def test_scikit_learn_s_sets_are_always_there(entry: Entry) -> None:
    dataset = load(entry.name)
    assert dataset.X.shape == (entry.n_rows, entry.n_attributes)
    assert dataset.X.dtype == np.float64
    assert dataset.y is dataset.goal
    assert dataset.class_counts == dict(sorted(entry.classes.items()))
    assert dataset.goal_name == "class"
    assert dataset.groups is None
    assert dataset.kinds == {}


def test_names_of_attributes_are_scikit_learn_s() -> None:
    assert load("wine").feature_names[-2:] == ("od280/od315_of_diluted_wines", "proline")
    assert load("wdbc").feature_names[0] == "mean radius"
    assert load("iris").feature_names[0] == "sepal length (cm)"


def test_scikit_learn_s_sets_ignore_a_folder_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOLAH_DATA", "nowhere at all")
    assert load("iris").table.n_rows == 150


def load_toy(folder: Path, text: str) -> Dataset:
    (folder / "toy_plants.csv").write_text(text, encoding="utf-8")
    return load("toy")


def test_a_set_is_read_from_the_folder(folder: Path) -> None:
    dataset = load_toy(folder, TOY_CSV)
    assert repr(dataset) == "Dataset('toy_plants', 3 rows, 3 attributes, 2 classes)"
    assert dataset.feature_names == ("size", "weight", "code")
    assert dataset.table.column("size").values.tolist() == ["small", "large", None]
    np.testing.assert_array_equal(dataset.table.column("code").values, [np.nan, 7, 7])
    assert dataset.goal.tolist() == ["yes", "no", "yes"]
    assert dataset.goal_name == "class"
    assert dataset.kinds == {"size": ("small", "large")}
    assert dataset.groups is not None
    assert dataset.groups.tolist() == ["spring", "spring", "autumn"]
    info = available()[-1]
    assert (info.where, info.at_hand) == ("SOLAH_DATA", True)


def test_text_does_not_fit_into_an_array(folder: Path) -> None:
    dataset = load_toy(folder, TOY_CSV)
    with pytest.raises(DataError, match=r"'toy_plants' has columns of text \('size'\).*\.table"):
        _ = dataset.X


def test_numbers_as_class_labels_become_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered = dataclasses.replace(
        TOY, classes={"1": 1, "2": 2}, n_attributes=1, kinds={}, groups=None, raw=None
    )
    monkeypatch.setattr(registry, "ENTRIES", (numbered,))
    dataset = load_toy(folder, "weight,selector\n1.5,2\n2.5,1\n0.5,2\n")
    assert dataset.goal.tolist() == ["2", "1", "2"]
    assert dataset.goal_name == "selector"
    assert dataset.X.tolist() == [[1.5], [2.5], [0.5]]


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("action", [lambda: load("toy"), available], ids=["load", "available"])
def test_a_folder_that_is_none_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, action: object
) -> None:
    file = tmp_path / "a file"
    file.touch()
    for wrong in (file, tmp_path / "nowhere"):
        monkeypatch.setenv("SOLAH_DATA", str(wrong))
        with pytest.raises(DatasetError, match=r"SOLAH_DATA is .*which is not a folder"):
            action()  # type: ignore[operator]


@pytest.mark.parametrize("broken", ["", '"never closed\n1,2', "a,class\n1\n2,3,4\n"])
def test_a_broken_file_is_named(folder: Path, broken: str) -> None:
    with pytest.raises(DatasetError, match=r"toy_plants"):
        load_toy(folder, broken)


def test_a_file_that_holds_something_else_is_refused(folder: Path) -> None:
    for wrong, fault in (
        (TOY_CSV.replace("code,", "").replace(",,y", ",y").replace("7,", ""), "2 attributes where"),
        (TOY_CSV.replace("size", "height"), "no column 'size'"),
        (TOY_CSV.replace("large,,7,no\n", ""), "its classes are {'yes': 2} where"),
        (TOY_CSV.replace(",no", ","), "its classes are"),
    ):
        with pytest.raises(DatasetError, match=fault):
            load_toy(folder, wrong)


@pytest.mark.parametrize("name", ["liver", "pima", "skab"])
def test_sets_without_a_download_say_how_to_get_them(name: str) -> None:
    entry = registry.find_entry(name)
    with pytest.raises(DatasetError) as caught:
        load(name)
    assert entry.source in str(caught.value)
    assert entry.file_name in str(caught.value)
    assert "SOLAH_DATA" in str(caught.value)


def test_the_list_tells_shapes_without_reading() -> None:
    infos = {info.name: info for info in available()}
    assert list(infos) == [entry.name for entry in registry.ENTRIES]
    pima = infos["diabetes_pima"]
    assert (pima.rows, pima.attributes, pima.classes) == (768, 8, 2)
    assert (pima.where, pima.at_hand) == ("by hand", False)
    assert (infos["wine"].where, infos["wine"].at_hand) == ("scikit-learn", True)
    assert (infos["glass"].where, infos["glass"].at_hand) == ("download", False)
