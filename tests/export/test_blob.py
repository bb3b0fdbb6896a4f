"""Models as bytes: opened, they decide as the simulator; damaged or hostile, they do no harm."""

import subprocess

import numpy as np
import pytest
from blob_programs import (
    ATTACK,
    RUN,
    SANITIZED,
    attack,
    build,
    check_refused,
    count_of,
    counted,
    flips,
    mutated,
    patched,
    place_of,
    reasons_of,
    run,
    summed,
    write,
)
from c_programs import CPP11
from devices import module_of, with_tools
from export_shapes import ALL_SHAPES
from hypothesis import given, settings
from hypothesis import strategies as st
from renamed_models import model_of_states
from sklearn.datasets import load_diabetes, load_wine

from random_models import (
    odd_rows,
    random_cored,
    random_feature,
    random_model,
    random_number_model,
    random_rows,
    random_sum,
    random_term,
    random_tree,
)
from solah import LinguisticTreeRegressor, RuleClassifier
from solah.data import Kind, from_frame
from solah.exceptions import ParameterError
from solah.export import export_micropython
from solah.export.blob import LAYOUT, export_blob
from solah.export.c_writer import runtime_text
from solah.export.footprint import footprint
from solah.export.platforms import build as build_for
from solah.model import Feature, Model, Target
from solah.model.encode import encode

OK, TOO_SHORT, ALIGNMENT, MAGIC, BYTE_ORDER, VERSION, CHECKSUM = range(7)
TOO_LARGE, PLACE, NOT_A_TREE, NUMBERS = range(7, 11)


@pytest.fixture(scope="module")
def blobs():
    """Give blobs of all shapes and numbers of classes, with rows that include odd ones."""
    made = []
    for n_classes in (2, 4):
        for shape in ALL_SHAPES:
            rng = np.random.default_rng(n_classes)
            model = random_model(rng, shape, n_classes)
            made.append((export_blob(model), odd_rows(rng, model, 400)))
    return made


@pytest.fixture(scope="module")
def number():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = LinguisticTreeRegressor(max_depth=2).fit(X, 10_000 * y).model_
    return export_blob(model), encode(from_frame(X), model.features)


@pytest.fixture(scope="module")
def added_up():
    rng = np.random.default_rng(3)
    model = random_number_model(rng)
    return export_blob(model), odd_rows(rng, model, 400)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier().fit(X, y).model_
    return export_blob(model, name="wine"), encode(from_frame(X), model.features)


@pytest.fixture(scope="module")
def small():
    """Give a small blob with a curve, a table and a grid, whose every bit can be tried."""
    rng = np.random.default_rng(8)
    features = [random_cored(rng, f"x{i}", kind) for i, kind in enumerate(SMALL)]
    asked = ([features[0]], [features[1]], features)
    root = random_sum(rng, "y", [random_term(rng, some, 2) for some in asked], 2)
    target = Target("y", ("a", "b"), thresholds=(0.4, 0.6), shares=(0.3, 0.7))
    return export_blob(Model(target, tuple(features), (root,)))


@pytest.fixture(scope="module")
def small_tree():
    """Give a small blob with a tree that asks both features."""
    rng = np.random.default_rng(8)
    features = [random_cored(rng, f"x{i}", kind) for i, kind in enumerate(SMALL)]
    target = Target("y", ("a", "b"), thresholds=(0.4, 0.6), shares=(0.3, 0.7))
    return export_blob(Model(target, tuple(features), (random_tree(rng, "y", features, 2, 4),)))


SMALL = (Kind.CONTINUOUS, Kind.CATEGORICAL)


@pytest.fixture(scope="module")
def runner(wine, tmp_path_factory, find_tool):
    return build(wine[0], tmp_path_factory.mktemp("run"), find_tool("cc"), RUN.format(n_most=3))


@pytest.fixture(scope="module")
def attacked(wine, tmp_path_factory, find_tool):
    return build(wine[0], tmp_path_factory.mktemp("attack"), find_tool("cc"), ATTACK, SANITIZED)


# --- decisions -------------------------------------------------------------------------------


def test_a_board_reads_files_by_names(wine, tmp_path):
    blob, rows = wine
    write(blob, tmp_path)
    module = module_of(blob.files["solah_blob.py"])
    module["load"](str(tmp_path / "wine.bin"))
    names = [name for name, *_ in module["READINGS"]]
    reading = dict(zip(names, rows[0].tolist(), strict=True))
    assert "proline" in names
    assert module["decide"](reading)[0] == "0"
    numbered = module["why"](reading, 2)
    module["load"](str(tmp_path / "wine.bin"), str(tmp_path / "wine_rules.txt"))
    assert module["why"](reading, 2) == [(blob.rules[n].short, amount) for n, amount in numbered]
    (tmp_path / "others.txt").write_text("if anything then nothing\n")
    with pytest.raises(ValueError, match="not the rules of the blob"):
        module["load"](blob.data, str(tmp_path / "others.txt"))


def test_a_checksum_needs_no_module(wine):
    module = module_of(wine[0].files["solah_blob.py"])
    real_import = module["__builtins__"]["__import__"]

    def without(name, *rest):
        if name == "binascii":
            raise ImportError(name)
        return real_import(name, *rest)

    module["__builtins__"] = {**module["__builtins__"], "__import__": without}
    module = {"__builtins__": module["__builtins__"], "__name__": "solah_blob"}
    exec(wine[0].files["solah_blob.py"], module)
    module["load"](wine[0].data)
    assert module["CLASSES"] == ("0", "1", "2")


NAMES = """
#include "solah_blob.h"
#include <stdio.h>

static union {
    uint32_t aligned;
    uint8_t bytes[65536];
} slot;

int main(void)
{
    solah_blob blob;
    const size_t size = fread(slot.bytes, 1, sizeof slot.bytes, stdin);
    const int fault = solah_blob_open(&blob, slot.bytes, size, NULL);
    puts(solah_blob_fault(fault));
    for (int i = -1; i <= solah_blob_n_readings(&blob); i++) {
        const char *name = solah_blob_reading_name(&blob, i);
        printf("%s %d %d\\n", name, solah_blob_reading(&blob, name), solah_blob_bits(&blob, i));
    }
    for (int i = -1; i <= solah_blob_n_classes(&blob); i++) {
        printf("class %s\\n", solah_blob_class_name(&blob, i));
    }
    printf("%d %d", solah_blob_value_bits(&blob), solah_blob_n_rules(&blob));
    for (int i = 0; i < 8; i++) {
        printf(" %02x", solah_blob_hash(&blob)[i]);
    }
    return 0;
}
"""


def test_names_and_units_are_told(small, tmp_path, find_tool):
    program = build(small, tmp_path, find_tool("cc"), NAMES, SANITIZED)
    slot = small.data + b"\xff" * 100  # as flash behind a blob is
    told = subprocess.run([program], input=slot, capture_output=True, check=True).stdout
    module = module_of(small.files["solah_blob.py"])
    module["load"](slot)
    (_, bits, _), _ = module["READINGS"]
    lines = told.decode().splitlines()
    assert lines[:5] == ["the blob is whole", " -1 -32768", f"x0 0 {bits}", "x1 1 -32768", lines[1]]
    assert lines[5:9] == ["class ", "class a", "class b", "class "]
    digits = " ".join(module["MODEL"][i : i + 2] for i in range(0, 16, 2))
    value_bits = module["_STAGES"][-1][2]
    assert lines[9] == f"{value_bits} {len(small.rules)} {digits}"


def test_both_runtimes_know_the_same_sections(wine):
    assert module_of(wine[0].files["solah_blob.py"])["_SECTIONS"] == tuple(LAYOUT.items())


# --- what does not fit -----------------------------------------------------------------------


def test_a_runtime_says_that_it_has_too_little_room(tmp_path, find_tool):
    rng = np.random.default_rng(5)
    model = random_model(rng, "tree", 20)
    blob = export_blob(model)
    (warning,) = blob.warnings
    assert "-DSOLAH_BLOB_MAX_CLASSES=20" in warning
    rows = random_rows(rng, model, 50)
    program = RUN.format(n_most=1)
    sent = [(blob.data, blob.simulator.prepare(rows))]
    assert list(run(build(blob, tmp_path, find_tool("cc"), program), sent, 1)) == [None]
    flags = ("-O1", "-DSOLAH_BLOB_MAX_CLASSES=20")
    (answer,) = run(build(blob, tmp_path, find_tool("cc"), program, flags), sent, 1)
    np.testing.assert_array_equal(answer["belief"], blob.simulator.decide(rows)[1])


@pytest.mark.parametrize("limit", ["STAGES=1", "WALKS=2", "INPUTS=3", "DEPTH=1"])
def test_every_limit_of_a_runtime_is_kept(limit, blobs, wine, tmp_path, find_tool):
    flags = ("-O1", f"-DSOLAH_BLOB_MAX_{limit}")
    built = build(wine[0], tmp_path, find_tool("cc"), RUN.format(n_most=3), flags)
    asked = (wine, blobs[ALL_SHAPES.index("words")])
    sent = [(blob.data, blob.simulator.prepare(rows)) for blob, rows in asked]
    answer, refused = run(built, sent, 3)
    np.testing.assert_array_equal(answer["belief"], wine[0].simulator.decide(wine[1])[1])
    assert refused is None


@pytest.fixture
def wide():
    """Give a model that asks a feature with more states than a byte counts."""
    rng = np.random.default_rng(0)
    inputs = (many_states("wide", 300), random_feature(rng, "x", Kind.CONTINUOUS))
    return Model(Target("y", ("a", "b")), inputs, (random_tree(rng, "y", inputs, 2, max_nodes=9),))


def many_states(name, n_states):
    """Make a feature with many states, all alike."""
    states = tuple(f"s{i}" for i in range(n_states))
    peaks = tuple(map(float, range(n_states)))
    shares = (1 / n_states,) * n_states
    return Feature(name, Kind.CATEGORICAL, states, peaks, shares, categories=states)


def test_an_input_with_too_many_sets_is_refused(wide):
    with pytest.raises(ParameterError, match="255 focal sets of an input at the most; .* 300"):
        export_blob(wide)


def test_an_input_with_too_many_sets_is_not_opened(wide, attacked, monkeypatch):
    monkeypatch.setattr("solah.export.blob._MOST_SETS", 300)
    blob = export_blob(wide)
    check_refused(blob, attacked, [(blob.data, PLACE, "a tree has words out of place")])


def test_more_readings_than_a_byte_counts_are_refused():
    rng = np.random.default_rng(0)
    features = [random_feature(rng, f"x{i}", Kind.CONTINUOUS) for i in range(256)]
    tree = random_tree(rng, "y", features[:2], 2)
    with pytest.raises(ParameterError, match="255 readings at the most; this model has 256"):
        export_blob(Model(Target("y", ("a", "b")), tuple(features), (tree,)))


def test_a_tree_that_places_cannot_number_is_refused():
    rng = np.random.default_rng(0)
    wide = tuple(many_states(f"w{i}", 250) for i in range(3))
    tree = random_tree(rng, "y", wide, 2, max_nodes=400)
    with pytest.raises(ParameterError, match=r"65,535 rules at the most; this model has 7\d,\d+"):
        export_blob(Model(Target("y", ("a", "b")), wide, (tree,)))


# --- faults ----------------------------------------------------------------------------------


DAMAGES = {
    "nothing": (lambda data: b"", TOO_SHORT, "blob is cut short"),
    "half of it": (lambda data: data[: len(data) // 2], TOO_SHORT, "blob is cut short"),
    "a size below the header's": (
        lambda data: data[:8] + bytes(4) + data[12:],
        TOO_SHORT,
        "blob is cut short",
    ),
    "another magic": (lambda data: b"JUNK" + data[4:], MAGIC, "bytes are not a blob of solah"),
    "bytes in another order": (
        lambda data: data[:6] + b"\xfe\xff" + data[8:],
        BYTE_ORDER,
        "blob orders bytes in another way",
    ),
    "a later version": (
        lambda data: data[:4] + b"\7\0" + data[6:],
        VERSION,
        "blob has version 7, and this module reads 6",
    ),
    "an earlier version": (
        lambda data: data[:4] + b"\2\0" + data[6:],
        VERSION,
        "blob has version 2, and this module reads 6",
    ),
    "a bit that flipped": (
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        CHECKSUM,
        "blob is damaged: its checksum is another",
    ),
    "too many classes": (
        lambda data: summed(data[:32] + b"\x11" + data[33:]),
        TOO_LARGE,
        "blob has other starts than stages",
    ),
    "no classes": (lambda data: summed(data[:32] + b"\0" + data[33:]), PLACE, "blob is empty"),
    "no stages": (
        lambda data: counted(counted(data, "stages", 0), "starts", 0),
        PLACE,
        "blob is empty",
    ),
}
COUNTS = {
    "no readings": ("bits", 0, PLACE, "blob is empty"),
    "other zeros than readings": ("zeros", 1, PLACE, "blob has other zeros than readings"),
    "other preferences than classes": ("preference", 1, PLACE, "blob prefers other classes"),
    "fewer shares than parts": ("lost", 2, PLACE, "a stage loses what it has not"),
    "fewer priors than classes": ("priors", 1, PLACE, "a stage loses what it has not"),
    "other starts than stages": ("starts", 2, PLACE, "blob has other starts than stages"),
    "a section beyond the end": (
        "knots",
        60_000,
        PLACE,
        "blob names a place that it does not have",
    ),
}
PATCHES = {
    "a name without an end": ("names", 4, "B", 1, PLACE, "blob has a name without an end"),
    "a name beyond the end": ("names", 0, "H", 999, PLACE, "blob has a name without an end"),
    "a curve of no reading": ("curves", 0, "B", 2, PLACE, "a curve is out of place"),
    "a curve with one knot": ("curves", 1, "B", 1, PLACE, "a curve is out of place"),
    "a curve's knots beyond the end": ("curves", 2, "H", 99, PLACE, "a curve is out of place"),
    "a curve's values beyond": ("curves", 4, "H", 999, PLACE, "a curve is out of place"),
    "a table of no reading": ("tables", 0, "B", 200, PLACE, "a table is out of place"),
    "a table with too many states": ("tables", 1, "B", 200, PLACE, "a table is out of place"),
    "a grid of no reading": ("grids", 0, "B", 2, PLACE, "a grid is out of place"),
    "a grid without lines": ("grids", 1, "B", 0, PLACE, "a grid is out of place"),
    "a grid's peaks beyond": ("grids", 4, "H", 999, PLACE, "a grid is out of place"),
    "a grid's slopes beyond": ("grids", 6, "H", 999, PLACE, "a grid is out of place"),
    "a grid's cells beyond": ("grids", 16, "H", 999, PLACE, "a grid has cells out of place"),
    "a grid's values beyond": ("grids", 18, "H", 999, PLACE, "a grid has cells out of place"),
    "a cell without a line": ("lines", 0, "B", 255, PLACE, "a grid has cells out of place"),
    "rules of a grid beyond": ("of_grids", 0, "H", 999, PLACE, "an unknown number"),
    "a stage with other grids": ("stages", 14, "H", 1, PLACE, "a stage is out of place"),
    "a stage with other curves": ("stages", 6, "H", 1, PLACE, "a stage is out of place"),
    "a rule that is not there": (
        "of_knots",
        0,
        "H",
        999,
        PLACE,
        "a rule has an unknown number",
    ),
    "knots out of order": ("knots", 0, "h", 32767, NUMBERS, "a curve has knots out of order"),
    "a shift of 32": ("values", 0, "h", 32, NUMBERS, "a curve shifts too far"),
    "more lost than there is": ("lost", 0, "H", 65535, NUMBERS, "a stage loses what it has not"),
    "a loss that is none": ("stages", 3, "B", 2, PLACE, "a stage loses what it has not"),
    "a loss shifted too far": ("stages", 2, "B", 32, NUMBERS, "a stage loses what it has not"),
    "evidence in no unit": ("stages", 1, "b", 25, NUMBERS, "a stage has an unknown unit"),
    "a reading in no unit": ("bits", 0, "h", 9999, NUMBERS, "a reading has no unit"),
}
TREE_PATCHES = {
    "a tree that asks nothing": ("asked", 1, "B", 2, PLACE, "a tree asks what is not there"),
    "a tree that asks the future": ("asked", 0, "B", 2, PLACE, "a tree asks what is not there"),
    "an unknown question": ("asked", 0, "B", 4, PLACE, "a tree asks what is not there"),
    "no words": ("offsets", 2, "H", 0, PLACE, "a tree has words out of place"),
    "a leaf that is not there": ("trees", 6, "H", 0, PLACE, "a leaf is out of place"),
    "more nodes than there are": ("trees", 4, "H", 900, PLACE, "a tree is out of place"),
    "rules beyond the end": ("first_node", 0, "H", 9, PLACE, "rules are out of place"),
    "a node below itself": ("children", 0, "H", 0, NOT_A_TREE, "a tree is broken"),
    "a node asks no input": ("splits", 0, "b", 2, NOT_A_TREE, "a tree is broken"),
    "a node too few": ("trees", 4, "H", 2, NOT_A_TREE, "a tree is broken"),
    "a root that is a leaf": ("splits", 0, "b", -1, NOT_A_TREE, "a tree is broken"),
    "peaks out of order": ("peaks", 0, "h", 32767, NUMBERS, "a tree has words out of order"),
    "a way shifted too far": ("shifts", 0, "B", 32, NUMBERS, "a tree has words out of order"),
    "more than certain": ("mean_masses", 0, "H", 65535, NUMBERS, "a tree assumes too much"),
}
OVERFLOWS = {
    "a start": lambda data: patched(data, "starts", 0, "i", 2**30),
    "a prior": lambda data: patched(data, "priors", 0, "i", -(2**28)),
    "a lean": lambda data: patched(data, "priors", 4, "i", 2**29),
    "a preference": lambda data: patched(data, "preference", 0, "i", 2**31 - 1),
    "a coarse unit": lambda data: patched(
        patched(data, "stages", 1, "b", 0), "starts", 0, "i", 2**19
    ),
    "a steep piece": lambda data: patched(
        patched(data, "values", 0, "h", 0), "values", 4, "h", -(2**15)
    ),
}


def test_what_is_whole_opens(small, number, attacked):
    assert attack(attacked, [small.data, number[0].data]).tolist() == [OK, OK]


def test_both_runtimes_refuse_damage_wrong_counts_and_wrong_contents(small, attacked):
    cases = [(damaged(small.data), code, said) for damaged, code, said in DAMAGES.values()]
    cases += [(counted(small.data, *fault[:-2]), *fault[-2:]) for fault in COUNTS.values()]
    cases += [(patched(small.data, *fault[:-2]), *fault[-2:]) for fault in PATCHES.values()]
    check_refused(small, attacked, cases)


def test_both_runtimes_refuse_wrong_trees(small_tree, attacked):
    cases = [
        (patched(small_tree.data, *fault[:-2]), *fault[-2:]) for fault in TREE_PATCHES.values()
    ]
    cases.append((counted(small_tree.data, "trees", 17), TOO_LARGE, "a tree is out of place"))
    check_refused(small_tree, attacked, cases)


def test_both_runtimes_refuse_wrong_slopes_of_grids(small, attacked):
    side = next(side for side in small.simulator._tables.grids[0].sides if not side.is_state)
    faults = {
        "peaks out of order": ("knots", 2 * side.knot, "h", 32767),
        "has broken": ("values", 2 * side.value, "h", 32),
        "broken slopes": ("values", 2 * side.value + 2, "h", -1),
    }
    hostile = ((patched(small.data, *fault), NUMBERS, said) for said, fault in faults.items())
    check_refused(small, attacked, list(hostile))


def test_numbers_that_would_overflow_are_found(small, attacked):
    hostile = [change(small.data) for change in OVERFLOWS.values()]
    assert attack(attacked, hostile).tolist() == [NUMBERS] * len(hostile)


def test_stages_that_make_no_sense_are_found(blobs, small, number, attacked):
    tree = blobs[0][0].data
    hostile = [
        patched(tree, "leaves", 0, "h", 16385),  # more than all belief
        patched(tree, "stages", 1, "b", 13),  # beliefs in another unit
        patched(small.data, "stages", 0, "B", 0),  # several trees that are not weighed
        patched(small.data, "stages", 0, "B", 2),  # neither weighed nor not
    ]
    assert attack(attacked, hostile).tolist() == [NUMBERS] * len(hostile)


UNALIGNED = """
#include "solah_blob.h"
#include <stdio.h>

int main(void)
{
    static union {
        uint32_t aligned;
        uint8_t bytes[4096];
    } slot;
    static solah_blob blob;
    const size_t size = fread(slot.bytes + 2, 1, sizeof slot.bytes - 2u, stdin);
    if (solah_blob_open(&blob, NULL, size, NULL) != SOLAH_BLOB_TOO_SHORT) {
        return 99;
    }
    return solah_blob_open(&blob, slot.bytes + 2, size, NULL);
}
"""


def test_no_bytes_and_bytes_at_an_odd_place_are_refused(small, tmp_path, find_tool):
    program = build(small, tmp_path, find_tool("cc"), UNALIGNED, SANITIZED)
    assert subprocess.run([program], input=small.data).returncode == ALIGNMENT


# --- hostile bytes ---------------------------------------------------------------------------


def test_no_truncation_opens(small, attacked):
    cut = [small.data[:size] for size in range(len(small.data))]
    assert (attack(attacked, cut) == TOO_SHORT).all()
    end = place_of(small.data, "names") + count_of(small.data, "names")  # padding follows
    assert (attack(attacked, [summed(data) for data in cut[212:end]]) == PLACE).all()


def test_no_bit_that_flips_goes_unseen(small, attacked):
    assert (attack(attacked, list(flips(small.data))) != OK).all()


def test_no_bit_that_flips_on_purpose_does_harm(small, small_tree, attacked):
    both = (*flips(small.data), *flips(small_tree.data))
    codes = attack(attacked, [summed(data) for data in both])
    assert {OK, TOO_LARGE, PLACE, NOT_A_TREE, NUMBERS} <= set(codes.tolist())


def test_no_mutation_does_harm(blobs, small, number, added_up, wine, attacked):
    rng = np.random.default_rng(0)
    originals = [small, number[0], added_up[0], wine[0], *(blob for blob, _ in blobs)]
    hostile = [mutated(rng, rng.choice(originals).data) for _ in range(8_000)]
    codes = attack(attacked, hostile)
    assert {OK, TOO_LARGE, PLACE, NOT_A_TREE, NUMBERS} <= set(codes.tolist())


def test_what_opens_decides_alike_on_boards(blobs, small, number, added_up, runner):
    """Whatever C opens, the module loads, and both compute the same integers."""
    rng = np.random.default_rng(1)
    originals = [small, number[0], added_up[0], *(blob for blob, _ in blobs[:8])]
    extremes = np.array([-(2**31), -(2**31) + 1, 2**31 - 1, 0, 1, 2, 5_000, -5_000, 40_000])
    sent = []
    for _ in range(1_000):
        data = mutated(rng, rng.choice(originals).data)
        sent.append((data, rng.choice(extremes, (3, min(count_of(data, "bits"), 255)))))
    module = module_of(small.files["solah_blob.py"])
    n_opened = 0
    for (data, rows), answer in zip(sent, run(runner, sent, 3), strict=True):
        if answer is not None and is_loaded(module, data):
            n_opened += 1
            prepared = rows.tolist()
            if module["CLASSES"]:
                believed = [module["decide_prepared"](row) for row in prepared]
                answered = zip(answer["decision"].tolist(), answer["belief"].tolist(), strict=True)
                assert believed == list(answered)
            else:
                estimated = [module["estimate_prepared"](row) for row in prepared]
                assert estimated == answer["estimate"].tolist()
            assert [module["why_prepared"](row, 3) for row in prepared] == reasons_of(answer)
    assert n_opened > 100


def is_loaded(module, data):
    """Load a blob that C opened; its names alone may be none, since C does not read UTF-8."""
    try:
        module["load"](data)
    except UnicodeError:
        return False
    return True


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=600), st.integers(1, 3))
def test_arbitrary_bytes_do_no_harm(attacked, small, content, n_classes):
    head = small.data[:32] + bytes([n_classes])
    made = [content, small.data[:200] + content, summed(head + content.ljust(180, b"\0"))]
    codes = attack(attacked, made)
    for data, code in zip(made, codes, strict=True):
        if code == OK:
            assert is_loaded(module_of(small.files["solah_blob.py"]), data)


# --- other compilers -------------------------------------------------------------------------


def test_the_runtime_is_cpp_too(wine, tmp_path, find_tool):
    write(wine[0], tmp_path)
    (tmp_path / "main.c").write_text(RUN.format(n_most=3), encoding="utf-8")
    command = [find_tool("c++"), *CPP11, "-O2", "main.c", "-o", "m"]
    subprocess.run(command, cwd=tmp_path, check=True)
    blob, rows = wine
    (answer,) = run(tmp_path / "m", [(blob.data, blob.simulator.prepare(rows))], 3)
    np.testing.assert_array_equal(answer["decision"], blob.simulator.decide(rows)[0])


def test_the_analyzer_finds_nothing(wine, tmp_path, find_tool):
    flags = ("-O2", "-fanalyzer")
    build(wine[0], tmp_path, find_tool("gcc"), RUN.format(n_most=3), flags)


# --- inputs ----------------------------------------------------------------------------------

OPEN_FOR = """
#include "solah_blob.h"
#include "m_inputs.h"
#include <stdio.h>
#include <string.h>

static union {
    uint32_t aligned;
    uint8_t bytes[65536];
} slot;

int main(void)
{
    solah_blob blob;
    const size_t size = fread(slot.bytes, 1, sizeof slot.bytes, stdin);
    puts(solah_blob_fault(solah_blob_open(&blob, slot.bytes, size, M_INPUTS)));
    puts(solah_blob_fault(solah_blob_open(&blob, slot.bytes, size, NULL)));
    const int colour = solah_blob_reading(&blob, "colour");
    printf("%d", solah_blob_n_categories(&blob, colour));
    for (int i = -1; i <= solah_blob_n_categories(&blob, colour); i++) {
        const char *name = solah_blob_category_name(&blob, colour, i);
        printf(" %s=%ld", name, (long)solah_blob_category(&blob, colour, name));
    }
    printf(" %d\\n", solah_blob_n_categories(&blob, -1));
    return 0;
}
"""


def test_a_blob_with_other_inputs_is_refused(tmp_path, find_tool):
    first = export_blob(model_of_states(("red", "green")), name="m")
    program = build(first, tmp_path, find_tool("cc"), OPEN_FOR, SANITIZED)

    def opened(blob):
        done = subprocess.run([program], input=blob.data, capture_output=True, check=True)
        return done.stdout.decode().splitlines()

    whole, other = "the blob is whole", "the blob has other features or categories"
    unknown = -(2**31)
    assert opened(first) == [whole, whole, f"2 ={unknown} red=0 green=1 ={unknown} 0"]
    for states in (("green", "red"), ("red", "green", "blue"), (1, 2)):
        fault, accepted, names = opened(export_blob(model_of_states(states), name="m"))
        assert fault.startswith(other)
        assert accepted == whole
        assert all(f"{state}={place}" in names.split() for place, state in enumerate(states))


@pytest.mark.parametrize("states", [("red", "green"), (3, -1, 12345678), (0.1, 2.5), (False, True)])
def test_a_board_takes_categories_by_their_names(states):
    model = model_of_states(states)
    blob = export_blob(model, name="m")
    module = module_of(blob.files["solah_blob.py"])
    module["load"](blob.data)
    plain = module_of(export_micropython(model, name="m").files["m.py"])
    for place, state in enumerate(states):
        assert module["prepare"]({"colour": state})[0] == place
        assert plain["prepare"]({"colour": state})[0] == place
    for unseen in ("violet", 77, None, float("nan")):
        assert module["prepare"]({"colour": unseen})[0] == module["UNKNOWN"]
        assert plain["prepare"]({"colour": unseen})[0] == plain["UNKNOWN"]


def test_the_runtime_states_its_ram(find_tool, tmp_path):
    """On a processor of 32 bits; the header's comment has these figures."""
    platform = with_tools("cortex-m0plus", find_tool)
    stated = {"": 1052, "-DSOLAH_BLOB_MAX_STAGES=1": 1052 - 7 * 36}
    stated |= {"-DSOLAH_BLOB_MAX_WALKS=15": 1052 - 40, "-DSOLAH_BLOB_MAX_WALKS=0": 452}
    stated["-DSOLAH_BLOB_MAX_SAMPLES=256"] = 1052 + 32
    text = runtime_text("solah_blob.h")
    assert "takes 124 bytes, 36 a stage and 40 a walk: 1,052\n" in text
    assert "and 32 more to take samples" in text
    assert "takes 452 bytes" in text
    assert "solah_blob_signals takes 12 bytes, 2 a sample and 8 a channel" in text
    write(export_blob(random_model(np.random.default_rng(0), "tree")), tmp_path)
    for flag, size in stated.items():
        option = f"#define {flag[2:].replace('=', ' ')}\n" if flag else ""
        sizes = [f"sizeof(solah_blob) == {size}"]
        sizes += ["sizeof(solah_blob_signals) == 12 + 2 * 256 + 8 * 8"] * ("SAMPLES" in flag)
        check = f"typedef char known[({' && '.join(sizes)}) ? 1 : -1];\n"
        main = f'{option}#include "solah_blob.h"\n{check}int main(void) {{ return 0; }}\n'
        (tmp_path / "main.c").write_text(main, encoding="utf-8")
        build_for(platform, [tmp_path / "main.c"], tmp_path, includes=[tmp_path])


def test_the_footprint_of_a_blob_has_its_runtime(wine, find_tool):
    platform = with_tools("cortex-m0plus", find_tool)
    found = footprint(wine[0], platform, wine[1][:20])
    assert len(wine[0].data) + 6_000 < found.flash < len(wine[0].data) + 9_000
    assert 1_052 + 112 <= found.ram < 1_300
    assert found.instructions > 1_000
