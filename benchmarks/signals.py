"""How well models tell exercises apart by what a smartwatch measures, with people held out.

    pip install --no-deps seglearn
    python benchmarks/signals.py [--models default rules-80 …] [--folds 5] [--window 2s] [--edge]

The recordings of ``seglearn.datasets.load_watch``: 6 channels at 50 Hz, 7 shoulder exercises, 10
people. All models see the same readings: the default features of each channel and of the
magnitudes of acceleration and rotation, in windows that overlap by half. People are held out by
five folds; nothing is tuned on them. Printed are the mean and the deviation of the accuracy over
the folds, the log-loss, and how many rules (leaves) and features the models have. With ``--edge``,
our models learn from all people, and are measured on devices under emulators.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from seglearn.datasets import load_watch
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.tree import DecisionTreeClassifier

from solah import SelfOrganisedHierarchyClassifier
from solah.export import export_c
from solah.export.footprint import signal_footprint
from solah.export.targets import find_target
from solah.signals import Recording, WindowFeatures, with_signals

if TYPE_CHECKING:
    from solah.signals import Windows

ACCELERATION, ROTATION = ["ax", "ay", "az"], ["wx", "wy", "wz"]
CHANNELS = [*ACCELERATION, *ROTATION]
N_FEATURES = 103
MODELS: dict[str, Any] = {
    "default": SelfOrganisedHierarchyClassifier(),
    "rules-200": SelfOrganisedHierarchyClassifier(max_rules=200),
    "rules-80": SelfOrganisedHierarchyClassifier(max_rules=80),
    "rules-80-half": SelfOrganisedHierarchyClassifier(max_rules=80, max_attributes=N_FEATURES // 2),
    "forest": RandomForestClassifier(300, random_state=0, n_jobs=-1),
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "cart": DecisionTreeClassifier(random_state=0),
}
PEERS = ("forest", "boosting", "cart")
DEVICES = ("cortex-m4f", "cortex-m0plus")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--window", default="2s")
    parser.add_argument("--edge", action="store_true", help="measure models on devices instead")
    options = parser.parse_args(words)
    windows = watch_windows(options.window)
    if options.edge:
        measure_devices([name for name in options.models if name not in PEERS], windows)
        return
    n_windows, n_features = windows.readings.shape
    n_people = len(set(windows.groups.tolist()))
    print(f"{n_windows:,} windows of {options.window}, {n_features} features, {n_people} people")
    print(
        f"  {'model':<16}{'accuracy':>10}{'±':>8}{'log-loss':>10}{'rules':>8}{'asked':>7}{'s':>8}"
    )
    for name in options.models:
        print(line(name, measure(MODELS[name], windows, options.folds)), flush=True)


def measure_devices(models: list[str], windows: Windows) -> None:
    """Learn from all people, and print what the whole way from samples to decisions costs."""
    print(f"  {'model':<16}{'target':<16}{'numbers':<8}{'flash':>8}{'RAM':>7}{'stack':>7}", end="")
    print(f"{'sample':>8}{'window':>10}{'second':>12}{'of 80 MHz':>11}")
    samples = np.random.default_rng(0).normal(size=(300, len(CHANNELS)))
    for name in models:
        learner = clone(MODELS[name]).set_params(kinds=windows.kinds)
        fitted = learner.fit(windows.table, windows.labels.astype(str))
        model = with_signals(fitted.model_, windows.signals)
        for target in DEVICES:
            for numbers in ("float", "q15"):
                export = export_c(model, name="watch", numbers=numbers)
                channels = [CHANNELS.index(one.name) for one in export.signals.measured]
                found = signal_footprint(export, find_target(target), samples[:, channels])
                sizes = f"{found.flash:>8,}{found.ram:>7,}{found.stack:>7,}"
                counts = f"{found.sample:>8,}{found.window:>10,}{found.second:>12,.0f}"
                share = f"{found.second / 80e6:>11.2%}"
                print(f"  {name:<16}{target:<16}{numbers:<8}{sizes}{counts}{share}", flush=True)


def watch_windows(window: str) -> Windows:
    watch = load_watch()
    recordings = [
        Recording(
            f"recording {place}",
            dict(zip(CHANNELS, samples.T, strict=True)),
            labels=np.full(len(samples), watch["y_labels"][label], dtype=object),
            group=int(person),
        )
        for place, (samples, label, person) in enumerate(
            zip(watch["X"], watch["y"], watch["subject"], strict=True)
        )
    ]
    magnitudes = {"acceleration": ACCELERATION, "rotation": ROTATION}
    features = WindowFeatures(CHANNELS, 50, window=window, magnitudes=magnitudes).fit()
    return features.windows(recordings)


def measure(model: Any, windows: Windows, n_folds: int) -> dict[str, Any]:
    """Learn from some people and decide on the others, fold by fold."""
    X, y = windows.readings, windows.labels.astype(str)
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    found: dict[str, list[float]] = {"accuracy": [], "loss": [], "rules": [], "asked": []}
    start = perf_counter()
    for train, test in folds.split(X, y, windows.groups):
        fitted = clone(model).fit(X[train], y[train])
        beliefs = fitted.predict_proba(X[test])
        found["accuracy"].append(accuracy_score(y[test], fitted.predict(X[test])))
        found["loss"].append(log_loss(y[test], beliefs, labels=fitted.classes_))
        rules, asked = sizes(fitted)
        found["rules"].append(rules)
        found["asked"].append(asked)
    return found | {"seconds": (perf_counter() - start) / n_folds}


def sizes(fitted: Any) -> tuple[float, float]:
    """Return the rules or leaves of a model, and how many features they ask for."""
    if hasattr(fitted, "n_rules_"):
        asked = {one.name for tree in fitted.model_.trees for one in tree.inputs}
        return fitted.n_rules_, len(asked)
    if isinstance(fitted, RandomForestClassifier):
        return sum(tree.get_n_leaves() for tree in fitted.estimators_), fitted.n_features_in_
    if isinstance(fitted, DecisionTreeClassifier):
        return fitted.get_n_leaves(), int((fitted.feature_importances_ > 0).sum())
    leaves = sum(one.get_n_leaf_nodes() for each in fitted._predictors for one in each)
    return leaves, fitted.n_features_in_


def line(name: str, found: dict[str, Any]) -> str:
    accuracy = np.array(found["accuracy"])
    return (
        f"  {name:<16}{accuracy.mean():>10.4f}{accuracy.std():>8.4f}{np.mean(found['loss']):>10.4f}"
        f"{np.mean(found['rules']):>8.0f}{np.mean(found['asked']):>7.0f}{found['seconds']:>9.1f}"
    )


if __name__ == "__main__":
    main()
