"""Accuracy on windows of signals, with people or recordings held out.

    pip install --no-deps seglearn
    python benchmarks/signals.py [--data watch pump] [--models default rules-80 …] [--folds 5]

``watch``: the recordings of ``seglearn.datasets.load_watch``, 6 channels at 50 Hz, 7 shoulder
exercises, 10 people, in windows of 2 s. ``pump``: SKAB's water pump (from SOLAH_DATA), 8 channels
at 1 Hz, 34 recordings with and without a fault, in windows of 20 s. All models see the same
readings: the default features of each channel, and for the watch of the magnitudes of acceleration
and rotation, in windows that overlap by half. People (the pump: recordings) are held out by five
folds; nothing is tuned on them. Our models are trained with `groups`, so that they choose their
settings on held-out people; ``no-groups`` is the default without groups.

Printed are the mean and the deviation of the accuracy over the folds, the log-loss, and how many
rules (leaves) and features the models have. Then the same decisions debounced over the last windows
of a recording (k of n): the accuracy from the first stable decision on, and how many seconds
later than with single windows that one comes, on average. signals_edge.py measures devices.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from comparison.sensor_sets import load
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.tree import DecisionTreeClassifier

from solah import RuleClassifier
from solah.exceptions import DatasetError
from solah.model.policy import UNKNOWN_PLACE, Debouncer, Policy
from solah.signals import Recording, WindowFeatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.signals import Windows

ACCELERATION, ROTATION = ["ax", "ay", "az"], ["wx", "wy", "wz"]
CHANNELS = [*ACCELERATION, *ROTATION]
HALF = "half"  # of the features, as a limit to features
MODELS: dict[str, Any] = {
    "default": RuleClassifier(),
    "no-groups": RuleClassifier(),
    "rules-200": RuleClassifier(max_rules=200),
    "rules-80": RuleClassifier(max_rules=80),
    "rules-80-half": RuleClassifier(max_rules=80),
    "forest": RandomForestClassifier(300, random_state=0, n_jobs=-1),
    "forest-10": RandomForestClassifier(10, random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "cart": DecisionTreeClassifier(random_state=0),
}
POLICIES = tuple(Policy(votes=votes, window=window) for votes, window in ((2, 3), (3, 5), (5, 9)))


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=DATA, choices=DATA)
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args(words)
    for name in options.data:
        try:
            windows = DATA[name]()
        except (DatasetError, ImportError) as error:
            print(f"{name} is skipped: {error}")
            continue
        show(name, windows, options.models, options.folds)


def show(data: str, windows: Windows, models: list[str], n_folds: int) -> None:
    n_windows, n_features = windows.readings.shape
    n_groups = len(set(windows.groups.tolist()))
    length = windows.signals.window / windows.signals.rate
    size = f"{n_windows:,} windows of {length:g} s, {n_features} features, {n_groups} groups"
    print(f"{data}: {size}")
    settled = "".join(f"{f'{one.votes} of {one.window}':>9}{'later':>8}" for one in POLICIES)
    print(
        f"  {'model':<15}{'accuracy':>9}{'±':>7}{'log-loss':>10}{'rules':>8}{'asked':>7}{settled}"
    )
    for name in models:
        print(line(name, measure(name, windows, n_folds)), flush=True)


def model_of(name: str, n_features: int) -> Any:
    """Return a model by its name; half of the features are as many as the data have."""
    model = clone(MODELS[name])
    return model.set_params(max_features=n_features // 2) if name.endswith(HALF) else model


def watch_recordings() -> list[Recording]:
    from seglearn.datasets import load_watch

    watch = load_watch()
    return [
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


def watch_windows() -> Windows:
    magnitudes = {"acceleration": ACCELERATION, "rotation": ROTATION}
    features = WindowFeatures(CHANNELS, 50, window="2s", magnitudes=magnitudes).fit()
    return features.windows(watch_recordings()).labelled()


def pump_windows() -> Windows:
    pump = load("iot_skab_water_pump")
    recordings = []
    for group in dict.fromkeys(pump.groups.tolist()):
        rows = np.flatnonzero(pump.groups == group)
        samples = {one.name: one.values[rows] for one in pump.table.columns}
        recordings.append(Recording(str(group), samples, labels=pump.target[rows].astype(object)))
    features = WindowFeatures(list(pump.table.names), 1, window="20s").fit()
    return features.windows(recordings).labelled()


DATA: dict[str, Callable[[], Windows]] = {"watch": watch_windows, "pump": pump_windows}


def measure(name: str, windows: Windows, n_folds: int) -> dict[str, Any]:
    """Learn from some groups and decide on the others, fold by fold."""
    X, y = windows.readings, windows.labels.astype(str)
    model = model_of(name, X.shape[1])
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    found: dict[str, list[Any]] = {"accuracy": [], "loss": [], "rules": [], "asked": []}
    settled: list[list[tuple[float, float]]] = []
    start = perf_counter()
    for train, test in folds.split(X, y, windows.groups):
        if isinstance(model, RuleClassifier):
            model = clone(model).set_params(feature_types=windows.kinds)
            given = {} if name == "no-groups" else {"groups": windows.groups[train]}
            fitted = model.fit(windows.take(train).table, y[train], **given)
            tested = windows.take(test).table
        else:
            fitted, tested = clone(model).fit(X[train], y[train]), X[test]
        decided = fitted.predict(tested)
        found["accuracy"].append(accuracy_score(y[test], decided))
        found["loss"].append(
            log_loss(y[test], fitted.predict_proba(tested), labels=fitted.classes_)
        )
        rules, asked = sizes(fitted)
        found["rules"].append(rules)
        found["asked"].append(asked)
        settled.append([settle(windows.take(test), decided, policy) for policy in POLICIES])
    seconds = (perf_counter() - start) / n_folds
    return found | {"settled": np.mean(settled, axis=0), "seconds": seconds}


def settle(windows: Windows, decided: np.ndarray, policy: Policy) -> tuple[float, float]:
    """Debounce decisions over the last windows of each recording.

    Returned are the accuracy from the first stable decision of a recording on, and how many
    seconds later than the first window's end that one comes, on average.
    """
    classes, places = np.unique(decided, return_inverse=True)
    hits, delays = [], []
    for recording in dict.fromkeys(windows.recording.tolist()):
        rows = np.flatnonzero(windows.recording == recording)
        debouncer = Debouncer(policy)
        taken = np.array([debouncer.take(int(place)) for place in places[rows]])
        known = np.flatnonzero(taken != UNKNOWN_PLACE)
        if not len(known):
            continue
        hits.append(classes[taken[known]] == windows.labels[rows[known]].astype(str))
        delays.append(windows.end[rows[known[0]]] - windows.end[rows[0]])
    return float(np.concatenate(hits).mean()), float(np.mean(delays))


def sizes(fitted: Any) -> tuple[float, float]:
    """Return the rules or leaves of a model, and how many features they ask for."""
    if hasattr(fitted, "n_rules_"):
        asked = {one.name for node in fitted.model_.nodes for one in node.inputs}
        return fitted.n_rules_, len(asked)
    if isinstance(fitted, RandomForestClassifier):
        return sum(tree.get_n_leaves() for tree in fitted.estimators_), fitted.n_features_in_
    if isinstance(fitted, DecisionTreeClassifier):
        return fitted.get_n_leaves(), int((fitted.feature_importances_ > 0).sum())
    leaves = sum(one.get_n_leaf_nodes() for each in fitted._predictors for one in each)
    return leaves, fitted.n_features_in_


def line(name: str, found: dict[str, Any]) -> str:
    accuracy = np.array(found["accuracy"])
    settled = "".join(f"{hits:>9.4f}{delay:>6.1f} s" for hits, delay in found["settled"])
    return (
        f"  {name:<15}{accuracy.mean():>9.4f}{accuracy.std():>7.4f}{np.mean(found['loss']):>10.4f}"
        f"{np.mean(found['rules']):>8.0f}{np.mean(found['asked']):>7.0f}{settled}"
    )


if __name__ == "__main__":
    main()
