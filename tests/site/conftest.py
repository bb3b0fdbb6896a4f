"""What tests of sites share."""

import subprocess
import sys

import pytest


@pytest.fixture
def run_cli():
    """Run the command line in a process of its own; return what it prints."""

    def run(*words):
        command = [sys.executable, "-m", "solah.cli.main", *map(str, words)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run
