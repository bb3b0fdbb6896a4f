"""What abstaining and debouncing are worth on held-out recordings.

    pip install --no-deps seglearn
    python benchmarks/trust.py [--data pump watch] [--folds 5] [--max-error 0.1] [--only-debounce]

``pump`` is SKAB's water pump, a row per second, with 34 experiments kept together (the folder
``SOLAH_DATA`` has it); ``watch`` the windows of ``benchmarks/signals.py``, with 10 people kept
together. Five folds; in each, the default model is trained on the training groups, and its minimum
probability is chosen by cross-validation on these (``fit_policy``, with groups kept together).
Nothing is tuned on the groups that are held out. False alarms and delays are summed, or averaged,
over all
classes and all recordings that were held out; a delay is in rows.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.sensor_sets import load
from sklearn.model_selection import StratifiedGroupKFold

from solah import RuleClassifier
from solah.data import from_array
from solah.estimators import fit_policy
from solah.evaluation import score_events, with_policy
from solah.exceptions import ParameterError
from solah.model import Policy
from solah.model.predictor import Predictor

if TYPE_CHECKING:
    from solah.data import Table

SETTLING = {
    "each by itself": Policy(),
    "2 of 3": Policy(votes=2, window=3),
    "4 of 5": Policy(votes=4, window=5),
    "2 of 3, min_hold 5": Policy(votes=2, window=3, min_hold=5),
    "smoothing 4": Policy(smoothing=4),
    "smoothing 8, margin .1": Policy(smoothing=8, margin=0.1),
}


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=["pump", "watch"], choices=["pump", "watch"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--max-error", type=float, default=0.1)
    parser.add_argument("--only-debounce", action="store_true", help="choose no limit: quicker")
    options = parser.parse_args(words)
    max_error = None if options.only_settling else options.max_error
    for name in options.data:
        table, target, groups, runs = {"pump": pump, "watch": watch}[name]()
        n_groups = len(set(groups.tolist()))
        print(f"{name}: {table.n_rows:,} rows, {n_groups} groups, {options.folds} folds")
        measure(table, target, groups, runs, options.folds, max_error)


def pump() -> tuple[Table, Any, Any, Any]:
    """Return the water pump's rows in the order of time: all, classes, experiments twice."""
    found = load("iot_skab_water_pump")
    return found.table, found.target, found.groups, found.groups


def watch() -> tuple[Table, Any, Any, Any]:
    """Return windows of the smartwatch: rows, exercises, people, recordings."""
    from signals import watch_windows

    windows = watch_windows("2s")
    target = windows.labels.astype(str)
    table = from_array(windows.readings, list(windows.table.names))
    return table, target, windows.groups, windows.recording


def measure(
    table: Table, target: Any, groups: Any, runs: Any, n_folds: int, max_error: float | None
) -> None:
    """Train, choose and evaluate fold by fold, and print the results."""
    splits = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    limited: list[tuple[float, float, float, float]] = []
    settled: dict[str, list[Any]] = {name: [] for name in SETTLING}
    for train, test in splits.split(np.zeros(len(target)), target, groups):
        learner = RuleClassifier()
        fitted = learner.fit(table.take(train), target[train])
        rows, truth = table.take(test), np.searchsorted(fitted.classes_, target[test])
        if max_error is not None:
            learned = table.take(train), target[train], groups[train]
            limited.append(limit(fitted, *learned, rows, truth, max_error))
        for name, policy in SETTLING.items():
            judged = Predictor(with_policy(fitted.model_, policy)).decide(rows, runs[test])
            names = [str(one) for one in fitted.classes_]
            settled[name].append(score_events(truth, judged.stable_places, names, runs[test]))
    if max_error is not None:
        show_limits(limited, max_error)
    print(f"  {'settled by':<24}{'decided':>9}{'right':>8}{'changes':>9}{'false':>8}", end="")
    print(f"{'runs':>7}{'missed':>8}{'delay':>8}")
    for name, folds in settled.items():
        print(line(name, folds))


def show_limits(limited: list[tuple[float, float, float, float]], max_error: float) -> None:
    """Print the effect of minimum probabilities, the mean over the folds that have one."""
    raw, decided, wrong, beyond = np.nanmean(limited, axis=0)
    n_none = int(np.isnan(np.array(limited)[:, 1]).sum())
    print(f"  wrong of all {raw:.3f}; wanted {max_error:g} of those decided:")
    print(f"    decided {decided:.3f}, of which wrong {wrong:.3f}; no limit did in {n_none} folds")
    print(f"    flagged as out of range {beyond:.4f}")


def limit(
    fitted: Any, rows: Table, target: Any, groups: Any, test: Table, truth: Any, max_error: float
) -> tuple[float, float, float, float]:
    """Return the error of all, the share decided, its error, and what is out of range."""
    plain = np.searchsorted(fitted.classes_, fitted.predict(test))
    raw = float((plain != truth).mean())
    try:
        chosen = fit_policy(fitted, rows, target, max_error=max_error, groups=groups)
    except ParameterError:
        return raw, np.nan, np.nan, np.nan
    judged = Predictor(chosen.model).decide(test)
    is_decided = judged.places >= 0
    wrong = float((judged.places != truth)[is_decided].mean())
    return raw, float(is_decided.mean()), wrong, float((judged.abstain_reasons & 4 > 0).mean())


def line(name: str, folds: list[Any]) -> str:
    """Write the effect of debouncing over all folds."""
    classes = [one for fold in folds for one in fold.classes]
    found = [one for one in classes if one.delay is not None]
    caught = [one.n_events - one.n_missed for one in found]
    delay = np.average([one.delay for one in found], weights=caught)
    return (
        f"  {name:<24}{np.mean([one.decided for one in folds]):>9.3f}"
        f"{np.mean([one.accuracy for one in folds]):>8.3f}"
        f"{sum(one.n_changes for one in folds):>9,}"
        f"{sum(one.n_false_alarms for one in classes):>8,}"
        f"{sum(one.n_events for one in classes):>7,}"
        f"{sum(one.n_missed for one in classes):>8,}{delay:>8.1f}"
    )


if __name__ == "__main__":
    main()
