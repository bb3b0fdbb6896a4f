"""A small site for tests: a model of a room, and the file that says what its sensors publish."""

from functools import cache

import numpy as np
import pandas as pd

from solah import SelfOrganisedHierarchyClassifier
from solah.model import save_document

NODES = {"kitchen": ["temperature", "humidity"], "plug": ["power"], "hall": ["door"]}


@cache
def room_model():
    """Return a model that decides what happens in a room."""
    rng = np.random.default_rng(0)
    n_rows = 600
    frame = pd.DataFrame(
        {
            "temperature": rng.normal(21.0, 3.0, n_rows),
            "humidity": rng.normal(45.0, 10.0, n_rows),
            "power": rng.choice([0.0, 60.0, 100.0], n_rows) + rng.normal(0.0, 2.0, n_rows),
            "door": rng.choice(["open", "closed"], n_rows),
        }
    )
    score = (frame["temperature"] - 21.0) / 3.0 + (frame["humidity"] - 45.0) / 10.0
    score = score + (frame["power"] > 30.0) * 2.0 - 1.0
    state = np.where(score > 0.0, "busy", np.where(frame["door"] == "open", "airing", "empty"))
    learner = SelfOrganisedHierarchyClassifier(interactions=0, max_rules=40)
    return learner.fit(frame, pd.Series(state, name="state")).model_


def write_site(folder, url, decide="{every: 1s, deadline: 500ms}", **changes):
    """Write the model and the site file; return the file."""
    save_document(room_model(), folder / "room.json")
    text = f"""
site: room
model: room.json
broker: {url}
nodes:
  kitchen: [temperature, humidity]
  plug: [power]
  hall: [door]
sensors:
  - template: zigbee2mqtt
    device: kitchen
    max_age: 4s
    attributes:
      temperature: {{from: temperature, range: [-40, 60]}}
      humidity: humidity
  - template: tasmota
    device: plug
    max_age: 5s
    attributes: {{power: ENERGY.Power}}
  - template: esphome
    device: hall
    max_age: 3s
    attributes: {{door: {{from: binary_sensor/door, states: {{ON: open, OFF: closed}}}}}}
decide: {decide}
"""
    text += "".join(f"{name}: {value}\n" for name, value in changes.items())
    file = folder / "site.yaml"
    file.write_text(text, encoding="utf-8")
    return file
