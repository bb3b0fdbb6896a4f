"""Sets that come with scikit-learn or lie in a folder, and the facts that the registry has."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from toy_plants import TOY, TOY_CSV

import solah.datasets
from solah.datasets import Dataset, available, load, registry
from solah.datasets.registry import ENTRIES, TARGET, find_entry
from solah.exceptions import DataError, DatasetError

if TYPE_CHECKING:
    from pathlib import Path


def test_the_public_names() -> None:
    assert solah.datasets.__all__ == ["Dataset", "DatasetInfo", "available", "load"]


def test_importing_and_listing_do_not_import_scikit_learn() -> None:
    code = (
        "import sys, solah.datasets as d; d.available(); "
        "assert not {'sklearn', 'pyarrow'} & set(sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_scikit_learn_s_sets_are_always_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLAH_DATA", "nowhere at all")
    for entry in registry.BUNDLED:
        dataset = load(entry.name)
        assert dataset.X.shape == (entry.n_rows, entry.n_features)
        assert dataset.X.dtype == np.float64
        assert dataset.y is dataset.target
        assert dataset.class_counts == dict(sorted(entry.classes.items()))
        assert dataset.target_name == "class"
        assert dataset.groups is None
        assert dataset.kinds == {}
    assert load("wine").feature_names[-2:] == ("od280/od315_of_diluted_wines", "proline")
    assert load("iris").feature_names[0] == "sepal length (cm)"


# A folder


def load_toy(folder: Path, text: str) -> Dataset:
    (folder / "toy_plants.csv").write_text(text, encoding="utf-8")
    return load("toy")


def test_a_set_is_read_from_the_folder(folder: Path) -> None:
    dataset = load_toy(folder, TOY_CSV)
    assert repr(dataset) == "Dataset('toy_plants', 3 rows, 3 features, 2 classes)"
    assert dataset.feature_names == ("size", "weight", "code")
    assert dataset.table.column("size").values.tolist() == ["small", "large", None]
    np.testing.assert_array_equal(dataset.table.column("code").values, [np.nan, 7, 7])
    assert dataset.target.tolist() == ["yes", "no", "yes"]
    assert dataset.target_name == "class"
    assert dataset.kinds == {"size": ("small", "large")}
    assert dataset.groups is not None
    assert dataset.groups.tolist() == ["spring", "spring", "autumn"]
    info = available()[-1]
    assert (info.where, info.at_hand) == ("SOLAH_DATA", True)
    with pytest.raises(DataError, match=r"'toy_plants' has columns of text \('size'\).*\.table"):
        _ = dataset.X


def test_numbers_as_class_labels_become_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbered = dataclasses.replace(
        TOY, classes={"1": 1, "2": 2}, n_features=1, kinds={}, groups=None, raw=None
    )
    monkeypatch.setattr(registry, "ENTRIES", (numbered,))
    dataset = load_toy(folder, "weight,selector\n1.5,2\n2.5,1\n0.5,2\n")
    assert dataset.target.tolist() == ["2", "1", "2"]
    assert dataset.target_name == "selector"
    assert dataset.X.tolist() == [[1.5], [2.5], [0.5]]


@pytest.mark.usefixtures("toy")
def test_a_folder_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "a file"
    file.touch()
    for wrong in (file, tmp_path / "nowhere"):
        monkeypatch.setenv("SOLAH_DATA", str(wrong))
        for action in (lambda: load("toy"), available):
            with pytest.raises(DatasetError, match=r"SOLAH_DATA is .*which is not a folder"):
                action()


def test_a_file_that_cannot_be_read_or_holds_something_else_is_refused(folder: Path) -> None:
    for wrong, fault in (
        ("", "toy_plants"),
        ('"never closed\n1,2', "toy_plants"),
        ("a,class\n1\n2,3,4\n", "toy_plants"),
        (TOY_CSV.replace("code,", "").replace(",,y", ",y").replace("7,", ""), "2 features where"),
        (TOY_CSV.replace("size", "height"), "no column 'size'"),
        (TOY_CSV.replace("large,,7,no\n", ""), "its classes are {'yes': 2} where"),
        (TOY_CSV.replace(",no", ","), "its classes are"),
    ):
        with pytest.raises(DatasetError, match=fault):
            load_toy(folder, wrong)


# The registry


def test_what_users_type_is_understood() -> None:
    typed = {"pima": "diabetes_pima", "Heart-C Cleveland": "heart_c_cleveland", "WINE": "wine"}
    for text, name in typed.items():
        assert find_entry(text).name == name
    with pytest.raises(DatasetError, match="no data set 'hepatitus'; did you mean 'hepatitis'"):
        find_entry("hepatitus")
    with pytest.raises(DatasetError, match="there are: 'iris', 'wdbc'"):
        find_entry("xyzzy")


def test_the_facts_agree_with_one_another() -> None:
    names = Counter(name for entry in ENTRIES for name in (entry.name, *entry.aliases))
    assert set(names.values()) == {1}
    files = []
    for entry in ENTRIES:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", entry.name)
        assert entry.source
        assert entry.licence
        assert len(entry.classes) >= 2
        assert entry.groups is None or sum(entry.groups.values()) == entry.n_rows
        assert entry.loader is None or entry.raw is None
        if (raw := entry.raw) is not None:
            assert re.fullmatch(r"[0-9a-f]{64}", raw.sha256)
            assert not raw.path.startswith("/")
            assert len(set(raw.columns)) == len(raw.columns)
            assert set(raw.columns) >= {TARGET, *raw.drop, *raw.words, *entry.kinds}
            assert len(raw.columns) == entry.n_features + len(raw.drop) + 1
            assert set(raw.words.get(TARGET, {}).values()) <= set(entry.classes)
            files.append(raw.file_name)
    assert len(set(files)) == len(files)  # in the cache


def test_sets_without_a_download_say_how_to_get_them() -> None:
    for name in ("liver", "pima"):
        entry = find_entry(name)
        with pytest.raises(DatasetError) as caught:
            load(name)
        for part in (entry.source, entry.file_name, "SOLAH_DATA"):
            assert part in str(caught.value)


def test_the_list_tells_shapes_without_reading() -> None:
    infos = {info.name: info for info in available()}
    assert list(infos) == [entry.name for entry in ENTRIES]
    pima = infos["diabetes_pima"]
    assert (pima.rows, pima.features, pima.classes) == (768, 8, 2)
    assert (pima.where, pima.at_hand) == ("manual", False)
    assert (infos["wine"].where, infos["wine"].at_hand) == ("scikit-learn", True)
    assert (infos["glass"].where, infos["glass"].at_hand) == ("download", False)
