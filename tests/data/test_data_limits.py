"""Small files cannot become very large tables."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from solah import RuleClassifier
from solah.cli.main import main
from solah.data import iter_tables, options, read_table, textfile
from solah.exceptions import FileFormatError
from solah.scale import scan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "MAX_COLUMNS", 50)


def wide_file(path: Path, n_columns: int) -> Path:
    names = [f"a{j}" for j in range(n_columns)]
    if path.suffix == ".parquet":
        pd.DataFrame(np.zeros((2, n_columns)), columns=names).to_parquet(path)
    elif path.suffix == ".arff":
        declared = "".join(f"@attribute {name} numeric\n" for name in names)
        path.write_text(f"@relation r\n{declared}@data\n" + "0,".join(["0"] * n_columns) + "\n")
    else:
        path.write_text(",".join(names) + "\n" + ",".join(["0"] * n_columns) + "\n")
    return path


@pytest.mark.usefixtures("few_columns")
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.arff"])
def test_a_file_with_too_many_columns_is_refused(tmp_path: Path, name: str) -> None:
    assert len(read_table(wide_file(tmp_path / f"narrow{name}", 50)).columns) == 50
    path = wide_file(tmp_path / name, 51)
    ways: list[Any] = [
        lambda: read_table(path),
        lambda: next(iter_tables(path)),
        lambda: scan(path),
    ]
    for way in ways:
        with pytest.raises(FileFormatError, match="has 51 columns, more than the limit of 50;"):
            way()


@pytest.mark.usefixtures("few_columns")
def test_lines_of_nothing_but_delimiters_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "commas.csv"
    path.write_text(2 * ("," * 1_000 + "\n"))
    assert main(["fit", str(path), "--target", "a"]) == 2
    assert "has 1,001 columns, more than the limit of 50" in capsys.readouterr().err


def test_a_long_row_is_refused_before_the_next_is_read(tmp_path: Path, traced_peak: Any) -> None:
    path = tmp_path / "late.csv"
    path.write_text("a,b\n" + "1,2\n" * 300 + 60 * ("," * 200_000 + "\n"))
    with pytest.raises(FileFormatError, match="line 302: 200001 fields where 2 are expected"):
        read_table(path)
    peak = traced_peak(
        f"""
        import contextlib
        from pathlib import Path
        from solah.data import read_table
        from solah.exceptions import FileFormatError
        path = Path({str(path)!r})
        """,
        """
        with contextlib.suppress(FileFormatError):
            read_table(path)
        """,
    )
    assert peak < 20_000_000  # a row takes 1.6 MB, and all of them 96


@pytest.fixture
def repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a compressed file that is hundreds of times as large when it is decompressed."""
    monkeypatch.setattr(textfile, "_ALWAYS_READ", 10_000)
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n" + b"1,0\n0,1\n" * 50_000)
    return path


def test_a_file_that_grows_too_much_is_refused(repeated: Path) -> None:
    ways: list[Any] = [
        lambda: read_table(repeated),
        lambda: list(iter_tables(repeated)),
        lambda: RuleClassifier().fit(repeated, "b"),
    ]
    for way in ways:
        with pytest.raises(
            FileFormatError, match=r"more than 100 times its size .*decompress it first"
        ):
            way()


def test_small_files_may_grow(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"a,b\n" + b"1,0\n" * 50_000)
    assert path.stat().st_size < 200_000 / 100
    assert read_table(path).n_rows == 50_000
