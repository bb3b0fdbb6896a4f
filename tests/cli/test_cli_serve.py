"""``solah serve`` as a process, and what it refuses before it begins."""

import os
import re
import signal
import subprocess
import sys

import httpx
import pytest

TOKEN = "SOLAH_SERVE_TOKEN"


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "wine.json"
    assert run("fit", "wine", "--max-rules", 6, "--set", "interactions=0", "-o", path).code == 0
    return path


@pytest.mark.usefixtures("in_background")
def test_it_answers_until_it_is_stopped(model):
    command = [sys.executable, "-m", "solah.cli.main", "serve", str(model), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            note = process.stderr.readline()
            address = re.search(r"(http://\S+)predict", note)[1]
            rows = [{"alcohol": 14.5, "proline": 1600, "flavanoids": 3.2}]
            answer = httpx.post(f"{address}predict", json={"rows": rows}, timeout=60)
            assert answer.json()["rows"][0]["prediction"] == "class_0"
            assert "<html" in httpx.get(address, timeout=60).text
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode in (0, 130)


def test_others_may_reach_it_only_with_a_token(run, model, monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    run("serve", model, "--host", "0.0.0.0").check_error(TOKEN, "drop --host")
    monkeypatch.setitem(os.environ, TOKEN, "short")
    run("serve", model).check_error("16 characters")
