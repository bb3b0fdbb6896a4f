"""The cost of a policy on a device: flash, RAM, stack and instructions.

    python benchmarks/judging.py [--platforms cortex-m0plus cortex-m4f atmega328p]

The model is wine's with 20 rules, trained on all rows. It has a domain of quartiles and of all
pairs of features, and a policy that uses everything. Generated C is measured with and without the
policy, on 50 drawn rows: flash, RAM, stack and instructions (cycles on AVR), the most over the
rows. Of the runtime of blobs, flash and RAM on Cortex-M0+ are printed, the bytes of the model taken
off.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from solah import RuleClassifier, datasets
from solah.export import export_blob, export_c
from solah.export.agreement import sample_rows
from solah.export.footprint import footprint
from solah.export.platforms import find_platform
from solah.model.encode import encode
from solah.model.policy import Cells, Domain, Policy, SeenTogether, cells_of

if TYPE_CHECKING:
    from solah.kernels.arrays import Float
    from solah.model import Model

PLATFORMS = ("cortex-m0plus", "cortex-m4f", "atmega328p")
POLICY = Policy(
    (0.6,) * 3, 0.5, True, 1, smoothing=4, hysteresis=0.1, votes=2, window=3, min_hold=2
)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platforms", nargs="*", default=PLATFORMS)
    options = parser.parse_args(words)
    wine = datasets.load("wine")
    bare = RuleClassifier(max_rules=20).fit(wine.table, wine.target).model_
    domain = quartiles(bare, encode(wine.table, bare.features))
    model = replace(bare, domain=domain, policy=POLICY)
    print(f"{len(model.features)} readings, {len(domain.pairs)} pairs, {model.n_rules} rules")
    rows = sample_rows(model, 50)
    for name in options.platforms:
        for numbers in ("float", "q15"):
            for what, one in (("decides", bare), ("judges", model)):
                found = footprint(export_c(one, numbers=numbers), find_platform(name), rows)
                print(
                    f"{name:14} {numbers:6} {what:8} flash {found.flash:6,}  RAM {found.ram:4}  "
                    f"stack {found.stack:4}  {found.unit} {found.instructions:,}"
                )
    for what, one in (("decides", bare), ("judges", model)):
        blob = export_blob(one)
        found = footprint(blob, find_platform("cortex-m0plus"), rows)
        flash = found.flash - len(blob.data)
        print(f"the runtime of blobs that {what}: flash {flash:,}  RAM {found.ram:,}")


def quartiles(model: Model, rows: Float) -> Domain:
    """Describe rows by their ranges, their quartiles, and which of these occurred together."""
    cells, places = [], []
    for feature, column in zip(model.features, rows.T, strict=True):
        cuts = tuple(np.unique(np.nanquantile(column, [0.25, 0.5, 0.75])).tolist())
        cells.append(Cells(feature.name, float(np.nanmin(column)), float(np.nanmax(column)), cuts))
        places.append(cells_of(feature, cells[-1], column))
    pairs = []
    for a, b in combinations(range(len(cells)), 2):
        seen = np.zeros((len(cells[a].cuts) + 1, len(cells[b].cuts) + 1), dtype=bool)
        seen[places[a], places[b]] = True
        flags = tuple(tuple(row) for row in seen.tolist())
        pairs.append(SeenTogether(cells[a].name, cells[b].name, flags))
    return Domain(tuple(cells), tuple(pairs))


if __name__ == "__main__":
    main()
