"""An environment without surprises, and a server on the loopback."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from toy_plants import TOY, Mirror

from solah.datasets import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def quiet_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Forget the user's folder and cache, and let no proxy come between us and the loopback."""
    if request.node.get_closest_marker("shared") is None:
        monkeypatch.delenv("SOLAH_DATA", raising=False)
    monkeypatch.delenv("SOLAH_DATA_URL", raising=False)
    monkeypatch.setenv("SOLAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a small data set of our own in the place of those that are not bundled."""
    monkeypatch.setattr(registry, "ENTRIES", (*registry.BUNDLED, TOY))


@pytest.fixture
def folder(toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point SOLAH_DATA at an empty folder that the toy set may be put into."""
    folder = tmp_path / "my data"
    folder.mkdir()
    monkeypatch.setenv("SOLAH_DATA", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The folder that SOLAH_CACHE points at; not there yet."""
    return tmp_path / "cache"


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """Serve a folder on the loopback and name it in SOLAH_DATA_URL."""
    root = tmp_path / "mirror"
    root.mkdir()
    asked: list[str] = []

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("SOLAH_DATA_URL", f"http://127.0.0.1:{server.server_port}/uci")
    mirror = Mirror(root / "uci", server, asked)
    yield mirror
    mirror.stop()
    thread.join()
