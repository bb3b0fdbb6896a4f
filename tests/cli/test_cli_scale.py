"""``solah fit`` over files that are passed over: the same model, clear errors, a bar."""

import json

import numpy as np
import pandas as pd
import pytest

FEW = ("--max-rules", "8", "--set", "interactions=0")


@pytest.fixture
def days(tmp_path):
    """Write three days of readings, with 24,000 rows: more than are simply read."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "days"
    folder.mkdir()
    for day in range(3):
        heat, hum = rng.normal(40, 8, 8_000), rng.normal(50, 5, 8_000)
        place = rng.choice(["roof", "Käfer"], 8_000)
        fault = np.where((heat > 45) & (hum > 47), "yes", "no")
        frame = {"heat": heat, "hum": hum, "place": place, "id": np.arange(8_000), "fault": fault}
        pd.DataFrame(frame).to_parquet(folder / f"day{day}.parquet")
    return folder


def test_a_folder_and_a_pattern_give_the_model_of_one_file(run, days, tmp_path):
    whole = tmp_path / "whole.parquet"
    frames = [pd.read_parquet(file) for file in sorted(days.iterdir())]
    pd.concat(frames, ignore_index=True).to_parquet(whole)
    documents = []
    for number, data in enumerate([whole, days, f"{days}/*.parquet"]):
        output = tmp_path / f"{number}.json"
        done = run("fit", data, "-t", "fault", "--drop", "id", *FEW, "-o", output)
        assert done.code == 0, done.err
        documents.append(json.loads(output.read_text(encoding="utf-8")))
    origins = [document.pop("provenance") for document in documents]
    assert documents[0] == documents[1] == documents[2]
    assert [one["source"] for one in origins] == ["whole.parquet", "days", "*.parquet"]
    assert [one["rows"] for one in origins] == [24_000] * 3
    assert "24,000 rows, 3 features (read in passes)" in done.out


def test_json_tells_what_was_learned(run, days, tmp_path):
    words = ("fit", days, "-t", "fault", "--drop", "id", *FEW, "--json")
    document = run(*words, "-o", tmp_path / "m.json").document
    assert document["rows"] == 24_000
    assert document["feature_types"] == {"heat": "continuous", "hum": "continuous"}
    assert document["target"]["name"] == "fault"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("-t", "fualt"), ("'fualt'", "did you mean 'fault'")),
        ((), ("--target", "'heat'")),
        (("-t", "fault", "--drop", "x"), ("'x'",)),
        (("-t", "heat"), ("'heat'", "number", "regression requires rows in memory")),
        (("-t", "fault", "--memory", "lots"), ("'lots'", "1GB")),
        (("-t", "fault", "--memory", "1MB"), ("too little", "about")),
        (("-t", "fault", "--model", "tree"), ("learns from rows in memory",)),
        (("-t", "fault", "--type", "fault=continuous"), ("regression requires rows in memory",)),
    ],
)
def test_wrong_wishes_are_one_line(run, days, tmp_path, words, parts):
    run("fit", days, *words, "-o", tmp_path / "m.json").check_error(*parts)
    assert not (tmp_path / "m.json").exists()


def test_wrong_files_are_one_line(run, days, tmp_path):
    output = ("-o", tmp_path / "m.json")
    run("fit", f"{tmp_path}/*.parquet", "-t", "y", *output).check_error("*.parquet")
    empty = tmp_path / "empty"
    empty.mkdir()
    run("fit", empty, "-t", "y", *output).check_error("empty")
    (days / "day1.parquet").write_bytes(b"PAR1 no more")
    run("fit", days, "-t", "fault", *output).check_error("day1.parquet")
