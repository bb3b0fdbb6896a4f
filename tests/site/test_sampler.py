"""Samples of sensors become the windows that the model was learned on, whatever way they come."""

import json
import math
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixers import RATE, SLOW, STEP, TOPICS, WINDOW, machine_model, placement, write_machine

from solah.exceptions import ParameterError
from solah.model.predictor import Predictor
from solah.signals import describe_signals
from solah.site.core import NodeCore
from solah.site.feed import Feed, check_sensors
from solah.site.sample_windows import SampledWindows
from solah.site.sampler import TOLERANCE, Sampler
from solah.site.sensor_mapping import InputSpec, Mapper
from solah.site.settings import Sensor, TimeField
from solah.site.site_file import load_site

START = 1_000_000 * STEP  # the tick with which signals begin
ALL = {"gateway": [name for names in placement().values() for name in names]}


@pytest.fixture
def open_feed(tmp_path):
    """Make feeds of a site of windows, and stop them in the end."""
    feeds = []

    def make(node="gateway", nodes=ALL, **options):
        site = load_site(write_machine(tmp_path, "mqtt://localhost", nodes, **options))
        feeds.append(Feed(site, site.bundle(), node))
        return feeds[-1]

    yield make
    for feed in feeds:
        feed.stop()


# --- what sensors measure and send ---------------------------------------------------------------


def signals_of(rng, n_ticks=200, missing=0.02):
    """Return samples of the axes, NaN for some, and a reading of the temperature at each tick."""
    axes = {axis: rng.normal(0.0, 1.0, n_ticks).round(3) for axis in "xyz"}
    for samples in axes.values():
        samples[rng.random(n_ticks) < missing] = np.nan
    heat = 30.0 + rng.normal(0.0, 5.0, n_ticks // SLOW).round(1)
    return axes, heat


def batches(axes, cuts, delays):
    """Cut samples into messages that arrive some time after their last sample."""
    messages = []
    for start, end, delay in zip(cuts, cuts[1:], delays, strict=False):
        parts = {axis: listed(samples[start:end]) for axis, samples in axes.items()}
        time = (START + end - 1) / RATE + delay
        time = max([time, *(one[0] for one in messages[-1:])])  # none overtakes another
        messages.append((time, TOPICS["acceleration"], json.dumps({"axes": parts}).encode()))
    return messages


def listed(samples):
    return [None if math.isnan(value) else value for value in samples]


def delays(rng, most):
    """Return how late messages are; the first, by which samples begin, is not."""
    return [0.0, *rng.uniform(0.0, most, 200)]


def singles(heat, offsets):
    return [
        ((START + place * SLOW) / RATE + offset, TOPICS["temperature"], b"%.1f" % value)
        for place, (value, offset) in enumerate(zip(heat, offsets, strict=True))
    ]


def played(feed, messages, until):
    """Let messages come at their times, and rows be made in between; return them."""
    rows = []
    times = [START / RATE + 0.05 * place for place in range(int((until - START / RATE) / 0.05))]
    events = sorted([*((time, None, b"") for time in times), *messages], key=lambda one: one[0])
    for now, topic, payload in events:
        if topic is not None:
            feed.take(topic, payload, now)
        while (row := feed.tick(now)) is not None:
            rows.append(row)
    return rows


def shared_site(tmp_path_factory, nodes):
    folder = tmp_path_factory.getbasetemp() / f"site of {len(nodes or placement())}"
    if not folder.exists():
        folder.mkdir()
        write_machine(folder, "mqtt://localhost", nodes, decide="{deadline: 20s}")
    return load_site(folder / "site.yaml")


def decided(bundle, rows, node="gateway"):
    core = NodeCore(bundle, node)
    core.read(rows, 0.0, 0.0)
    return {row.sequence: row for part in core.advance(0.0).decisions for row in part.rows}


def decided_by_stream(model, axes, heat):
    """Let the model decide on the samples one after the other; return decisions by row."""
    stream = Predictor(model).stream()
    found = {}
    for tick in range(len(axes["x"])):
        held = heat[tick // SLOW]
        values = {**{axis: samples[tick] for axis, samples in axes.items()}, "temperature": held}
        one = stream.push([values[channel.name] for channel in stream.signals.measured])
        if one is not None:
            found[(START + tick + 1 - WINDOW) // STEP] = one
    return found


CUTS = st.lists(st.integers(1, 60), min_size=4, max_size=40)
JITTER = st.floats(0.0, 0.99 * TOLERANCE)


@contextmanager
def feeding(site, node):
    """Make a feed with a folder of its own."""
    with TemporaryDirectory() as folder:
        feed = Feed(replace(site, state=Path(folder)), site.bundle(), node)
        try:
            yield feed
        finally:
            feed.stop()


def cuts_of(lengths):
    return [0, *(one for one in np.cumsum(lengths).tolist() if one < 200), 200]


@settings(max_examples=12)
@given(st.integers(0, 10**6), CUTS, JITTER)
def test_any_batches_give_the_windows_of_the_model(tmp_path_factory, seed, lengths, jitter):
    """Batches of any length, with jitter, decide bit for bit as the model does on the samples."""
    rng = np.random.default_rng(seed)
    axes, heat = signals_of(rng)
    messages = batches(axes, cuts_of(lengths), delays(rng, jitter))
    messages += singles(heat, rng.uniform(-jitter, jitter, 20))
    site = shared_site(tmp_path_factory, ALL)
    with feeding(site, "gateway") as feed:
        found = decided(site.bundle(), played(feed, messages, until=(START + 220) / RATE))
        counts = feed.report(0.0)["x"].counts
    assert not {"synchronised", "dropped_samples"} & counts.keys()
    expected = decided_by_stream(machine_model(), axes, heat)
    assert expected.keys() <= found.keys()
    for number, one in expected.items():
        assert tuple(found[number].beliefs.values()) == tuple(one.beliefs)
        assert found[number].decision == one.decision


FATES = st.lists(
    st.sampled_from(["comes", "comes", "lost", "twice", "late"]), min_size=200, max_size=200
)


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(1, 30), FATES)
def test_batches_with_times_are_where_they_were_measured(tmp_path_factory, seed, length, fates):
    """Lost and late batches are missing samples, and repeated ones are nothing."""
    rng = np.random.default_rng(seed)
    axes, heat = signals_of(rng)
    cuts = [*range(0, 200, length), 200]
    holed = {axis: samples.copy() for axis, samples in axes.items()}
    messages, newest = [], -1
    for place, (time, topic, payload) in enumerate(batches(axes, cuts, [0.0] * 200)):
        stamped = json.dumps({**json.loads(payload), "at": time}).encode()
        is_late = fates[place] == "late"
        if fates[place] != "lost":
            arrivals = [time + 0.3 + 3.0 * is_late] * (1 + (fates[place] == "twice"))
            messages += [(arrival, topic, stamped, time) for arrival in arrivals]
    messages.sort(key=lambda one: one[0])
    taken = set()
    for _, _, _, time in messages:
        if time > newest:
            newest = time
            taken.add(round(time * RATE) - START)
    for begin, end in pairwise(cuts):
        if end - 1 not in taken:
            for samples in holed.values():
                samples[begin:end] = np.nan
    site = shared_site(tmp_path_factory, ALL)
    stamp = TimeField(("at",), "s")
    sensors = [replace(one, time=stamp) if one.path else one for one in site.sensors]
    with feeding(replace(site, sensors=tuple(sensors)), "gateway") as feed:
        heard = [*(one[:3] for one in messages), *singles(heat, [0.0] * 20)]
        found = decided(site.bundle(), played(feed, heard, until=(START + 700) / RATE))
    for number, one in decided_by_stream(machine_model(), holed, heat).items():
        assert tuple(found[number].beliefs.values()) == tuple(one.beliefs)


@settings(max_examples=6)
@given(st.integers(0, 10**6), CUTS, JITTER)
def test_nodes_agree_on_rows(tmp_path_factory, seed, lengths, jitter):
    rng = np.random.default_rng(seed)
    axes, heat = signals_of(rng)
    messages = batches(axes, cuts_of(lengths), delays(rng, jitter))
    messages += singles(heat, [jitter] * 20)
    site, made = shared_site(tmp_path_factory, None), {}
    for node in ("shaker", "heater"):
        with feeding(site, node) as feed:
            rows = played(feed, messages, until=(START + 220) / RATE)
        made[node] = [(row.sequence, row.time, row.samples.tick) for row in rows]
    assert made["shaker"][:9] == made["heater"][:9]
    numbers = [number for number, _, _ in made["shaker"]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert len(numbers) >= 9


# --- one channel ---------------------------------------------------------------------------------


def sampler_of(deadline=1.0, every=1, max_ages=None, rate=10.0, **options):
    rates = {"a": rate, "b": rate / every} if every > 1 else rate
    names = ["a", "b"] if every > 1 else ["a"]
    signals = describe_signals(names, rate=rates, window=20, features=["mean"], **options)
    specs = {name: InputSpec(takes_samples=True) for name in names}
    one = Sampler(signals, specs, max_ages or {}, deadline, Counter())
    assert one.next_row(100.0) is None  # begins here, with tick 1,000
    return one


def send(sampler, value, now, name="a", is_retained=False, **options):
    specs = {"a": InputSpec(takes_samples=True), "b": InputSpec(takes_samples=True)}
    mapper = Mapper([Sensor(name, name, **options)], specs)
    payload = value if isinstance(value, bytes) else json.dumps(value).encode()
    for found in mapper.read(name, payload):
        sampler.take(found, name, now, is_retained=is_retained)


def rows_until(sampler, now):
    rows = []
    while (row := sampler.next_row(now)) is not None:
        rows.append(row)
    return rows


def samples_until(sampler, now, name="a"):
    return [value for row in rows_until(sampler, now) for value in row.samples.channels[name]]


def counts_of(sampler, name="a"):
    return sampler.states(0.0)[name].counts


def test_a_sensor_that_is_too_fast_is_synchronised_again():
    """A hundred samples a second less or more than the model has are visible."""
    fast, slow = sampler_of(), sampler_of()
    for second in range(1, 40):
        send(fast, [1.0] * 11, 100.0 + second - 0.1)
        send(slow, [1.0] * 9, 100.0 + second - 0.1)
    assert counts_of(fast)["synchronised"] > 3
    assert counts_of(fast)["dropped_samples"] >= 30
    assert counts_of(slow)["synchronised"] > 3
    assert counts_of(slow)["missing_samples"] >= 30
    assert len(samples_until(fast, 139.0)) == 390


def test_a_row_waits_for_batches_until_the_deadline():
    one = sampler_of(deadline=2.0)
    send(one, [1.0] * 5, 100.4)
    assert rows_until(one, 102.9) == []
    (row,) = rows_until(one, 103.0)
    assert np.isnan(row.samples.channels["a"][5:]).all()
    assert row.oldest == 100.4
    send(one, [2.0] * 5, 100.9)  # by its time, but now
    assert counts_of(one)["dropped_samples"] == 5


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        ([1.0, None, 3.0], {"taken": 1, "missing_samples": 1}),
        ([None, None], {"unknown": 1, "missing_samples": 2}),
        ([1.0, "x", 3.0], {"taken": 1, "unusable_samples": 1}),
        ([1.0, [2.0], {}], {"taken": 1, "unusable_samples": 2}),
        ([1.0, 5e9, 99.0], {"taken": 1, "unusable_samples": 2}),
        (b"[1, NaN, Infinity]", {"taken": 1, "missing_samples": 1, "unusable_samples": 1}),
        (["1", "2"], {"taken": 1}),
        ([[1.0, 2.0]], {"not_a_number": 1}),
        (["x", "y"], {"not_a_number": 1}),
        ([99.0], {"out_of_range": 1}),
        ([], {"absent": 1}),
        ([1.0] * 4_097, {"too_many": 1}),
        (b"[1, 2", {"unparsable": 1}),
        ({"a": [1]}, {"not_a_number": 1}),
    ],
)
def test_what_becomes_of_a_list_is_counted(value, counted):
    one = sampler_of()
    send(one, value, 100.5, high=50.0)
    assert counts_of(one) == counted


MESSAGE = st.one_of(
    st.lists(st.floats() | st.none() | st.text(max_size=3) | st.integers(), max_size=30),
    st.floats(),
    st.binary(max_size=10),
    st.just([1.0] * 4_096),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.floats(-100.0, 100.0), MESSAGE, st.booleans()), max_size=30))
def test_whatever_comes_rows_are_whole_and_memory_is_bounded(events):
    one, now, sequence = sampler_of(every=5), 100.0, 98
    for gap, value, is_slow in events:
        now = max(0.0, now + gap)
        payload = value if isinstance(value, bytes) else json.dumps(value).encode()
        send(one, payload, now, "b" if is_slow else "a")
        for row in rows_until(one, now):
            assert row.sequence > sequence
            sequence = row.sequence
            assert {name: len(of) for name, of in row.samples.channels.items()} == {"a": 10, "b": 2}
        for channel in one._channels.values():
            assert len(channel._samples) <= channel._most
            assert len(channel._held) <= 4_096
    for name in "ab":
        assert all(count > 0 for count in counts_of(one, name).values())


# --- a site --------------------------------------------------------------------------------------


def test_rows_say_how_old_they_are_and_name_what_is_missing(open_feed):
    feed = open_feed()
    axes, heat = signals_of(np.random.default_rng(0), missing=0.0)
    messages = batches(axes, range(0, 201, 20), [0.0] * 10)
    late = singles(heat, [0.0] * 20)[:3]
    rows = played(feed, [*messages, *late], until=(START + 205) / RATE)
    bundle = feed_bundle(feed)
    found = decided(bundle, rows)
    last = found[max(found)]
    warm = [name for name in bundle.plan.node("gateway").reads if name.startswith("temperature")]
    assert set(warm) <= set(last.missing)
    assert not any("size" in name for name in last.missing)
    assert last.time == (START + 200) / RATE
    assert last.oldest == (START + 199) / RATE
    whole = found[(START + 80 - WINDOW) // STEP]
    assert whole.missing == ()
    assert whole.oldest == late[-1][0]
    assert feed.report(last.time)["temperature"].is_known is False


def feed_bundle(feed):
    return load_site(feed._journal._folder.parent.parent / "site.yaml").bundle()


@pytest.mark.parametrize("place", [0, 1, 2, 5])
def test_rows_are_read_again_with_whole_windows(open_feed, place):
    """After a restart, or when others ask again, rows have the readings that they had."""
    feed = open_feed()
    axes, heat = signals_of(np.random.default_rng(1), missing=0.05)
    messages = [*batches(axes, range(0, 201, 20), [0.0] * 10), *singles(heat, [0.0] * 20)]
    rows = played(feed, messages, until=(START + 205) / RATE)
    bundle = feed_bundle(feed)
    expected = decided(bundle, rows)
    feed.stop()
    again = open_feed()
    found = again.rows_from(rows[place].sequence)
    brought = [next(found) for _ in rows[place:]]
    repeated = decided(bundle, brought)
    assert repeated == {number: row for number, row in expected.items() if number in repeated}
    assert min(repeated) == rows[place].sequence
    core = NodeCore(bundle, "gateway")
    core.read(brought, 0.0, 0.0)
    found = again.rows_from(rows[-2].sequence)  # which goes back by less than a window
    windows = SampledWindows(bundle.model.signals)
    for row in [*rows, next(found)]:
        made = windows.take(row.samples.channels, row.samples.tick, lead=row.samples.lead)
    assert [one.sequence for one in made] == [rows[-2].sequence]
    assert not core.counters["repeated_ticks"]


def test_wrong_names_are_told_apart(tmp_path):
    file = write_machine(tmp_path, "mqtt://localhost")
    text = file.read_text(encoding="utf-8")
    feature = next(name for name in placement()["shaker"] if name.startswith("size"))
    for wrong, told in (
        ("temperatur", "no channel that the model asks; did you mean 'temperature'"),
        ("size", "which is computed here of x, y, z"),
        (feature, "a feature that is computed here; the sensors' samples are for x, y, z"),
    ):
        file.write_text(text.replace("{temperature: }", f"{{{wrong}: }}"), encoding="utf-8")
        site = load_site(file)
        with pytest.raises(ParameterError, match="mixer/temperature is for") as error:
            check_sensors(site, site.bundle())
        assert told in str(error.value)
