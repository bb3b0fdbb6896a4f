"""The same data are one thing, whichever library has read them: files, frames, arrays and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from solah import LinguisticTreeClassifier, RuleClassifier, load_model
from solah.cli.main import main
from solah.data import read_table
from solah.model.encode import rows_table
from solah.model.format import to_json
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N_ROWS = 160


def written_rows(seed: int) -> pd.DataFrame:
    """Return the cells of a file: truth values, numbers and categories as people write them."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "wet": rng.choice(["TRUE", "FALSE"], N_ROWS),
            "rain": rng.choice(["true", "false", ""], N_ROWS),
            "on": rng.choice(["0", "1"], N_ROWS),
            "share": [f"{number}%" for number in rng.integers(0, 100, N_ROWS)],
            "price": [f"{number:,}" for number in rng.integers(500, 5_000, N_ROWS)],
            "cost": [f"${number:,}" for number in rng.integers(500, 5_000, N_ROWS)],
            "code": rng.choice(["1", "01", "1.0", "2", "7", "9"], N_ROWS),
            "colour": rng.choice(["red", " green", "NA", "?", "n/a", "<NA>"], N_ROWS),
            "size": [f"{number:.3f}" for number in rng.normal(size=N_ROWS)],
        }
    )


def classes_of(cells: pd.DataFrame) -> list[str]:
    is_first = cells["code"].astype(float) == 1
    large = cells["share"].str.rstrip("%").astype(float) > 50
    wet, red = cells["wet"] == "TRUE", cells["colour"] == "red"
    return np.where(wet ^ is_first, np.where(large | red, "a", "b"), "c").tolist()


def arrow_strings(cells: pd.DataFrame) -> pa.Table:
    return pa.table({name: pa.array(cells[name].tolist(), pa.string()) for name in cells})


def json_rows(path: Path) -> list[dict[str, Any]]:
    return json.loads(pd.read_csv(path).to_json(orient="records"))


def parquet_file(table: pa.Table, path: Path) -> Path:
    parquet.write_table(table, path)
    return path


READERS: dict[str, Callable[[Path, pd.DataFrame], Any]] = {
    "a file": lambda path, cells: path,
    "a table": lambda path, cells: read_table(path),
    "pandas": lambda path, cells: pd.read_csv(path),
    "pandas, nullable": lambda path, cells: pd.read_csv(path).convert_dtypes(),
    "pandas, text": lambda path, cells: cells,
    "PyArrow": lambda path, cells: arrow_csv.read_csv(path),
    "PyArrow, text": lambda path, cells: arrow_strings(cells),
    "Polars": lambda path, cells: pl.read_csv(path),
    "Polars, text": lambda path, cells: pl.from_arrow(arrow_strings(cells)),
    "Parquet": lambda path, cells: parquet_file(
        arrow_csv.read_csv(path), path.with_name("typed.parquet")
    ),
    "Parquet, text": lambda path, cells: parquet_file(
        arrow_strings(cells), path.with_name("text.parquet")
    ),
    "JSON": lambda path, cells: pd.DataFrame(json_rows(path)),
}
ARRAYS: dict[str, Callable[[Path, pd.DataFrame], Any]] = {
    "NumPy": lambda path, cells: pd.read_csv(path).to_numpy(dtype=object),
    "NumPy, text": lambda path, cells: cells.to_numpy(dtype=object),
    "lists": lambda path, cells: pd.read_csv(path).to_numpy(dtype=object).tolist(),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.DataFrame]:
    path = tmp_path_factory.mktemp("readers") / "rows.csv"
    cells = written_rows(0)
    cells.to_csv(path, index=False)
    return path, cells


def read_by(reader: str, written: tuple[Path, pd.DataFrame]) -> Any:
    return (READERS | ARRAYS)[reader](*written)


def fitted(reader: str, written: tuple[Path, pd.DataFrame]) -> LinguisticTreeClassifier:
    rows = read_by("a table" if reader == "a file" else reader, written)
    return LinguisticTreeClassifier(max_rules=40).fit(rows, classes_of(written[1]))


@pytest.fixture(scope="module")
def tree(written: tuple[Path, pd.DataFrame]) -> LinguisticTreeClassifier:
    return fitted("a table", written)


def test_the_rows_are_what_they_are_meant_to_be(tree: LinguisticTreeClassifier) -> None:
    states = {one.name: one.categories for one in tree.model_.features}
    assert states["wet"] == (False, True)
    assert states["rain"] == (False, True)
    assert states["on"] == (0, 1)
    assert states["share"] == states["price"] == states["cost"] == states["size"] == ()
    assert states["code"] == (1, 2, 7, 9)
    assert states["colour"] == ("green", "red")
    assert len(set(tree.model_.target.classes)) == 3


@pytest.mark.parametrize("reader", sorted(READERS.keys() - {"Parquet", "Parquet, text"}))
def test_fits_of_all_readers_give_one_model(
    written: tuple[Path, pd.DataFrame], tree: LinguisticTreeClassifier, reader: str
) -> None:
    assert to_json(fitted(reader, written).model_) == to_json(tree.model_)


@pytest.mark.parametrize("reader", sorted(ARRAYS))
def test_arrays_give_the_same_categories_and_decisions(
    written: tuple[Path, pd.DataFrame], tree: LinguisticTreeClassifier, reader: str
) -> None:
    other = fitted(reader, written)
    features = zip(other.model_.features, tree.model_.features, strict=True)
    assert all(one.categories == same.categories for one, same in features)
    rows = read_by(reader, written)
    np.testing.assert_array_equal(
        other.predict_proba(rows), tree.predict_proba(read_by("a table", written))
    )


@pytest.mark.parametrize("reader", sorted(READERS | ARRAYS))
@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
def test_decisions_do_not_depend_on_the_reader(
    written: tuple[Path, pd.DataFrame],
    tree: LinguisticTreeClassifier,
    tmp_path: Path,
    reader: str,
) -> None:
    """No warning of an unseen category is raised, either: warnings are errors here."""
    expected = tree.predict_proba(read_by("a table", written))
    rows = read_by(reader, written)
    np.testing.assert_array_equal(tree.predict_proba(rows), expected)
    tree.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").outputs(rows), expected)


def test_json_rows_are_decided_on_as_the_file(
    written: tuple[Path, pd.DataFrame], tree: LinguisticTreeClassifier
) -> None:
    expected = tree.predict_proba(read_by("a table", written))
    texts = written[1].to_dict(orient="records")
    for rows in (json_rows(written[0]), texts):
        table = rows_table(rows, tree.model_.features)
        np.testing.assert_array_equal(Predictor(tree.model_).outputs(table), expected)
        one_by_one = [rows_table([row], tree.model_.features) for row in rows]
        alone = [Predictor(tree.model_).outputs(table)[0] for table in one_by_one]
        np.testing.assert_array_equal(alone, expected)


@pytest.mark.parametrize("reader", ["Parquet", "Parquet, text", "a file"])
def test_files_give_the_model_of_their_table(
    written: tuple[Path, pd.DataFrame], tmp_path: Path, reader: str
) -> None:
    path, cells = written
    with_classes = cells.assign(state=classes_of(cells))
    file = tmp_path / "rows.csv"
    with_classes.to_csv(file, index=False)
    rows = READERS[reader](file, with_classes)
    found = LinguisticTreeClassifier(max_rules=40).fit(rows, "state").model_
    table = read_table(path)
    expected = LinguisticTreeClassifier(max_rules=40).fit(
        table, pd.Series(classes_of(cells), name="state")
    )
    assert to_json(found) == to_json(expected.model_)


@pytest.mark.parametrize("reader", ["Parquet", "Parquet, text", "a file"])
def test_passing_over_files_gives_the_same_categories(
    written: tuple[Path, pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    reader: str,
) -> None:
    many_rows = replace(LinguisticTreeClassifier._limits, many_rows=N_ROWS // 2)
    monkeypatch.setattr(LinguisticTreeClassifier, "_limits", many_rows)
    cells = written[1].assign(state=classes_of(written[1]))
    file = tmp_path / "rows.csv"
    cells.to_csv(file, index=False)
    found = LinguisticTreeClassifier(max_rules=40).fit(READERS[reader](file, cells), "state")
    expected = LinguisticTreeClassifier(max_rules=40).fit(
        read_table(file).drop(["state"]), cells["state"]
    )
    assert [(one.name, one.categories) for one in found.model_.features] == [
        (one.name, one.categories) for one in expected.model_.features
    ]


@pytest.mark.parametrize("kind", ["bool", "int", "float", "object", "text"])
@pytest.mark.parametrize("trained_on", ["bool", "int", "float", "object", "text"])
def test_truth_values_are_zero_and_one(trained_on: str, kind: str) -> None:
    rng = np.random.default_rng(1)
    truth = rng.random((60, 2)) < 0.5
    ways = {
        "bool": truth,
        "int": truth.astype(int),
        "float": truth.astype(float),
        "object": truth.astype(object),
        "text": np.where(truth, "TRUE", "FALSE"),
    }
    classes = np.where(truth[:, 0] & truth[:, 1], "both", "not both")
    model = LinguisticTreeClassifier().fit(ways[trained_on], classes)
    np.testing.assert_array_equal(model.predict(ways[kind]), classes)
    declared = LinguisticTreeClassifier(feature_types={"x0": [False, True], "x1": "binary"})
    declared.fit(ways[trained_on], classes)
    assert declared.model_.features[0].categories == (False, True)
    np.testing.assert_array_equal(declared.predict(ways[kind]), classes)


@pytest.mark.parametrize("kind", ["nominal", "text", "int", "float", "padded"])
@pytest.mark.parametrize("trained_on", ["nominal", "text", "int", "float", "padded"])
def test_categories_that_are_numbers_are_found_by_number(trained_on: str, kind: str) -> None:
    numbers = np.arange(60) % 4
    texts = pd.Series(numbers).astype(str)
    ways = {
        "nominal": texts.astype("category"),
        "text": texts,
        "int": pd.Series(numbers),
        "float": pd.Series(numbers.astype(float)),
        "padded": "0" + texts,
    }
    classes = np.where((numbers == 1) | (numbers == 2), "inner", "outer")
    model = LinguisticTreeClassifier(feature_types={"code": "categorical"})
    model.fit(pd.DataFrame({"code": ways[trained_on]}), classes)
    np.testing.assert_array_equal(model.predict(pd.DataFrame({"code": ways[kind]})), classes)


@pytest.mark.parametrize("target", [["TRUE", "FALSE"], ["true", "false"], ["True", "False"]])
def test_a_target_of_truth_values_is_that_of_pandas(tmp_path: Path, target: list[str]) -> None:
    path = tmp_path / "rows.csv"
    lines = [f"{number},{target[number % 20 > 9]}" for number in range(100)]
    path.write_text("\n".join(["level,alarm", *lines]) + "\n")
    frame = pd.read_csv(path)
    by_frame = LinguisticTreeClassifier().fit(frame[["level"]], frame["alarm"])
    by_file = LinguisticTreeClassifier().fit(path, "alarm")
    assert by_file.classes_.tolist() == by_frame.classes_.tolist() == [False, True]
    assert to_json(by_file.model_) == to_json(by_frame.model_)
    assert main(["fit", str(path), "--target", "alarm", "-o", str(tmp_path / "m.json")]) == 0
    model = load_model(tmp_path / "m.json")
    assert model.classes_.tolist() == [False, True]


DATES = pd.DataFrame(
    {
        "time": pd.date_range("2026-01-05", periods=200, freq="7h"),
        "level": np.random.default_rng(2).normal(size=200),
    }
).assign(busy=lambda rows: np.where(rows["time"].dt.hour.between(8, 17), "yes", "no"))


def test_dates_of_a_typed_file_are_those_of_a_text_file(tmp_path: Path) -> None:
    DATES.to_csv(tmp_path / "rows.csv", index=False)
    DATES.to_parquet(tmp_path / "rows.parquet")
    models = []
    for name in ("rows.csv", "rows.parquet"):
        output = tmp_path / f"{name}.json"
        assert main(["fit", str(tmp_path / name), "--target", "busy", "-o", str(output)]) == 0
        models.append(load_model(output))
    features = [[one.name for one in each.model_.features] for each in models]
    assert features[0] == features[1]
    assert "hour of time" in features[0]
    ways = (
        DATES,
        pl.from_pandas(DATES),
        pa.Table.from_pandas(DATES),
        DATES.assign(time=DATES["time"].astype(str)),
        DATES.astype({"time": object}),
        str(tmp_path / "rows.csv"),
        str(tmp_path / "rows.parquet"),
    )
    expected = models[0].outputs(ways[0])
    for model in models:
        for rows in ways:
            np.testing.assert_array_equal(model.outputs(rows), expected)


DATED: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda rows: rows,
    "pandas, text": lambda rows: rows.assign(time=rows["time"].astype(str)),
    "pandas, objects": lambda rows: rows.astype({"time": object}),
    "pandas, Arrow": lambda rows: rows.convert_dtypes(dtype_backend="pyarrow"),
    "PyArrow": pa.Table.from_pandas,
    "Polars": pl.from_pandas,
    "NumPy": lambda rows: rows.to_numpy(),
    "NumPy, text": lambda rows: rows.astype(str).to_numpy(str),
    "lists": lambda rows: rows.to_numpy().tolist(),
}


@pytest.mark.parametrize("reader", DATED)
@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
def test_estimators_take_the_parts_of_dates_however_they_are_written(reader: str) -> None:
    frame, classes = DATES[["time", "level"]], DATES["busy"]
    plain = LinguisticTreeClassifier().fit(frame, classes)
    rows = DATED[reader](frame)
    model = LinguisticTreeClassifier().fit(rows, classes)
    name = "time" if hasattr(rows, "columns") else "x0"
    assert f"hour of {name}" in {one.name for one in model.model_.features}
    if name == "time":
        assert to_json(model.model_) == to_json(plain.model_)
    expected = plain.predict_proba(frame)
    np.testing.assert_array_equal(plain.predict_proba(rows), expected)
    np.testing.assert_array_equal(model.predict_proba(rows), expected)


@pytest.mark.parametrize("reader", DATED)
def test_estimators_refuse_dates_that_tell_nothing(reader: str) -> None:
    """Neither dates in which nothing repeats are a feature, nor any dates a target."""
    frame, classes = DATES[["time", "level"]], DATES["busy"]
    once = DATED[reader](frame.assign(time=pd.Timestamp("2026-01-05"))[["time"]])
    with pytest.raises(ValueError, match="the dates in '(time|x0)' give no features"):
        LinguisticTreeClassifier().fit(once, classes)
    with pytest.raises(ValueError, match="y holds dates or times"):
        LinguisticTreeClassifier().fit(DATED[reader](frame), DATES["time"])


def test_the_command_line_decides_on_frames_as_on_its_file(
    written: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    path, cells = written
    file, output = tmp_path / "rows.csv", tmp_path / "model.json"
    cells.assign(state=classes_of(cells)).to_csv(file, index=False)
    assert main(["fit", str(file), "--target", "state", "-o", str(output)]) == 0
    assert main(["predict", str(output), str(path), "-o", str(tmp_path / "decided.csv")]) == 0
    decided = pd.read_csv(tmp_path / "decided.csv")["prediction"].tolist()
    model = load_model(output)
    for reader in READERS:
        assert model.predict(read_by(reader, written)).tolist() == decided
    rows = rows_table(json_rows(path), model.model_.features)
    assert model.predict(rows).tolist() == decided


def test_the_default_model_is_one_for_all_readers(written: tuple[Path, pd.DataFrame]) -> None:
    classes = classes_of(written[1])
    documents = {
        to_json(RuleClassifier().fit(read_by(reader, written), classes).model_)
        for reader in ("a table", "pandas", "PyArrow", "Polars, text")
    }
    assert len(documents) == 1
