from __future__ import annotations

import re
from collections import Counter

import pytest

from solah.datasets.entries import GOAL, Entry
from solah.datasets.registry import ENTRIES, find_entry
from solah.exceptions import DatasetError

DOWNLOADS = [entry for entry in ENTRIES if entry.raw is not None]


def test_no_name_means_two_sets() -> None:
    names = Counter(name for entry in ENTRIES for name in (entry.name, *entry.aliases))
    assert {name for name, count in names.items() if count > 1} == set()


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("pima", "diabetes_pima"),
        ("liver", "liver_disorders"),
        ("breast", "breast_cancer_ljubljana"),
        ("heart", "heart_statlog"),
        ("wisconsin", "wisconsin_original"),
        ("hapt", "iot_hapt_windows"),
        ("Heart-C Cleveland", "heart_c_cleveland"),
        ("WINE", "wine"),
    ],
)
def test_what_users_type_is_understood(typed: str, name: str) -> None:
    assert find_entry(typed).name == name


def test_an_unknown_name_is_answered_with_the_likely_one() -> None:
    with pytest.raises(DatasetError, match="no data set 'hepatitus'; did you mean 'hepatitis'"):
        find_entry("hepatitus")
    with pytest.raises(DatasetError, match="there are: 'iris', 'wdbc'"):
        find_entry("xyzzy")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_the_facts_of_a_set_agree_with_one_another(entry: Entry) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", entry.name)
    assert entry.source
    assert entry.licence
    assert len(entry.classes) >= 2
    assert entry.groups is None or sum(entry.groups.values()) == entry.n_rows
    assert entry.loader is None or entry.raw is None


@pytest.mark.parametrize("entry", DOWNLOADS, ids=lambda entry: entry.name)
def test_a_download_describes_its_columns(entry: Entry) -> None:
    raw = entry.raw
    assert raw is not None
    assert re.fullmatch(r"[0-9a-f]{64}", raw.sha256)
    assert not raw.path.startswith("/")
    assert len(set(raw.columns)) == len(raw.columns)
    assert set(raw.columns) >= {GOAL, *raw.drop, *raw.words, *entry.kinds}
    assert len(raw.columns) == entry.n_attributes + len(raw.drop) + 1
    assert set(raw.words.get(GOAL, {}).values()) <= set(entry.classes)


def test_downloads_do_not_share_a_file_in_the_cache() -> None:
    files = [entry.raw.file_name for entry in DOWNLOADS if entry.raw is not None]
    assert len(set(files)) == len(files)


def test_ordinal_text_is_declared_in_its_order() -> None:
    kinds = find_entry("breast").kinds
    assert kinds["age"][:2] == ("10-19", "20-29")
    assert kinds["tumor-size"][:3] == ("0-4", "5-9", "10-14")
    assert kinds["inv-nodes"][-2:] == ("33-35", "36-39")
