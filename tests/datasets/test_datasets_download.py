from __future__ import annotations

import dataclasses
import hashlib
import sys
from typing import TYPE_CHECKING

import pytest
from toy_plants import TOY, TOY_RAW, Mirror

from solah.datasets import available, load, registry
from solah.datasets.download import BASE_URL
from solah.exceptions import DatasetError, MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pooch")

pytestmark = pytest.mark.usefixtures("toy")


def where(name: str) -> tuple[str, bool]:
    info = next(info for info in available() if info.name == name)
    return info.where, info.at_hand


def test_a_set_is_downloaded_once_and_then_loads_without_a_server(
    mirror: Mirror, cache: Path
) -> None:
    mirror.put("plants/toy.data", TOY_RAW)
    assert where("toy_plants") == ("download", False)

    first = load("toy")
    assert mirror.asked == ["/uci/plants/toy.data"]
    assert [file.name for file in cache.iterdir()] == ["toy.data"]
    assert where("toy_plants") == ("cache", True)

    mirror.stop()
    second = load("toy")
    assert second.goal.tolist() == first.goal.tolist() == ["yes", "no", "yes"]
    assert second.groups is not None
    assert second.groups.tolist() == ["spring", "spring", "autumn"]


def test_a_cached_set_loads_without_pooch(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror.put("plants/toy.data", TOY_RAW)
    load("toy")
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert load("toy").table.n_rows == 3


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
    assert "toy.data" in str(caught.value)
    assert TOY.raw.sha256 in str(caught.value)
    assert hashlib.sha256(b"tampered").hexdigest() in str(caught.value)
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("mirror")
def test_a_file_that_is_gone_says_what_to_do(cache: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        load("toy")
    message = str(caught.value)
    for part in ("'toy_plants'", "HTTP status 404", "SOLAH_DATA_URL", "toy_plants.csv", "UCI 'Toy"):
        assert part in message
    assert list(cache.iterdir()) == []


def test_a_server_that_is_down_says_what_to_do(mirror: Mirror, cache: Path) -> None:
    mirror.stop()
    with pytest.raises(DatasetError, match=r"ConnectionError.*SOLAH_DATA_URL.*SOLAH_DATA"):
        load("toy")
    assert list(cache.iterdir()) == []


def test_a_mirror_that_is_no_address_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLAH_DATA_URL", "not an address")
    with pytest.raises(DatasetError, match=r"not an address/plants/toy\.data"):
        load("toy")


@pytest.mark.usefixtures("mirror")
def test_a_cache_that_cannot_be_made_says_why(cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    with pytest.raises(DatasetError, match="File exists"):
        load("toy")


@pytest.mark.parametrize("with_cache", [True, False])
def test_without_pooch_the_error_has_the_pip_line(
    monkeypatch: pytest.MonkeyPatch, *, with_cache: bool
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    if not with_cache:
        monkeypatch.delenv("SOLAH_CACHE")
    assert where("toy_plants") == ("download", False)
    with pytest.raises(MissingExtraError, match=r"'toy_plants'.*pip install 'solah\[datasets\]'"):
        load("toy")


def test_the_default_cache_is_pooch_s(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pooch

    monkeypatch.delenv("SOLAH_CACHE")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "home" / project)
    mirror.put("plants/toy.data", TOY_RAW)
    load("toy")
    assert (tmp_path / "home" / "solah" / "toy.data").read_bytes() == TOY_RAW


def test_a_set_without_a_known_hash_is_never_asked_for(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "ENTRIES", (dataclasses.replace(TOY, raw=None),))
    assert where("toy_plants") == ("by hand", False)
    with pytest.raises(DatasetError, match=r"cannot be downloaded; save it as toy_plants\.csv"):
        load("toy")
    assert mirror.asked == []


def test_the_repository_is_reached_over_https() -> None:
    assert BASE_URL.startswith("https://archive.ics.uci.edu/")
