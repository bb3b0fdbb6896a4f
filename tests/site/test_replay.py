"""``solah up`` runs models that add up evidence, and compares what is decided with the model."""

import json

import numpy as np
import pandas as pd
import pytest

from random_models import random_model, random_rows
from simulated import readings_of
from solah.model.predictor import Predictor
from solah.site.bundle import Bundle, save_bundle
from solah.site.plan import make_plan

pytestmark = pytest.mark.slow


def replayed(model, run_cli, url, folder):
    """Let a network decide 200 rows, some readings of which are unknown."""
    rows = random_rows(np.random.default_rng(1), model, 200, missing=0.2)
    frame = pd.DataFrame(readings_of(model, rows))
    truth = frame.assign(**{model.target.name: Predictor(model).predict(frame)})
    if not model.target.classes:
        truth[model.target.name] += 0.5
    truth.to_csv(folder / "rows.csv", index=False)
    names = [one.name for one in model.features]
    placement = {"a": names[:3], "b": names[3:]}
    save_bundle(Bundle(make_plan(model, placement), model), folder / "plan.json")
    words = ("--plan", folder / "plan.json", "--replay", folder / "rows.csv", "--broker", url)
    return json.loads(run_cli("site", "run", *words, "--deadline", "60", "--json"))


def test_all_decisions_are_the_models(broker, run_cli, tmp_path):
    model = random_model(np.random.default_rng(0), "groups", 3)
    found = replayed(model, run_cli, broker.url, tmp_path)
    assert (found["decided"], found["as_the_model"], found["accuracy"]) == (200, 1.0, 1.0)
    assert (found["incomplete"], found["mean_error"]) == (0, None)
