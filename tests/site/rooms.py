"""A small site for tests: a model of a room, and the file that says what its sensors publish."""

from functools import cache

import site_chaos

from solah.model import save_document


@cache
def room_model():
    """Return a model that decides what happens in a room."""
    return site_chaos.room_model()


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
    features:
      temperature: {{from: temperature, range: [-40, 60]}}
      humidity: humidity
  - template: tasmota
    device: plug
    max_age: 5s
    features: {{power: ENERGY.Power}}
  - template: esphome
    device: hall
    max_age: 3s
    features: {{door: {{from: binary_sensor/door, states: {{ON: open, OFF: closed}}}}}}
decide: {decide}
"""
    text += "".join(f"{name}: {value}\n" for name, value in changes.items())
    file = folder / "site.yaml"
    file.write_text(text, encoding="utf-8")
    return file
