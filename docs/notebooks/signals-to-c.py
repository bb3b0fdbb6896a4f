# %% [markdown]
# # From recordings of a sensor to C
#
# Turn samples of a vibration sensor into windows, windows into named features, features into
# rules, and all of it into C that computes the same bits. This notebook generates the
# recordings. `read_recordings` reads yours from CSV files.

# %%
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, cross_val_score

from solah import RuleClassifier
from solah.export import agreement, export_c, self_test
from solah.signals import Recording, WindowFeatures, with_signals

RATE = 100  # samples per second
rng = np.random.default_rng(0)
time = np.arange(20 * RATE) / RATE


def run(name, state):
    """Record 20 s of one machine; a fault shakes it slowly and more strongly."""
    pitch, strength = (rng.normal(5, 0.6), 1.1) if state == "fault" else (rng.normal(13, 1.5), 0.7)
    vibration = strength * np.sin(2 * np.pi * pitch * time) + rng.normal(0, 0.4, len(time))
    return Recording(name, {"vibration": vibration}, labels=np.full(len(time), state))


runs = [run(f"machine {i}", "fault" if i % 3 == 0 else "ok") for i in range(12)]

# %% [markdown]
# ## Windows and features

# %%
features = WindowFeatures(["vibration"], RATE, window="1s", overlap=0.5, units={"vibration": "g"})
windows = features.fit().windows(runs)
X = pd.DataFrame(windows.readings, columns=features.get_feature_names_out())
print(len(X), "windows with", ", ".join(X))

# %% [markdown]
# ## Train, and test on other machines
#
# Windows of one machine are alike, so they share a fold.

# %%
classifier = RuleClassifier(max_rules=4, interactions=0, feature_types=windows.kinds)
folds = GroupKFold(4).split(X, windows.labels, windows.groups)
scores = cross_val_score(classifier, X, windows.labels, cv=list(folds))
print("accuracy of each fold:", scores.round(3))

# %%
classifier.fit(X, windows.labels)
model = with_signals(classifier.model_, features.signals_)
classifier.rules()

# %% [markdown]
# ## Export to C, and verify it
#
# The device computes only the features that rules use. `agreement` compares the simulator, which
# computes as the device does, with the model. The generated files contain a test that compares
# the device with the simulator, bit for bit.

# %%
export = export_c(model, name="machine")
found = agreement(model, export.simulator, windows.table)
print(f"{found.share:.3f} of {found.n_rows} windows match the model")
files = {**export.files, **self_test(model, export, windows.table)}
for name, text in sorted(files.items()):
    print(f"{len(text):7,} bytes  {name}")

# %%
folder = Path(tempfile.mkdtemp())
for name, text in files.items():
    (folder / name).write_text(text)
flags = "-std=c99 -O2 -ffp-contract=off -DSOLAH_TEST_MAIN"
build = f"cc {flags} machine.c machine_test.c -o machine_test"
subprocess.run(build.split(), cwd=folder, check=True)
print(
    subprocess.run(
        folder / "machine_test", capture_output=True, text=True, check=True
    ).stdout.strip()
)
shutil.rmtree(folder)

# %% [markdown]
# The header shows how firmware calls it:

# %%
header = files["machine.h"]
print(header[header.index("/* Readings are made of samples") :].partition("*/")[0] + "*/")
