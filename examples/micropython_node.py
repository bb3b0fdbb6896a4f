"""A node of a solah network on a board with MicroPython.

It reads its sensors and publishes the result of its part of the model. On a computer, write this
part as a module, and copy it to the board:

    solah export model.json --part taste --to micropython --name taste -o board

The hash of the plan is in the messages of all nodes, and 'solah site plan --json' prints it.
"""

import json
import math
import time

import taste  # what 'solah export' wrote
from umqtt.simple import MQTTClient

BROKER, SITE, NODE, PART = "hub.local", "house", "cellar", "taste"
MODEL = "0123456789abcdef"  # the hash of the plan
IS_ADDED_UP = False  # True for a group or a term of rules, whose scores another node sums
# Some boards count seconds from the year 2000; set their clock before (ntptime.settime()).
EPOCH = 946684800 if time.gmtime(0)[0] == 2000 else 0


def read_sensors():
    """Put your sensors here; None where one does not answer."""
    return {"alcohol": 13.2, "ash": 2.4}


def signal(beliefs):
    """Turn probabilities in units of 1/32768 into the published numbers."""
    if not IS_ADDED_UP:
        return [belief / 32768 for belief in beliefs]
    logs = [math.log(max(belief, 0.5) / 32768) for belief in beliefs]
    mean = sum(logs) / len(logs)
    return [one - mean for one in logs]


def message(sequence, now, readings):
    """Write the message for one row."""
    _, beliefs = taste.decide(readings)
    row = {"seq": sequence, "time": now, "says": {PART: signal(beliefs)}, "missing": []}
    return json.dumps({"v": 1, "node": NODE, "model": MODEL, "rows": [row]})


def main():
    """Publish a message per second."""
    client = MQTTClient(NODE, BROKER, keepalive=30)
    status = f"solah/{SITE}/{NODE}/status"
    about = {"v": 1, "node": NODE, "state": "offline", "model": MODEL, "counters": {}}
    client.set_last_will(status, json.dumps(about), retain=True, qos=1)
    client.connect()
    about["state"] = "online"
    client.publish(status, json.dumps(about), retain=True, qos=1)
    while True:
        now = time.time() + EPOCH
        # A row is identified by the second in which it was read: run the others with --window 1.
        row = message(int(now), now, read_sensors())
        client.publish(f"solah/{SITE}/{NODE}/out", row, qos=1)
        time.sleep(1)


if __name__ == "__main__":
    main()
