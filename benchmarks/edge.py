"""What models cost on a device, beside those that one would export otherwise.

    python benchmarks/edge.py [--sets wine,sonar] [--target cortex-m0plus] [--rows 100000]

One stratified split of each set (a third is tested on, seed 0), the same for all; one compiler
(-Os) and one emulator. Ours: the default model and one of few rules, in integers and in float. The
peers: scikit-learn's forest of 10 trees and a network of 16 hidden units through emlearn, and the
forest through m2cgen. Beside flash and instructions stand the accuracy of the exported model, and
for ours the rows out of so many random ones on which the device and its Python twin differ.
Peers are left out where they are not installed: pip install emlearn m2cgen. Sets come from
SOLAH_DATA, and wine from scikit-learn where that is not set.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from solah import SelfOrganisedHierarchyClassifier, datasets
from solah.data import to_numbers
from solah.exceptions import DatasetError
from solah.export import export_c
from solah.export.footprint import footprint, sample_rows
from solah.export.targets import BuildError, build, find_target, measure, run
from solah.model.encode import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solah.data import Table
    from solah.export import Export
    from solah.export.targets import Footprint, Target
    from solah.model import Model

SETS = ("wine", "ionosphere", "sonar", "diabetes_pima")
FEW_RULES = 20
# What others write does not pass our warnings, and need not.
QUIET = '#pragma GCC system_header\n#include "peer.h"\n'
PROBE = """
#include "quiet.h"
#include "solah_probe.h"
void solah_probe(const void *row, void *answer)
{
%s
}
"""
DRIVER = """
#include "m.h"
#include "solah_io.h"
int main(void)
{
    %(reading)s x[M_N_READINGS];
    %(belief)s p[M_N_CLASSES];
    while (solah_io_read(x, sizeof x) == sizeof x) {
        const int32_t decision = m_decide(x, p);
        solah_io_write(&decision, sizeof decision);
        solah_io_write(p, sizeof p);
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Line:
    """A line of the table."""

    model: str
    accuracy: float
    footprint: Footprint | None
    mismatches: str = ""


@dataclass(frozen=True)
class Split:
    """A set, parted into rows to learn from and rows to test on."""

    table: Table
    goal: np.ndarray
    train: np.ndarray
    test: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """All readings as numbers, what is missing as the mean."""
        columns = [to_numbers(column).values for column in self.table.columns]
        values = np.column_stack(columns)
        return np.where(np.isnan(values), np.nanmean(values, axis=0), values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--target", default="cortex-m0plus")
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    target = find_target(options.target)
    for name in options.sets.split(","):
        try:
            split = load(name)
        except DatasetError as error:
            print(f"{name} is left out: {error}")
            continue
        n_rows, n_columns = len(split.goal), len(split.table.columns)
        print(f"\n{name}, {n_rows} x {n_columns}, {target.name}")
        print(f"  {'':<28}accuracy   flash    RAM  stack  instructions")
        for line in measured(split, target, options.rows):
            print(f"  {spelt(line)}", flush=True)


def load(name: str) -> Split:
    data = datasets.load(name)
    places = np.arange(len(data.goal))
    train, test = train_test_split(places, test_size=1 / 3, random_state=0, stratify=data.goal)
    return Split(data.table, data.goal, train, test)


def measured(split: Split, target: Target, n_rows: int) -> Iterator[Line]:
    for label, settings in (("solah", {}), (f"solah, {FEW_RULES} rules", {"max_rules": FEW_RULES})):
        fitted = SelfOrganisedHierarchyClassifier(**settings)
        model = fitted.fit(split.table.take(split.train), split.goal[split.train]).model_
        for numbers in ("q15", "float"):
            yield ours(f"{label}, {numbers}", model, numbers, split, target, n_rows)
    forest = RandomForestClassifier(10, random_state=0).fit(*of_peer(split))
    yield from emlearn_lines("forest of 10, emlearn", forest, split, target)
    yield from m2cgen_lines("forest of 10, m2cgen", forest, split, target)
    network = make_pipeline(StandardScaler(), MLPClassifier((16,), max_iter=2000, random_state=0))
    network.fit(*of_peer(split))
    yield from emlearn_lines("network of 16, emlearn", network, split, target)


def ours(label: str, model: Model, numbers: Any, split: Split, target: Target, n_rows: int) -> Line:
    export = export_c(model, name="m", numbers=numbers)
    rows = encode(split.table.take(split.test), model.attributes)
    decided, _ = export.twin.decide(rows)
    accuracy = (np.array(model.goal.states)[decided] == split.goal[split.test]).mean()
    wrong = count_mismatches(export, model, target, n_rows)
    return Line(
        label, accuracy, footprint(export, target, rows[:100]), f"{wrong} of {n_rows:,} differ"
    )


def count_mismatches(export: Export, model: Model, target: Target, n_rows: int) -> int:
    """Count the random rows on which the device and its twin differ in a bit."""
    rows = sample_rows(model, n_rows)
    rows[np.random.default_rng(1).random(rows.shape) < 0.05] = np.nan
    is_float = export.numbers == "float"
    types = (
        {"reading": "float", "belief": "float"}
        if is_float
        else {
            "reading": "int32_t",
            "belief": "uint16_t",
        }
    )
    places, beliefs = export.twin.decide(rows)
    given = rows.astype(np.float32) if is_float else export.twin.prepare(rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file_name, text in {**export.files, "main.c": DRIVER % types}.items():
            (folder / file_name).write_text(text, encoding="utf-8")
        program = build(target, [folder / "m.c", folder / "main.c"], folder, includes=[folder])
        printed = run(program, given.tobytes(), timeout=600)
    kind = [("decision", "<i4"), ("belief", beliefs.dtype, (beliefs.shape[1],))]
    found = np.frombuffer(printed, kind)
    bits = f"u{beliefs.itemsize}"
    same = np.ascontiguousarray(found["belief"]).view(bits) == beliefs.view(bits)
    return int(((found["decision"] != places) | ~same.all(axis=1)).sum())


def of_peer(split: Split) -> tuple[np.ndarray, np.ndarray]:
    _, codes = np.unique(split.goal, return_inverse=True)
    return split.matrix[split.train], codes[split.train]


def emlearn_lines(label: str, estimator: Any, split: Split, target: Target) -> Iterator[Line]:
    try:
        import emlearn
    except ImportError:
        print("  emlearn is left out: pip install emlearn")
        return
    is_network = hasattr(estimator, "named_steps")
    inner = estimator[-1] if is_network else estimator
    rows = split.matrix[split.test]
    given = estimator[0].transform(rows) if is_network else rows
    _, codes = np.unique(split.goal, return_inverse=True)
    truth = codes[split.test]
    accuracy = (estimator.predict(rows) == truth).mean()
    folder = Path(tempfile.mkdtemp())
    with contextlib.chdir(folder):  # emlearn leaves files where it is called
        exported = emlearn.convert(inner) if is_network else emlearn.convert(inner, method="inline")
        exported.save(file="peer.h", name="peer")
    call = "    *(int *)answer = peer_predict((const %s *)row, %d);"
    kind = np.float32 if is_network else np.int16
    scaled = given if is_network else as_integers(given)
    body = call % ("float" if is_network else "int16_t", rows.shape[1])
    includes = [folder, Path(emlearn.includedir)]
    yield Line(label, accuracy, _probe(target, folder, body, scaled[:100].astype(kind), includes))


def m2cgen_lines(label: str, estimator: Any, split: Split, target: Target) -> Iterator[Line]:
    try:
        import m2cgen
    except ImportError:
        print("  m2cgen is left out: pip install m2cgen")
        return
    rows = split.matrix[split.test]
    _, codes = np.unique(split.goal, return_inverse=True)
    accuracy = (estimator.predict(rows) == codes[split.test]).mean()
    folder = Path(tempfile.mkdtemp())
    (folder / "peer.h").write_text(m2cgen.export_to_c(estimator), encoding="utf-8")
    body = "    score((double *)row, (double *)answer);"
    yield Line(label, accuracy, _probe(target, folder, body, rows[:100], [folder]))


def as_integers(values: np.ndarray) -> np.ndarray:
    """Scale readings to 16 bits, as emlearn's trees want them."""
    largest = np.abs(values).max(axis=0)
    return np.round(values / np.where(largest > 0, largest, 1) * 32767)


def _probe(
    target: Target, folder: Path, body: str, rows: np.ndarray, includes: list[Path]
) -> Footprint | None:
    source = folder / "probe.c"
    source.write_text(PROBE % body, encoding="utf-8")
    (folder / "quiet.h").write_text(QUIET, encoding="utf-8")
    try:
        return measure(target, [source], rows, includes=includes)
    except (BuildError, subprocess.SubprocessError) as error:
        print(f"  {error}")
        return None


def spelt(line: Line) -> str:
    start = f"{line.model:<28}{line.accuracy:8.3f}"
    found = line.footprint
    if found is None:
        return f"{start}   does not build"
    costs = f"{found.flash:8,}{found.ram:7,}{found.stack:7,}{found.instructions:14,}"
    return f"{start}{costs}  {line.mismatches}".rstrip()


if __name__ == "__main__":
    main()
