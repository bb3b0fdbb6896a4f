"""Windows of recordings: their grid, gaps, labels and groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solah.exceptions import DataError
from solah.signals import Recording, cut_windows, describe_signals
from solah.signals.windows import features_of_windows, held


def described(window=4, overlap=0.5, features=("mean",), rate=10, **options):
    return describe_signals(
        options.pop("channels", ["x"]),
        rate=rate,
        window=window,
        overlap=overlap,
        features=features,
        **options,
    )


def test_windows_move_by_a_step():
    windows = cut_windows(described(), [Recording("r", {"x": np.arange(10.0)})])
    assert windows.readings[:, 0].tolist() == [1.5, 3.5, 5.5, 7.5]
    assert windows.start.tolist() == pytest.approx([0.0, 0.2, 0.4, 0.6])
    assert windows.end.tolist() == pytest.approx([0.4, 0.6, 0.8, 1.0])


def test_slower_channels_have_fewer_samples():
    signals = described(channels=["x", "slow"], rate={"x": 10, "slow": 5})
    samples = {"x": np.arange(8.0), "slow": np.array([1, 99, 3, 99, 5, 99, 7, 99.0])}
    found = cut_windows(signals, [Recording("r", samples)])
    assert found.readings.tolist() == [[1.5, 2.0], [3.5, 4.0], [5.5, 6.0]]


def test_a_window_is_the_same_whether_cut_here_or_before():
    rng = np.random.default_rng(0)
    signals = described(
        channels=["x", "y"],
        window=10,
        features=["rms", "pitch", "correlation"],
        magnitudes={"m": ["x", "y"]},
    )
    samples = rng.normal(size=(40, 2))
    cut = np.stack([samples[start : start + 10] for start in range(0, 31, 5)])
    found = cut_windows(signals, [Recording("r", {"x": samples[:, 0], "y": samples[:, 1]})])
    assert (found.readings == features_of_windows(signals, cut)).all()


def test_a_tick_takes_the_last_sample_up_to_half_a_tick_after_it():
    times = np.array([5.0, 5.04, 5.06, 5.14, 5.21, 5.3, 5.4, 5.49])
    samples = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    signals = described(window=2, overlap=0, features=["min", "max"])
    found = cut_windows(signals, [Recording("r", {"x": samples}, times)])
    assert found.readings.tolist() == [[2.0, 4.0], [5.0, 6.0], [7.0, 8.0]]
    assert found.start.tolist() == pytest.approx([5.0, 5.2, 5.4])


def test_short_gaps_repeat_the_last_sample_and_long_ones_are_unknown():
    samples = np.array([1, 2, np.nan, 4, 5, np.nan, np.nan, 8, 9, 9, 9, 9.0])
    signals = described(window=3, overlap=0, max_gap=1)
    found = cut_windows(signals, [Recording("r", {"x": samples})]).readings[:, 0]
    assert found.tolist() == pytest.approx([5 / 3, 14 / 3, np.nan, 9.0], nan_ok=True)


def test_missing_rows_are_gaps_as_missing_samples_are():
    samples = np.array([1, 2, np.nan, 4, 5, np.nan, np.nan, 8, 9, 9, 9, 9.0])
    times = np.arange(12) / 10
    known = ~np.isnan(samples)
    signals = described(window=3, overlap=0, max_gap=1)
    whole = cut_windows(signals, [Recording("r", {"x": samples}, times)])
    sparse = cut_windows(signals, [Recording("r", {"x": samples[known]}, times[known])])
    np.testing.assert_array_equal(whole.readings, sparse.readings)


@given(st.lists(st.sampled_from([np.nan, 1.0, 2.0]), min_size=1, max_size=20), st.integers(0, 4))
def test_holding_looks_back_as_a_device_does(samples, most):
    expected, last, gap = [], np.nan, most + 1
    for sample in samples:
        last, gap = (last, gap + 1) if np.isnan(sample) else (sample, 0)
        expected.append(last if gap <= most else np.nan)
    np.testing.assert_array_equal(held(np.array(samples, dtype=np.float32), most), expected)


def test_a_window_has_the_label_of_all_its_samples():
    labels = np.array(["a"] * 5 + ["b"] * 5 + [None] * 4, dtype=object)
    recording = Recording("r", {"x": np.arange(14.0)}, labels=labels, group="someone")
    windows = cut_windows(described(window=4), [recording])
    expected = [_label(labels, start) for start in range(0, 11, 2)]
    assert windows.labels.tolist() == expected == ["a", None, None, "b", None, None]
    assert set(windows.labelled().labels.tolist()) == {"a", "b"}
    assert windows.groups.tolist() == ["someone"] * 6


def _label(labels, start):
    inside = set(labels[start : start + 4].tolist())
    return inside.pop() if len(inside) == 1 else None


def test_recordings_are_cut_one_by_one():
    parts = [Recording(name, {"x": np.arange(n)}) for name, n in (("a", 6.0), ("b", 3.0))]
    windows = cut_windows(described(), [*parts, Recording("c", {"x": np.arange(4.0)})])
    assert windows.recording.tolist() == ["a", "a", "c"]
    assert windows.groups.tolist() == ["a", "a", "c"]
    assert windows.table.names == ("x mean over 400 ms",)


@pytest.mark.parametrize(
    ("recording", "message"),
    [
        (Recording("r", {"y": np.arange(9.0)}), "recording 'r' has no channel 'x'"),
        (Recording("r", {"x": np.arange(3.0)}), "no recording is as long as a window of 4 samples"),
        (
            Recording("r", {"x": np.arange(3.0)}, np.array([0.0, 0.2, 0.1])),
            "recording 'r': time goes back at sample 3; sort the samples by time",
        ),
        (
            Recording("r", {"x": np.arange(3.0)}, np.array([0.0, np.nan, 0.1])),
            "the time of sample 2 is missing",
        ),
        (
            Recording("r", {"x": np.arange(3.0)}, np.array([0.0, 1.0, 1e9])),
            "are its times in seconds?",
        ),
    ],
)
def test_recordings_that_cannot_be_used_are_refused(recording, message):
    with pytest.raises(DataError) as error:
        cut_windows(described(), [recording])
    assert message in str(error.value)
