"""What all tests share."""

import os
import shutil
import subprocess
from pathlib import Path

import hypothesis
import pytest

# Without this scikit-learn skips one of its checks of every estimator.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Tests must say the same on every machine and every run.
hypothesis.settings.register_profile("solah", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("solah")


CHROMIUM_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="session")
def find_tool():
    """Return a function that finds a program of the system, or skips the test.

    Where SOLAH_REQUIRE_TOOLS is set (after ``make test-system``), a missing tool is a failure.
    """

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is not None:
            return path
        message = f"{name} is not installed: make test-system"
        if os.environ.get("SOLAH_REQUIRE_TOOLS"):
            pytest.fail(message)
        pytest.skip(message)

    return find


@pytest.fixture(scope="session")
def find_header(find_tool):
    """Return a function that looks for a header of C in the system, and skips without it."""

    def find(name: str) -> None:
        command = [find_tool("cc"), "-E", "-x", "c", "-"]
        text = f"#include <{name}>\n"
        if subprocess.run(command, input=text, capture_output=True, text=True).returncode == 0:
            return
        message = f"{name} is not installed: make test-system"
        if os.environ.get("SOLAH_REQUIRE_TOOLS"):
            pytest.fail(message)
        pytest.skip(message)

    return find


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
    return messages.X, messages.goal


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
