"""What all tests share."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from getpass import getuser
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

# Without this scikit-learn skips one of its checks of every estimator.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# A shell ignores SIGINT for what it starts in the background, and children inherit that.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

REQUIRES_TOOLS = bool(os.environ.get("SOLAH_REQUIRE_TOOLS"))
"""Whether a test that is skipped because a tool or package is not there has failed: in CI."""

OLDEST = {"gcc": 10, "mosquitto": 2, "node": 18}
"""The oldest major versions of tools that tests work with."""

THOROUGH = bool(os.environ.get("SOLAH_THOROUGH"))
"""Whether to search at random, longer, and on every page: ``make thorough``."""

# Tests must say the same on every machine and every run.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=500)
hypothesis.settings.load_profile("thorough" if THOROUGH else "steady")

# Hypothesis also draws constants of the modules that a process has imported, so that examples
# would depend on which tests ran before. Versions without this have no such function.
if not THOROUGH and hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = providers.Constants


@pytest.fixture(scope="session")
def chaos_seconds():
    """Return how long nodes are killed and messages lost in a test of that."""
    return 60.0 if THOROUGH else 15.0


CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="session")
def find_tool():
    """Return a function that finds a program of the system, or skips the test."""
    versions: dict[str, int] = {}

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"{name} is not installed: make test-system")
        if name in OLDEST:
            if name not in versions:
                versions[name] = major_version(path)
            if versions[name] < OLDEST[name]:
                pytest.skip(f"{name} {OLDEST[name]} is not installed, only {versions[name]}")
        return path

    return find


def major_version(path: str) -> int:
    """Return the major version that a program says it has."""
    option = "-h" if path.endswith("mosquitto") else "--version"
    done = subprocess.run([path, option], capture_output=True, text=True, check=False)
    found = re.search(r"\bv?(\d+)\.\d+", done.stdout + done.stderr)
    return int(found[1]) if found else 0


def _required(report):
    """Let what was skipped for want of a tool fail where all tools are asked for."""
    reasons = "not installed|could not import|without a compiler"
    if REQUIRES_TOOLS and report.skipped and re.search(reasons, str(report.longrepr)):
        report.outcome = "failed"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _required((yield))


@pytest.fixture(scope="session")
def find_header(find_tool):
    """Return a function that looks for a header of C in the system, and skips without it."""

    def find(name: str) -> None:
        command = [find_tool("cc"), "-E", "-x", "c", "-"]
        text = f"#include <{name}>\n"
        if subprocess.run(command, input=text, capture_output=True, text=True).returncode == 0:
            return
        pytest.skip(f"{name} is not installed: make test-system")

    return find


@pytest.fixture(scope="session")
def traced_peak():
    """Return a function that measures the peak memory of statements.

    They run in a process of their own: where other threads allocate, tracemalloc may crash.
    """

    def peak(preparation: str, statements: str) -> int:
        code = "\n".join(
            [
                textwrap.dedent(preparation),
                "import os, tracemalloc",
                "tracemalloc.start()",
                textwrap.dedent(statements),
                "print(tracemalloc.get_traced_memory()[1], flush=True)",
                "os._exit(0)",
            ]
        )
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
        return int(done.stdout)

    return peak


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of the real data sets, or skip."""
    folder = os.environ.get("SOLAH_DATA")
    if not folder:
        pytest.skip("SOLAH_DATA is not set: the real data sets are not at hand")
    return Path(folder)


@pytest.fixture(scope="session")
def sms_14(shared_data):
    """Return the text messages as the paper's 14 features, and whether they are spam."""
    from reproduction.data import load_rows

    messages = load_rows("sms14")
    return messages.X, messages.target


@pytest.fixture(scope="module")
def browser(find_tool):
    """Start Chromium."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = find_tool("chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=CHROMIUM_FLAGS.split(), timeout=180_000
        )
        yield browser
        browser.close()


# --- mosquitto on a port of the loopback -------------------------------------------------------

PATIENCE = 180.0  # seconds; only a failure, or a very slow machine, takes that long


def free_port():
    """Return a port that is free, and that no outgoing connection takes while a broker is away."""
    while True:
        port = random.randrange(10_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class Mosquitto:
    """A broker that can be stopped and started again; it keeps what it was told to keep."""

    def __init__(self, program, folder, *lines):
        self.folder = folder
        self.port = free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        config = [
            f"listener {self.port} 127.0.0.1",
            f"user {getuser()}",  # who else could read what tests write
            "persistence true",
            f"persistence_location {folder}/",
            "max_queued_messages 100000",
            *(lines or ("allow_anonymous true",)),
        ]
        (folder / "mosquitto.conf").write_text("\n".join(config) + "\n", encoding="utf-8")
        self._command = [program, "-c", str(folder / "mosquitto.conf")]
        self._process = None

    def start(self):
        with (self.folder / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)
        give_up = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < give_up:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return self
            except OSError:
                time.sleep(0.02)
        raise RuntimeError((self.folder / "mosquitto.log").read_text(encoding="utf-8"))

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def kill(self):
        """End it without a warning, as a power cut does."""
        self._process.kill()
        self._process.wait(PATIENCE)


@pytest.fixture
def make_broker(find_tool, tmp_path):
    """Make brokers with further lines of configuration."""
    brokers = []
    program = find_tool("mosquitto")

    def make(*lines):
        folder = tmp_path / f"broker{len(brokers)}"
        folder.mkdir()
        brokers.append(Mosquitto(program, folder, *lines))
        return brokers[-1].start()

    yield make
    for broker in brokers:
        broker.stop()


@pytest.fixture
def broker(make_broker):
    return make_broker()
