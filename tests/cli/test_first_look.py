"""Files as people have them: dates, percentages, commas between thousands, columns of no use."""

import json

import pytest

HOURS = [f"2026-01-{day:02} {hour:02}:00" for day in range(5, 26) for hour in (3, 9, 15, 21)]


@pytest.fixture
def shifts(write):
    """Write a table in which the night and the share of water decide."""
    rows = [
        f'{time},{share}%,"{1000 + 17 * i:,}",{"bad" if " 03" in time or share > 60 else "good"}'
        for i, time in enumerate(HOURS)
        for share in [37 * i % 100]
    ]
    return write("shifts.csv", "time,water,made,result", *rows)


def test_dates_and_written_numbers_are_features_with_a_note(run, shifts, tmp_path):
    model = tmp_path / "model.json"
    fitted = run("fit", shifts, "--target", "result", "-o", model)
    assert fitted.code == 0
    assert "time: dates, used as 'hour of time', 'weekday of time'" in fitted.err
    assert "water: percentages: '0%' is read as 0" in fitted.err
    assert "made: commas between thousands: '1,000' is read as 1000" in fitted.err
    kinds = {one["name"]: one["type"] for one in json.loads(model.read_text())["features"]}
    assert kinds["hour of time"] == "continuous"
    assert kinds["water"] == "continuous"
