"""A site for tests whose model decides on windows of samples: three axes and a temperature."""

from functools import cache

import numpy as np
import pandas as pd

from solah import RuleClassifier
from solah.model import save_document
from solah.signals import Recording, WindowFeatures, with_signals

RATE, WINDOW, STEP, SLOW = 20, 40, 20, 10
TOPICS = {"acceleration": "plant/mixer/acceleration", "temperature": "plant/mixer/temperature"}


def _run(number, rng):
    """Record a machine that is fine, shaken, or hot."""
    label = ("fine", "shaken", "hot")[number % 3]
    time = np.arange(600) / RATE
    size = 2.0 if label == "shaken" else 0.5
    axes = {
        axis: size * np.sin(2 * np.pi * 2 * time + place) + rng.normal(0, 0.3, 600)
        for place, axis in enumerate("xyz")
    }
    heat = (60.0 if label == "hot" else 25.0) + rng.normal(0, 3.0, 600)
    return Recording(str(number), {**axes, "temperature": heat}, labels=np.full(600, label))


@cache
def machine_model():
    """Return a model of features of two seconds, every second."""
    rng = np.random.default_rng(0)
    features = WindowFeatures(
        ["x", "y", "z", "temperature"],
        rate={"x": RATE, "y": RATE, "z": RATE, "temperature": RATE // SLOW},
        window=WINDOW,
        features=["rms", "mean", "change"],
        magnitudes={"size": ["x", "y", "z"]},
    ).fit()
    windows = features.windows([_run(number, rng) for number in range(12)])
    asked = [name for name in features.signals_.names if name.startswith(("size", "temperature"))]
    table = pd.DataFrame(windows.readings, columns=features.signals_.names)[asked]
    types = {name: windows.kinds[name] for name in asked}
    learner = RuleClassifier(feature_types=types, max_rules=20, interactions=0)
    learner.fit(table, windows.labels)
    model = with_signals(learner.model_, features.signals_)
    assert {one.name for one in model.signals.measured} == {"x", "y", "z", "temperature"}
    return model


def placement():
    """Place features of the axes at one node, and of the temperature at another."""
    names = [one.name for one in machine_model().features]
    warm = [name for name in names if name.startswith("temperature")]
    return {"shaker": [name for name in names if name not in warm], "heater": warm}


def write_machine(folder, url, nodes=None, decide="{deadline: 1s}", max_age="5s"):
    """Write the model and the site file; return the file."""
    save_document(machine_model(), folder / "machine.json")
    lines = [f"  {node}: {list(names)}" for node, names in (nodes or placement()).items()]
    text = f"""
site: plant
model: machine.json
broker: {url}
nodes:
{chr(10).join(lines)}
sensors:
  - topic: {TOPICS["acceleration"]}
    features: {{x: axes.x, y: axes.y, z: axes.z}}
  - topic: {TOPICS["temperature"]}
    max_age: {max_age}
    features: {{temperature: }}
decide: {decide}
"""
    file = folder / "site.yaml"
    file.write_text(text, encoding="utf-8")
    return file
