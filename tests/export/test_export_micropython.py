"""The module for MicroPython decides as the integer simulator, and reads what people write."""

import importlib
import re
from dataclasses import replace

import devices
import numpy as np
import pytest
from judged_models import judged
from signal_programs import describe_everything, model_of, noise
from sklearn.datasets import load_wine

from random_models import random_model
from solah import (
    RuleClassifier,
)
from solah.export import export_micropython
from solah.model.policy import Policy
from solah.signals import describe_signals


def module_of(export):
    """Run the module, which imports nothing."""
    text = export.files[f"{export.name}.py"]
    assert not re.search(r"^\s*(import|from)\b", text, re.MULTILINE)
    return devices.module_of(text)


def test_reasons_are_read_as_rules(tmp_path, monkeypatch):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=20).fit(X, y).model_
    for name, text in export_micropython(model, name="wine_model").files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("wine_model")
    names = [feature.name for feature in model.features]
    reasons = module.why(X[names].iloc[0].to_dict(), 2)
    assert {text.split()[0] for text, _ in reasons} <= set(names)
    assert reasons[0][1] > reasons[1][1] > 0


def test_readings_go_in_by_name():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier(max_rules=20).fit(X, y)
    module = module_of(export_micropython(model.model_, name="wine"))
    names = [feature.name for feature in model.model_.features]
    for row, expected in zip(X[names].head(60).to_dict("records"), model.predict(X), strict=False):
        decision, beliefs = module["decide"](row)
        assert decision == str(expected)
        assert sum(beliefs) == 32768
    known = {names[0]: 13.0, names[1]: None, names[2]: float("nan")}
    assert module["decide"](known)[0] in module["CLASSES"]
    with pytest.raises(KeyError, match="cellar"):
        module["decide"]({"cellar": 1})


def test_it_names_what_is_settled():
    rng = np.random.default_rng(1)
    model = replace(
        random_model(rng, "groups", 3), policy=Policy(min_completeness=0.9, votes=2, window=2)
    )
    module = module_of(export_micropython(model))
    assert module["judge"]({})[:3] == (None, None, module["FEW_READINGS"])
    known = {one.name: (one.categories or one.peaks)[0] for one in model.features}
    decision = module["decide"](known)[0]
    assert [module["judge"](known)[:2] for _ in range(2)] == [
        (None, decision),
        (decision, decision),
    ]
    module["settle_start"]()
    assert module["judge"](known)[0] is None


def test_it_measures_samples_as_the_reference():
    rng = np.random.default_rng(2)
    signals = describe_everything()
    model = judged(rng, model_of(rng, signals, noise(rng, 5000)))
    export = export_micropython(model, name="m")
    module = module_of(export)
    stream, names = export.stream(), [one.name for one in model.features]
    n_windows = 0
    for sample in noise(np.random.default_rng(3), 1_500):
        expected = stream.push(sample)
        assert module["push"](sample.tolist()) == (expected is not None)
        if expected is not None:
            n_windows += 1
            found = module["measure"]()
            values = [np.nan if found[name] is None else found[name] for name in names]
            np.testing.assert_array_equal(values, expected.readings)
            settled, decision, abstain_reasons, _, beliefs = module["judge_prepared"](
                module["prepare"](found)
            )
            assert (settled, decision) == (expected.stable, expected.decision)
            assert abstain_reasons == expected.abstain_reasons
            assert list(beliefs) == expected.probabilities.tolist()
    assert n_windows > 100


def test_a_missing_sample_is_none_too():
    rng = np.random.default_rng(4)
    signals = describe_signals(["x"], rate=10, window=4, features=["mean", "min"], max_gap=1)
    model = model_of(rng, signals, noise(rng, 500, 1))
    module = module_of(export_micropython(model, name="m"))
    completes = [module["push"]([x]) for x in (1.0, None, 3.0, 5.0)]
    assert completes == [False, False, False, True]
    assert module["measure"]() == {"x mean over 400 ms": 2.5, "x minimum over 400 ms": 1.0}
    module["start"]()
    assert not any(module["push"]([x]) for x in (1.0, 2.0, 3.0))
