"""What watching an idle site takes of a core.

    python benchmarks/idle.py [--seconds 20] [--page]

mosquitto on the loopback and a plan of five nodes whose statuses come every five seconds; 200 rows
are decided in the beginning, and none later. `solah site watch` runs in a terminal of its own; with
--page it serves the page instead, and one reader follows /events. Printed: the CPU time of the
process over the wall time, after ten seconds for its start.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from nodes import cpu_of, free_port, made, start_mosquitto

from solah.data.spelling import spell
from solah.site.client import Client, find_broker
from solah.site.messages import Decided, Decisions, Status, encode
from solah.site.publication import publish_bundle
from solah.site.topics import Topics

START = 10.0
N_ROWS = 200
STATUS_EVERY = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    port = free_port()
    broker = start_mosquitto(folder, port)
    url = f"mqtt://127.0.0.1:{port}"
    bundle, _, _ = made(1)
    topics = Topics(bundle.plan.site)
    publish_bundle(find_broker(url), topics, bundle)
    stopping = threading.Event()
    threading.Thread(target=beat, args=(url, topics, bundle, stopping), daemon=True).start()
    web = free_port()
    process = watch(url, web if options.page else None)
    if options.page:
        threading.Thread(target=follow, args=(web,), daemon=True).start()
    time.sleep(START)
    before, begun = cpu_of(process.pid), time.monotonic()
    time.sleep(options.seconds)
    spent, passed = cpu_of(process.pid) - before, time.monotonic() - begun
    what = "the page, one reader" if options.page else "a terminal"
    print(f"{what}: {100 * spent / passed:.2f} % of a core over {passed:.0f} s")
    process.terminate()
    process.wait()
    stopping.set()
    broker.terminate()
    broker.wait()
    shutil.rmtree(folder)


def beat(url: str, topics: Topics, bundle: object, stopping: threading.Event) -> None:
    """Let every node send its status, as idle nodes do."""
    client = Client(find_broker(url), "nodes", lambda *_: None)
    client.start()
    time.sleep(START / 2)
    labels = [spell(state) for state in bundle.model.target.classes]
    beliefs = dict.fromkeys(labels, 1.0 / len(labels))
    rows = tuple(Decided(i, time.time(), labels[0], beliefs) for i in range(N_ROWS))
    decider = bundle.plan.nodes[0].name
    client.publish(topics.decisions, encode(Decisions(decider, bundle.hash, rows)))
    while not stopping.is_set():
        for node in bundle.plan.nodes:
            status = encode(Status(node.name, "online", bundle.hash, {"decisions": 1}))
            client.publish(topics.status(node.name), status, retain=True)
        stopping.wait(STATUS_EVERY)
    client.stop()


def watch(url: str, port: int | None) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "solah.cli.main", "site", "watch", "--broker", url]
    if port is not None:
        words += ["--web", str(port)]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    threading.Thread(target=drain, args=(ours,), daemon=True).start()
    return process


def drain(terminal: int) -> None:
    while True:
        try:
            os.read(terminal, 65536)
        except OSError:
            return


def follow(port: int) -> None:
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/events") as events:
                for line in events:
                    assert re.match(rb"data: |: |\s*$", line)
        except OSError:
            time.sleep(0.1)


if __name__ == "__main__":
    main()
