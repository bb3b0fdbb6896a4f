"""Accuracy, flash, RAM and instructions of exported models, beside those of other packages.

    python benchmarks/edge.py [--sets wine,sonar] [--platform cortex-m0plus] [--rows 100000]

One stratified split of each set (a third is tested on, seed 0), the same for all; one compiler
(-Os) and one emulator. Ours: the default model and models with a maximum of rules, in integers,
two of them in float too, with probabilities and with the class alone. The peers: scikit-learn's
forest of 10 trees, a tree whose number of leaves was selected in folds, and a network of 16 hidden
units through emlearn, and the forest through m2cgen. emlearn's trees compare integers, so that they
learn from readings scaled to 16 or 8 bits, or from floats as they are; of its ways to write a
model, the one with the least flash counts. Bare metal has no tanhf: the peers may take the
compiler's libm. Scaling readings for a peer is not counted.

The accuracy is that of what was exported: the peers' C is run on the test rows, ours decides by its
Python simulator. A column has the number of random rows on which device and simulator differ. The
ratios are to the smallest forest of emlearn in the same run. Which of our models is small and
accurate enough is read off the test rows for a look, and chosen honestly, by cross-validation on
the training rows alone.

Peers are skipped where they are not installed: pip install emlearn m2cgen. Sets come from
SOLAH_DATA, and wine from scikit-learn where that is not set.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from solah import RuleClassifier, datasets
from solah.data import to_numbers
from solah.exceptions import DatasetError
from solah.export import export_c
from solah.export.agreement import sample_rows
from solah.export.footprint import footprint
from solah.export.platforms import (
    BuildError,
    RunError,
    build,
    find_platform,
    measure,
    run,
)
from solah.model.encode import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from solah.data import Table
    from solah.export import Export
    from solah.export.platforms import Footprint, Platform
    from solah.model import Model

SETS = ("wine", "ionosphere", "sonar", "diabetes_pima")
SETTINGS: dict[str, dict[str, Any]] = {
    "10 rules": {"max_rules": 10},
    "20 rules": {"max_rules": 20},
    "40 rules": {"max_rules": 40},
    "80 rules": {"max_rules": 80},
    "default": {},
}
IN_FLOAT_TOO = ("20 rules", "default")
N_FOLDS = 5
LABEL = 39  # the width of a model's name
EMLEARN_FORESTS = {"int16_t": ("inline", "loadable"), "int8_t": ("inline",), "float": ("inline",)}
# What others write does not pass our warnings, and need not.
QUIET = '#pragma GCC system_header\n#include "peer.h"\n'
# libm reports errors in a place that the C library keeps with much else; a word will do.
PROBE = """
#include "quiet.h"
#include "solah_probe.h"
#ifdef __ARM_EABI__
int *__errno(void);
int *__errno(void)
{
    static int place;
    return &place;
}
#endif
void solah_probe(const void *row, void *answer)
{
    %s
}
"""
ASK = """
#include "solah_io.h"
#include "solah_probe.h"
static union {
    unsigned char bytes[ROW_BYTES];
    double aligned;
} row;
static union {
    unsigned char bytes[ANSWER_BYTES];
    double aligned;
} answer;
int main(void)
{
    while (solah_io_read(row.bytes, ROW_BYTES) == ROW_BYTES) {
        solah_probe(row.bytes, answer.bytes);
        solah_io_write(answer.bytes, ANSWER_BYTES);
    }
    return 0;
}
"""
DRIVER = """
#include "m.h"
#include "solah_io.h"
int main(void)
{
    %(reading)s x[M_N_READINGS];
    %(probability)s p[M_N_CLASSES];
    while (solah_io_read(x, sizeof x) == sizeof x) {
        const int32_t decision = m_decide(x, p);
        solah_io_write(&decision, sizeof decision);
        solah_io_write(p, sizeof p);
    }
    return 0;
}
"""
PREDICT = """
void solah_probe(const void *row, void *answer)
{
    *(int *)answer = m_predict((const int32_t *)row);
}
"""
TYPES = {
    "float": {"reading": "float", "probability": "float"},
    "q15": {"reading": "int32_t", "probability": "uint16_t"},
}


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    model: str
    accuracy: float
    footprint: Footprint
    note: str = ""


@dataclass(frozen=True)
class Candidate:
    """One of our models: how it did in folds of the training rows, and what it costs."""

    n_rules: int
    fold_scores: np.ndarray
    line: Line


@dataclass(frozen=True)
class Split:
    """A set, parted into rows to learn from and rows to test on."""

    table: Table
    target: np.ndarray
    train: np.ndarray
    test: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """All readings as numbers, what is missing as the mean."""
        columns = [to_numbers(column).values for column in self.table.columns]
        values = np.column_stack(columns)
        return np.where(np.isnan(values), np.nanmean(values, axis=0), values)

    @property
    def codes(self) -> np.ndarray:
        """The classes as numbers."""
        return np.unique(self.target, return_inverse=True)[1]


@dataclass(frozen=True)
class Peer:
    """What others wrote: its C, how it is called, and the test rows as it takes them."""

    label: str
    header: str
    call: str
    rows: np.ndarray
    answer: str
    includes: tuple[Path, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--platform", default="cortex-m0plus")
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    platform = find_platform(options.platform)
    for name in options.sets.split(","):
        try:
            split = load(name)
        except DatasetError as error:
            print(f"{name} is skipped: {error}")
            continue
        show(name, split, platform, options.rows)


def load(name: str) -> Split:
    data = datasets.load(name)
    places = np.arange(len(data.target))
    train, test = train_test_split(places, test_size=1 / 3, random_state=0, stratify=data.target)
    return Split(data.table, data.target, train, test)


def show(name: str, split: Split, platform: Platform, n_rows: int) -> None:
    print(f"\n{name}, {len(split.target)} x {len(split.table.columns)}, {platform.name}")
    print(f"  {'':<{LABEL}}{'to the forest':>64}")
    print(f"  {'':<{LABEL}}accuracy   flash    RAM  stack  instructions   flash  instructions")
    forests, others = peers(split, platform)
    smallest = min(forests, key=flash, default=None)
    for line in (*forests, *others):
        print_line(line, smallest)
    candidates = []
    for label, settings in SETTINGS.items():
        model = fit(split, split.train, settings)
        line = ours(f"solah, {label}, q15", model, "q15", split, platform, n_rows)
        candidates.append(Candidate(model.n_rules, fold_scores(split, settings), line))
        print_line(line, smallest)
        print_line(class_alone(line, model, split, platform), smallest)
        if label in IN_FLOAT_TOO:
            in_float = ours(f"solah, {label}, float", model, "float", split, platform, n_rows)
            print_line(in_float, smallest)
    print_choices(candidates, forests, smallest)


def peers(split: Split, platform: Platform) -> tuple[list[Line], list[Line]]:
    """Measure emlearn's forests, and all others."""
    forests: list[Line] = []
    others: list[Line] = []
    if is_installed("emlearn"):
        forests += emlearn_forests(split, platform)
        others += emlearn_trees(split, platform)
        others += emlearn_networks(split, platform)
    if is_installed("m2cgen"):
        others += m2cgen_forests(split, platform)
    return forests, others


def flash(line: Line) -> int:
    return line.footprint.flash


def print_line(line: Line, forest: Line | None) -> None:
    found = line.footprint
    costs = f"{found.flash:8,}{found.ram:7,}{found.stack:7,}{found.instructions:14,}"
    ratios = " " * 21
    if forest is not None:
        flashes = found.flash / forest.footprint.flash
        ratios = f"{flashes:8.2f}{found.instructions / forest.footprint.instructions:13.2f} "
    print(
        f"  {line.model:<{LABEL}}{line.accuracy:8.3f}{costs}{ratios} {line.note}".rstrip(),
        flush=True,
    )


def print_choices(
    candidates: Sequence[Candidate], forests: Sequence[Line], smallest: Line | None
) -> None:
    if forests:
        print("  read off the test rows, the smallest solah model at least as accurate as")
    for forest in forests:
        enough = [one.line for one in candidates if one.line.accuracy >= forest.accuracy]
        found = min(enough, key=flash, default=None)
        best = max((one.line for one in candidates), key=lambda line: line.accuracy)
        said = told(found, forest) if found else f"none reached; the best is {told(best, forest)}"
        print(f"    {forest.model} ({forest.accuracy:.3f}): {said}")
    print(f"  chosen on the training rows alone ({N_FOLDS} folds, fewest rules within one standard")
    print(f"  error of the best): {told(choose(candidates).line, smallest)}", flush=True)


def told(line: Line, forest: Line | None) -> str:
    ratio = f", {flash(line) / flash(forest):.2f} of the forest's" if forest else ""
    return f"{line.model}, accuracy {line.accuracy:.3f}, {flash(line):,} bytes of flash{ratio}"


def choose(candidates: Sequence[Candidate]) -> Candidate:
    """Take the fewest rules within one standard error of the best in folds."""
    best = max(candidates, key=lambda one: one.fold_scores.mean())
    error = best.fold_scores.std(ddof=1) / np.sqrt(N_FOLDS)
    good = [one for one in candidates if one.fold_scores.mean() >= best.fold_scores.mean() - error]
    return min(good, key=lambda one: one.n_rules)


def fold_scores(split: Split, settings: dict[str, Any]) -> np.ndarray:
    """Score settings in folds of the training rows."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    scores = []
    for learned, held in folds.split(split.train, split.target[split.train]):
        model = fit(split, split.train[learned], settings)
        scores.append(
            simulator_accuracy(export_c(model, numbers="q15"), model, split, split.train[held])
        )
    return np.array(scores)


def fit(split: Split, places: np.ndarray, settings: dict[str, Any]) -> Model:
    estimator = RuleClassifier(**settings)
    return estimator.fit(split.table.take(places), split.target[places]).model_


def simulator_accuracy(export: Export, model: Model, split: Split, places: np.ndarray) -> float:
    decided, _ = export.simulator.decide(encode(split.table.take(places), model.features))
    return float((np.array(model.target.classes)[decided] == split.target[places]).mean())


def ours(
    label: str, model: Model, numbers: Any, split: Split, platform: Platform, n_rows: int
) -> Line:
    export = export_c(model, name="m", numbers=numbers)
    accuracy = simulator_accuracy(export, model, split, split.test)
    cost = footprint(export, platform, encode(split.table.take(split.test[:100]), model.features))
    wrong = count_mismatches(export, model, platform, n_rows)
    note = f"{model.n_rules} rules, {wrong} of {n_rows:,} differ"
    return Line(label, accuracy, cost, note)


def class_alone(line: Line, model: Model, split: Split, platform: Platform) -> Line:
    """Measure the same model without probabilities, as trees and forests of others decide."""
    export = export_c(model, name="m", numbers="q15")
    rows = encode(split.table.take(split.test[:100]), model.features)
    probe = '#include "m.h"\n#include "solah_probe.h"\n' + PREDICT
    with written({**export.files, "probe.c": probe}) as folder:
        sources = [folder / "m.c", folder / "probe.c"]
        cost = measure(platform, sources, export.simulator.prepare(rows), includes=[folder])
    return Line(f"{line.model}, class alone", line.accuracy, cost)


def count_mismatches(export: Export, model: Model, platform: Platform, n_rows: int) -> int:
    """Count the random rows on which the device and its simulator differ in a bit."""
    rows = sample_rows(model, n_rows)
    rows[np.random.default_rng(1).random(rows.shape) < 0.05] = np.nan
    places, beliefs = export.simulator.decide(rows)
    is_float = export.numbers == "float"
    given = rows.astype(np.float32) if is_float else export.simulator.prepare(rows)
    files = {**export.files, "main.c": DRIVER % TYPES[export.numbers]}
    with written(files) as folder:
        program = build(platform, [folder / "m.c", folder / "main.c"], folder, includes=[folder])
        printed = run(program, given.tobytes(), timeout=600)
    kind = [("decision", "<i4"), ("belief", beliefs.dtype, (beliefs.shape[1],))]
    found = np.frombuffer(printed, kind)
    bits = f"u{beliefs.itemsize}"
    same = np.ascontiguousarray(found["belief"]).view(bits) == beliefs.view(bits)
    return int(((found["decision"] != places) | ~same.all(axis=1)).sum())


@contextlib.contextmanager
def written(files: dict[str, str]) -> Iterator[Path]:
    """Write files into a folder that does not stay."""
    with tempfile.TemporaryDirectory(prefix="solah-") as name:
        for file_name, text in files.items():
            (Path(name) / file_name).write_text(text, encoding="utf-8")
        yield Path(name)


def emlearn_forests(split: Split, platform: Platform) -> Iterator[Line]:
    for dtype, methods in EMLEARN_FORESTS.items():
        rows = as_type(split, dtype)
        forest = RandomForestClassifier(10, random_state=0)
        forest.fit(rows[split.train], split.codes[split.train])
        label = f"forest of 10, emlearn, {dtype}"
        yield from emlearn_lines(label, forest, dtype, methods, rows, split, platform)


def emlearn_trees(split: Split, platform: Platform) -> Iterator[Line]:
    """Measure a tree with the fewest leaves within a standard error of the best in folds."""
    rows = as_type(split, "int16_t")
    known, codes = rows[split.train], split.codes[split.train]
    sizes = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    trees = [DecisionTreeClassifier(max_leaf_nodes=size, random_state=0) for size in sizes]
    scores = np.array([cross_val_score(tree, known, codes, cv=folds) for tree in trees])
    best = scores[scores.mean(axis=1).argmax()]
    enough = scores.mean(axis=1) >= best.mean() - best.std(ddof=1) / np.sqrt(N_FOLDS)
    tree = trees[int(enough.argmax())].fit(known, codes)
    label = f"tree of {tree.get_n_leaves()} leaves, emlearn, int16_t"
    yield from emlearn_lines(label, tree, "int16_t", ("inline",), rows, split, platform)


def emlearn_networks(split: Split, platform: Platform) -> Iterator[Line]:
    rows = StandardScaler().fit(split.matrix[split.train]).transform(split.matrix)
    network = MLPClassifier((16,), max_iter=2000, random_state=0)
    network.fit(rows[split.train], split.codes[split.train])
    given = rows.astype(np.float32)
    label, methods = "network of 16, emlearn", ("loadable",)
    yield from emlearn_lines(label, network, "float", methods, given, split, platform)


def as_type(split: Split, dtype: str) -> np.ndarray:
    """Scale readings to integers, what was seen in training filling them; floats stay."""
    rows = split.matrix
    if dtype == "float":
        return rows.astype(np.float32)
    largest = np.iinfo(dtype.removesuffix("_t")).max
    low, high = rows[split.train].min(axis=0), rows[split.train].max(axis=0)
    scaled = (2 * (rows - low) / np.where(high > low, high - low, 1) - 1) * largest
    return np.clip(np.round(scaled), -largest, largest).astype(dtype.removesuffix("_t"))


def emlearn_lines(
    label: str,
    estimator: Any,
    dtype: str,
    methods: Sequence[str],
    rows: np.ndarray,
    split: Split,
    platform: Platform,
) -> Iterator[Line]:
    """Write a model in the ways that emlearn has, and keep what takes the least flash."""
    call = f"*(int32_t *)answer = peer_predict((const {dtype} *)row, {rows.shape[1]});"
    lines = []
    for method in methods:
        header, includes = emlearn_code(estimator, dtype, method)
        peer = Peer(f"{label} {method}", header, call, rows[split.test], "<i4", includes)
        lines += peer_lines(peer, split, platform)
    if lines:
        yield min(lines, key=flash)


def emlearn_code(estimator: Any, dtype: str, method: str) -> tuple[str, tuple[Path, ...]]:
    import emlearn

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # it leaves files
        exported = emlearn.convert(estimator, method=method, dtype=dtype)
        return exported.save(name="peer"), (Path(emlearn.includedir),)


def m2cgen_forests(split: Split, platform: Platform) -> Iterator[Line]:
    import m2cgen

    forest = RandomForestClassifier(10, random_state=0)
    forest.fit(split.matrix[split.train], split.codes[split.train])
    header = m2cgen.export_to_c(forest)
    call = "score((double *)row, (double *)answer);"
    answer = f"({forest.n_classes_},)<f8"
    peer = Peer("forest of 10, m2cgen", header, call, split.matrix[split.test], answer)
    yield from peer_lines(peer, split, platform)


def peer_lines(peer: Peer, split: Split, platform: Platform) -> Iterator[Line]:
    """Measure a peer on the platform and test it on this computer; report if it does not build."""
    answer_bytes = np.dtype(peer.answer).itemsize
    room = (f"ROW_BYTES={peer.rows[0].nbytes}", f"ANSWER_BYTES={answer_bytes}")
    files = {"peer.h": peer.header, "quiet.h": QUIET, "probe.c": PROBE % peer.call, "ask.c": ASK}
    with written(files) as folder:
        includes = (folder, *peer.includes)
        probe, ask = folder / "probe.c", folder / "ask.c"
        try:
            cost = measure(with_libm(platform), [probe], peer.rows[:100], includes=includes)
            host = with_libm(find_platform("host"))
            program = build(host, [probe, ask], folder, includes=includes, defines=room)
            printed = run(program, np.ascontiguousarray(peer.rows).tobytes())
        except (BuildError, RunError) as error:
            print(f"  {peer.label} is skipped: {error}")
            return
    answers = np.frombuffer(printed, peer.answer)
    decided = answers if answers.ndim == 1 else answers.argmax(axis=1)
    yield Line(peer.label, float((decided == split.codes[split.test]).mean()), cost)


def with_libm(platform: Platform) -> Platform:
    """Add libm where the toolchain has it; only networks need it."""
    command = [platform.compiler, "-print-file-name=libm.a"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    own = ("-lm",) if Path(found).is_absolute() else ()
    return replace(platform, libraries=(*own, *platform.libraries))


def is_installed(package: str) -> bool:
    if importlib.util.find_spec(package):
        return True
    print(f"  {package} is skipped: pip install {package}")
    return False


if __name__ == "__main__":
    main()
