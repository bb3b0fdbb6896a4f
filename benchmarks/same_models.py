"""Digest many models, or compare them with digests from before a change.

    python benchmarks/same_models.py --write before.json
    python benchmarks/same_models.py --compare before.json

Decisions and documents must be equal bit for bit. Run it from the sources of either state.
"""

from __future__ import annotations

import argparse
import hashlib
import json
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
    SelfOrganisedHierarchyClassifier,
    datasets,
)
from solah.exceptions import DatasetError
from solah.model.format import to_json

SETS = ("wine", "iris", "wdbc", "diabetes_pima", "hepatitis", "ecoli", "heart_statlog")
MANY_ROWS = 26_000
HAND_WIRED = "z1 <- a, b, k; z2 <- z1, c; top <- z2, d"


def models(names):
    """Make estimators for data with these columns; settings are given flat, as in any version."""
    organised, tree = SelfOrganisedHierarchyClassifier, LinguisticTreeClassifier
    by_hand, genetic = LinguisticHierarchyClassifier, GeneticHierarchyClassifier
    wiring = {"first": list(names[:3]), "top": ["first", *names[3:8]]}
    search = {"population_size": 6, "n_generations": 2, "random_state": 0}
    beliefs = {"belief_labels": 3, "cross_fit": 3, "leaves": "refitted", "shrinkage": 1.0}
    return {
        "default": organised(),
        "few rules": organised(max_rules=15),
        "trees": organised(fusion="tree"),
        "beliefs": organised.with_settings(
            {}, fusion="tree", n_clusters=2, level_gap=0.05, min_support=5, **beliefs
        ),
        "no pairs": organised(interactions=0, class_weight="balanced"),
        "cmac": organised.with_settings({}, fusion="tree", n_clusters=6, node="cmac", n_labels=2),
        "paper": organised.with_settings(PAPER, max_depth=4),
        "tree": tree(min_support=5),
        "refitted tree": tree(leaves="refitted", min_support=4, max_rules=20, n_labels=2),
        "paper's tree": tree.with_settings(PAPER, max_depth=4),
        "hierarchy by hand": by_hand(wiring),
        "beliefs by hand": by_hand.with_settings({}, hierarchy=wiring, n_labels=2, **beliefs),
        "paper's by hand": by_hand.with_settings(PAPER, hierarchy=wiring),
        "genetic": genetic.with_settings({}, **search),
        "genetic beliefs": genetic.with_settings(
            {}, cascade=True, scoring="log_loss", max_inputs=4, min_support=5, **search, **beliefs
        ),
        "paper's genetic": genetic.with_settings(PAPER, initial="random", max_depth=4, **search),
    }


def digest(model, rows):
    found = model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)
    document = json.loads(to_json(model.model_))
    document = {
        key: value for key, value in document.items() if key not in ("generator", "version")
    }
    texts = (np.ascontiguousarray(found).tobytes(), json.dumps(document, sort_keys=True).encode())
    return [hashlib.sha256(text).hexdigest()[:16] for text in texts]


def digests_of_sets(names):
    for name in names:
        try:
            data = datasets.load(name)
        except DatasetError as error:
            print(f"{name} is left out: {error}")
            continue
        for label, model in models(data.table.names).items():
            yield f"{name}, {label}", digest(model.fit(data.table, data.goal), data.table)


def digests_of_many_rows():
    """Digest models of more rows than are walked through often, from memory and from files."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(MANY_ROWS, 4)).round(3), columns=list("abcd"))
    rows["k"] = rng.choice(["u", "v", "w"], MANY_ROWS)
    rows.loc[rng.random(MANY_ROWS) < 0.05, "b"] = np.nan
    noisy = rows.a + rows.b.fillna(0) * (rows.k == "u") + rng.normal(size=MANY_ROWS) / 2
    goal = pd.Series(np.where(noisy > 0, "yes", np.where(rows.c > 0.8, "maybe", "no")), name="y")
    few = rows.head(2_000)
    yield "a number", digest(LinguisticTreeRegressor(min_support=50).fit(rows, noisy), few)
    kinds = {
        "default": lambda: SelfOrganisedHierarchyClassifier(),
        "tree": lambda: LinguisticTreeClassifier(min_support=20, leaves="refitted"),
        "hand-wired": lambda: LinguisticHierarchyClassifier.with_settings(
            {}, hierarchy=HAND_WIRED, min_support=30
        ),
    }
    with tempfile.TemporaryDirectory() as folder:
        for part in range(4):
            table = rows.assign(y=goal).iloc[part::4]
            table.to_csv(Path(folder) / f"part{part}.csv", index=False)
        for label, make in kinds.items():
            yield f"many rows, {label}", digest(make().fit(rows, goal), few)
            yield f"files, {label}", digest(make().fit(f"{folder}/*.csv", "y"), few)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--sets", nargs="*", default=SETS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = dict(digests_of_sets(options.sets)) | dict(digests_of_many_rows())
    if options.write:
        options.write.write_text(json.dumps(found, indent=1), encoding="utf-8")
        print(f"{len(found)} models written to {options.write}")
        return
    before = json.loads(options.compare.read_text(encoding="utf-8"))
    others = [name for name in before if name in found and before[name] != found[name]]
    print(f"{len(before.keys() & found.keys())} models compared, {len(others)} differ", *others)


if __name__ == "__main__":
    main()
