"""Downloads: fetched once, checked every time, and read as the repository writes them."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pytest
from toy_plants import TOY, TOY_RAW, Mirror

from solah.datasets import available, load, registry
from solah.datasets.loading import BASE_URL, read_raw
from solah.datasets.registry import TARGET, RawFile
from solah.exceptions import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("toy")


def where(name: str) -> tuple[str, bool]:
    info = next(info for info in available() if info.name == name)
    return info.where, info.at_hand


def test_a_set_is_downloaded_once_and_then_loads_without_a_server(
    mirror: Mirror, cache: Path
) -> None:
    mirror.put("plants/toy.data", TOY_RAW)
    assert where("toy_plants") == ("download", False)
    table = load("toy").table
    assert mirror.asked == ["/uci/plants/toy.data"]
    assert [file.name for file in cache.iterdir()] == ["toy.data"]
    assert where("toy_plants") == ("cache", True)
    mirror.stop()
    again = load("toy")
    assert again.target.tolist() == ["yes", "no", "yes"]
    assert again.groups is not None
    assert again.groups.tolist() == ["spring", "spring", "autumn"]
    for found in (table, again.table):
        assert found.names == ("size", "weight", "code")
        assert found.column("size").values.tolist() == ["small", "large", None]
        np.testing.assert_array_equal(found.column("weight").values, [1.5, np.nan, 0.5])


def test_a_damaged_file_in_the_cache_is_fetched_again(mirror: Mirror, cache: Path) -> None:
    mirror.put("plants/toy.data", TOY_RAW)
    cache.mkdir()
    (cache / "toy.data").write_bytes(TOY_RAW[:-5])
    assert load("toy").table.n_rows == 3
    assert (cache / "toy.data").read_bytes() == TOY_RAW


def test_a_wrong_hash_names_the_file_and_both_hashes_and_leaves_nothing(
    mirror: Mirror, cache: Path
) -> None:
    mirror.put("plants/toy.data", b"tampered")
    with pytest.raises(DatasetError) as caught:
        load("toy")
    assert TOY.raw is not None
    for part in ("toy.data", TOY.raw.sha256, hashlib.sha256(b"tampered").hexdigest()):
        assert part in str(caught.value)
    assert not cache.exists()


def test_what_keeps_a_file_away_says_what_to_do(
    mirror: Mirror, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def see(*parts: str) -> None:
        with pytest.raises(DatasetError) as caught:
            load("toy")
        for part in ("'toy_plants'", "SOLAH_DATA_URL", "toy_plants.csv", "UCI 'Toy", *parts):
            assert part in str(caught.value)

    see("HTTP status 404")
    mirror.put("plants/toy.data", TOY_RAW)
    cache.write_text("a file where the folder should be")
    see("Not a directory")
    cache.unlink()
    mirror.stop()
    see("refused")
    monkeypatch.setenv("SOLAH_DATA_URL", "not an address")
    see("not an address/plants/toy.data")
    assert not cache.exists()


def test_the_default_cache_is_the_user_s(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOLAH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    mirror.put("plants/toy.data", TOY_RAW)
    load("toy")
    assert (tmp_path / "home" / "solah" / "toy.data").read_bytes() == TOY_RAW


def test_a_set_without_a_known_hash_is_never_asked_for(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "ENTRIES", (dataclasses.replace(TOY, raw=None),))
    assert where("toy_plants") == ("manual", False)
    with pytest.raises(DatasetError, match=r"cannot be downloaded; save it as toy_plants\.csv"):
        load("toy")
    assert mirror.asked == []


def test_runs_of_blanks_and_windows_line_ends_separate(tmp_path: Path) -> None:
    (tmp_path / "x.dat").write_bytes(b"1.0   p\r\n  2.5 q\r\n")
    table = read_raw(tmp_path / "x.dat", RawFile("x.dat", "", ("a", TARGET), separator=None))
    assert table.column("a").values.tolist() == [1.0, 2.5]
    assert table.column(TARGET).values.tolist() == ["p", "q"]


def test_the_repository_is_reached_over_https() -> None:
    assert BASE_URL.startswith("https://archive.ics.uci.edu/")
