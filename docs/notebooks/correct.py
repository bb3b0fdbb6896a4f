# %% [markdown]
# # Read, explain and correct a model
#
# A model predicts from CO2, light and temperature whether a room is occupied. This notebook
# generates the readings. In the training weeks, light means people. Later a lamp is left on at
# night, which the training rows do not show.

# %%
from datetime import datetime

import numpy as np
import pandas as pd

import solah
from solah import RuleClassifier

rng = np.random.default_rng(0)


def measure(n_rows, lamp):
    """Generate readings of a room; `lamp` is the share of empty times with the lamp on."""
    occupied = rng.random(n_rows) < 0.4
    is_lit = occupied | (rng.random(n_rows) < lamp)
    co2 = np.where(occupied, rng.normal(850, 150, n_rows), rng.normal(550, 100, n_rows))
    light = np.where(is_lit, rng.normal(420, 60, n_rows), rng.normal(60, 30, n_rows).clip(0))
    temperature = rng.normal(20.5, 0.8, n_rows) + 1.2 * occupied
    readings = pd.DataFrame(
        {"co2": co2.round(), "light": light.round(), "temperature": temperature.round(1)}
    )
    return readings, pd.Series(np.where(occupied, "occupied", "empty"), name="room")


X, y = measure(600, lamp=0.03)
X_new, y_new = measure(300, lamp=0.4)

# %% [markdown]
# ## Train with your own words
#
# `words` sets user-defined words, so that a rule means what people mean by them. The words of
# temperature are learned.

# %%
words = {"co2": {"fresh": 500, "used": 750, "stale": 1000}, "light": {"dark": 50, "lit": 300}}
model = RuleClassifier(words, max_rules=8, interactions=0).fit(X, y)
print(f"accuracy on the new rows {model.score(X_new, y_new):.3f}")
model.rules()

# %% [markdown]
# ## Explain
#
# A new row, at night with the lamp on. The contributions add up exactly: from the probability
# before any value is known to the probability now. Each change below does flip the prediction.

# %%
night = pd.DataFrame({"co2": [600.0], "light": [430.0], "temperature": [20.6]})
model.explain(night, changes=True)[0]

# %% [markdown]
# ## Correct a rule
#
# Someone who knows of the lamp can correct the rule. An empty room was lit 3% of the time, and
# is now lit 40%, which is 13 times as often. A lit room therefore supports `occupied` less, by
# log 13 = 2.6: the weight should be about 2.3 instead of 4.9. Each edit is checked. The model
# file keeps it with its author and reason.

# %%
editor = model.edit(author="Ann", time=datetime(2026, 5, 17))
editor.set("if light is lit then occupied +2.3", reason="the lamp is left on at night")
edited = solah.model.predictor.Predictor(editor.model)
for edit in edited.model_.edits:
    print(f"{edit.author}: {edit.text} ({edit.reason})")

# %% [markdown]
# `diff` lists the changed rules, the predictions that flip on the new rows, and the metrics
# before and after:

# %%
solah.diff(model, edited, X_new, y_new)

# %% [markdown]
# ## Set a constraint before training
#
# With this constraint, more CO2 never lowers the probability of `occupied`, whatever the other
# values are.

# %%
careful = RuleClassifier(words, max_rules=8, interactions=0, monotonic_cst={"co2": 1})
careful.fit(X, y)
rising = pd.DataFrame({"co2": np.arange(400.0, 1300.0, 50.0), "light": 430.0, "temperature": 21.0})
probability = careful.predict_proba(rising)[:, list(careful.classes_).index("occupied")]
print("never falls:", bool((np.diff(probability) >= 0).all()))
