"""SIGTERM and SIGHUP end what is at work as Ctrl-C does, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from solah.cli import main as program
from solah.cli.main import main
from solah.cli.stopping import orderly_end, signals_as_interrupt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to catch")

OTHERS = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


@pytest.fixture(autouse=True)
def _default_handlers():
    """Handle signals as usual: a process started in the background, or by nohup, ignores some."""
    usual = {signal.SIGINT: signal.default_int_handler, **dict.fromkeys(OTHERS, signal.SIG_DFL)}
    before = {number: signal.signal(number, handler) for number, handler in usual.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", OTHERS)
def test_it_is_an_interrupt(number):
    with pytest.raises(KeyboardInterrupt), signals_as_interrupt() as stopped_by:
        assert not stopped_by()
        signal.raise_signal(number)
    assert stopped_by() == number
    assert signal.getsignal(number) is signal.SIG_DFL


def test_what_nohup_ignores_stays_ignored():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with signals_as_interrupt() as stopped_by:
        signal.raise_signal(signal.SIGHUP)
        with orderly_end(lambda: pytest.fail("it was ignored before")):
            signal.raise_signal(signal.SIGHUP)
    assert not stopped_by()


def test_a_second_one_does_not_stop_what_cleans_up():
    cleaned = []
    with pytest.raises(KeyboardInterrupt), signals_as_interrupt():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)
            cleaned.append(True)
    assert cleaned


def test_other_handlers_and_threads_are_left_alone():
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with signals_as_interrupt() as stopped_by:
            signal.raise_signal(signal.SIGTERM)
        assert not stopped_by()
    finally:
        signal.signal(signal.SIGTERM, before)
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main(["datasets", "-q"])))
    thread.start()
    thread.join()
    assert codes == [0]


@pytest.mark.parametrize("number", [*OTHERS, signal.SIGINT])
def test_the_program_says_how_it_ended(run, monkeypatch, number):
    monkeypatch.setattr(program, "_run", lambda *_: signal.raise_signal(number))
    outcome = run("datasets")
    assert (outcome.code, outcome.out, outcome.err) == (128 + number, "", "solah: interrupted\n")


# Real processes


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the program, its temporary files in a folder of their own."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    running = []

    def begin(*words):
        command = [sys.executable, "-m", "solah.cli.main", *map(str, words)]
        environment = {**os.environ, "TMPDIR": str(temporary), "JOBLIB_TEMP_FOLDER": str(temporary)}
        running.append(
            subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        )
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def children_of(pid):
    """Return the processes that were started by one, and by those."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = (int(fields[1]), fields[0])
    found = {pid}
    while more := {child for child, (parent, _) in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def wait_until(is_so, process):
    end = time.monotonic() + 120
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def is_alive(pid):
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def end_in_order(process, folder, number=signal.SIGTERM):
    """Send a signal; see that nothing runs or lies around behind it, and return what was said."""
    workers = children_of(process.pid)
    process.send_signal(number)
    said = process.communicate(timeout=120)[1]
    end = time.monotonic() + 60
    while left := [pid for pid in workers if is_alive(pid)]:
        assert time.monotonic() < end, f"{len(left)} of {len(workers)} processes are left"
        time.sleep(0.02)
    files = [path for path in (folder / "tmp").rglob("*") if "dask-scratch" not in str(path)]
    assert files == []
    assert list(folder.glob("**/*.part")) == []
    return said


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@needs_proc
def test_workers_and_what_they_share_go_with_their_process(start, tmp_path):
    words = ("--model", "genetic", "--jobs", "2", "--set", "n_generations=500", "--folds", "2")
    process = start("evaluate", "iris", *words)
    wait_until(lambda: len(children_of(process.pid)) >= 3, process)
    assert end_in_order(process, tmp_path) == "solah: interrupted\n"
    assert process.returncode == 143
