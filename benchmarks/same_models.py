"""Save the predictions of many models, or compare them with those from before a change.

    python benchmarks/same_models.py --write before.npz
    python benchmarks/same_models.py --compare before.npz

Run it with the sources of either state. Every decision must be the same, and probabilities must
be within the tolerance. Model files may differ.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from solah import (
    PAPER,
    GeneticHierarchyClassifier,
    LinguisticHierarchyClassifier,
    LinguisticTreeClassifier,
    LinguisticTreeRegressor,
    RuleClassifier,
    SelfOrganisedHierarchyClassifier,
    datasets,
)
from solah.exceptions import DatasetError

SETS = ("wine", "iris", "wdbc", "diabetes_pima", "hepatitis", "ecoli", "heart_statlog")
MANY_ROWS = 26_000
HAND_WIRED = "z1 <- a, b, k; z2 <- z1, c; top <- z2, d"


def models(names):
    """Make estimators for data with these columns; settings are given flat, as in any version."""
    organised, tree = SelfOrganisedHierarchyClassifier, LinguisticTreeClassifier
    by_hand, genetic = LinguisticHierarchyClassifier, GeneticHierarchyClassifier
    wiring = {"first": list(names[:3]), "top": ["first", *names[3:8]]}
    search = {"population_size": 6, "n_generations": 2, "random_state": 0}
    beliefs = {"belief_words": 3, "cross_fit": 3, "leaves": "refitted", "shrinkage": 1.0}
    return {
        "default": RuleClassifier(),
        "few rules": RuleClassifier(max_rules=15),
        "hierarchy": organised(),
        "trees": organised(node="tree"),
        "beliefs": organised.with_settings(
            {}, n_clusters=2, level_gap=0.05, min_support=5, **beliefs
        ),
        "no pairs": RuleClassifier(interactions=0, class_weight="balanced"),
        "cmac": organised.with_settings({}, n_clusters=6, node="cmac", n_words=2),
        "paper": organised.with_settings(PAPER, max_depth=4),
        "tree": tree(min_support=5),
        "refitted tree": tree(leaves="refitted", min_support=4, max_rules=20, n_words=2),
        "paper's tree": tree.with_settings(PAPER, max_depth=4),
        "user-defined hierarchy": by_hand(wiring),
        "user-defined cascade": by_hand.with_settings({}, hierarchy=wiring, n_words=2, **beliefs),
        "paper's user-defined": by_hand.with_settings(PAPER, hierarchy=wiring),
        "genetic": genetic.with_settings({}, **search),
        "genetic cascade": genetic.with_settings(
            {}, cascade=True, scoring="log_loss", max_inputs=4, min_support=5, **search, **beliefs
        ),
        "paper's genetic": genetic.with_settings(PAPER, initial="random", max_depth=4, **search),
    }


def outputs(model, rows):
    """Return the probabilities and the decisions of rows; of a number, its predictions."""
    decisions = np.asarray(model.predict(rows))
    if not hasattr(model, "predict_proba"):
        return decisions, np.zeros(0)
    return model.predict_proba(rows), np.searchsorted(model.classes_, decisions)


def outputs_of_sets(names):
    for name in names:
        try:
            data = datasets.load(name)
        except DatasetError as error:
            print(f"{name} is skipped: {error}")
            continue
        for label, model in models(data.table.names).items():
            yield f"{name}, {label}", outputs(model.fit(data.table, data.target), data.table)


def outputs_of_many_rows():
    """Yield outputs of models of very many rows, from memory and from files."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(MANY_ROWS, 4)).round(3), columns=list("abcd"))
    rows["k"] = rng.choice(["u", "v", "w"], MANY_ROWS)
    rows.loc[rng.random(MANY_ROWS) < 0.05, "b"] = np.nan
    noisy = rows.a + rows.b.fillna(0) * (rows.k == "u") + rng.normal(size=MANY_ROWS) / 2
    target = pd.Series(np.where(noisy > 0, "yes", np.where(rows.c > 0.8, "maybe", "no")), name="y")
    few = rows.head(2_000)
    yield "a number", outputs(LinguisticTreeRegressor(min_support=50).fit(rows, noisy), few)
    kinds = {
        "default": RuleClassifier,
        "tree": lambda: LinguisticTreeClassifier(min_support=20, leaves="refitted"),
        "hand-wired": lambda: LinguisticHierarchyClassifier.with_settings(
            {}, hierarchy=HAND_WIRED, min_support=30
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        for part in range(4):
            table = rows.assign(y=target).iloc[part::4]
            table.to_csv(Path(folder) / f"part{part}.csv", index=False)
        for label, make in kinds.items():
            yield f"many rows, {label}", outputs(make().fit(rows, target), few)
            yield f"files, {label}", outputs(make().fit(f"{folder}/*.csv", "y"), few)


def compare(before, found, tolerance):
    """Print what differs, and return whether all models of both states agree."""
    names = [name for name in before if name in found]
    moved, n_flips, others = 0.0, 0, sorted(before.keys() ^ found.keys())
    for name in names:
        (old, decided), (new, decides) = before[name], found[name]
        scale = 1.0 if len(decided) else max(float(np.abs(old).max()), 1.0)
        flips = int((decided != decides).sum())
        move = float(np.abs(new - old).max()) / scale if new.shape == old.shape else np.inf
        moved, n_flips = max(moved, move), n_flips + flips
        if flips or move > tolerance:
            print(f"{name}: {flips} of {len(old)} decisions differ, probabilities by {move:.1e}")
    print(
        f"{len(names)} models compared: {n_flips} of {sum(len(before[one][0]) for one in names)} "
        f"decisions differ, probabilities by at most {moved:.1e}"
    )
    if others:
        print("in one state only:", ", ".join(others))
    return not n_flips and moved <= tolerance and not others


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--tolerance", type=float, default=1e-14, metavar="X")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = dict(outputs_of_sets(options.sets)) | dict(outputs_of_many_rows())
    if options.write:
        parts = ("probabilities", "decisions")
        arrays = {
            f"{part} of {name}": one
            for name in found
            for part, one in zip(parts, found[name], strict=True)
        }
        np.savez_compressed(options.write, **arrays)
        print(f"{len(found)} models written to {options.write}")
        return
    with np.load(options.compare) as saved:
        names = [
            key.removeprefix("decisions of ") for key in saved if key.startswith("decisions of ")
        ]
        before = {
            name: (saved[f"probabilities of {name}"], saved[f"decisions of {name}"])
            for name in names
        }
    if not compare(before, found, options.tolerance):
        sys.exit(1)


if __name__ == "__main__":
    main()
