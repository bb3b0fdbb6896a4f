"""Post alerts to a webhook: bounded tries, a timeout, no redirects, secrets by reference."""

from __future__ import annotations

import os
import queue
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from solah.exceptions import ParameterError, shorten
from solah.site.logs import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.data.json_reader import Reader

_MOST_WAITING = 100
_MOST_SECRET = 4_096
_FIRST_PAUSE = 1.0
_TRY_AGAIN = (408, 425, 429)


@dataclass(frozen=True)
class Webhook:
    """Where alerts are posted as JSON.

    Attributes
    ----------
    url : an address, https:// or http://; redirects are not followed
    token : where the bearer token is: ``env:NAME`` or ``file:PATH``; empty for none
    timeout : seconds that an answer may take
    retries : how often a post that failed is tried again, after 1, 2, 4 … seconds
    """

    url: str
    token: str = ""
    timeout: float = 5.0
    retries: int = 4


def read_webhook(reader: Reader) -> Webhook:
    """Read a webhook from a settings file; its secret is looked for by who sends something."""
    fields = reader.record(("url",), ("token", "timeout", "retries"))
    webhook = Webhook(
        url=fields["url"].text(),
        token=fields["token"].text() if "token" in fields else "",
        timeout=fields["timeout"].number(0.1, 60.0) if "timeout" in fields else 5.0,
        retries=fields["retries"].integer(0, 10) if "retries" in fields else 4,
    )
    parts = urlsplit(webhook.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise fields["url"].fail("an address as https://host/path, without a user or a password")
    if webhook.token and parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise fields["url"].fail("an https:// address where there is a token")
    if webhook.token:
        _parse_reference(webhook.token)
    return webhook


def find_secret(reference: str) -> str:
    """Return a secret that stands in the environment or in a file.

    Parameters
    ----------
    reference : str
        ``env:NAME`` or ``file:PATH``; never the secret itself.

    Raises
    ------
    ParameterError
        There is no such secret; the error does not show what was given if it may be one.
    """
    kind, name = _parse_reference(reference)
    if kind == "env":
        secret = os.environ.get(name, "")
    else:
        try:
            with Path(name).open(encoding="utf-8") as file:
                secret = file.read(_MOST_SECRET).strip()
        except (OSError, ValueError) as error:
            raise ParameterError(
                f"the secret {shorten(reference)} cannot be read: {error}"
            ) from None
    if not secret or not secret.isprintable() or not secret.isascii():
        raise ParameterError(f"the secret {shorten(reference)} is empty or not plain text")
    return secret


def _parse_reference(reference: str) -> tuple[str, str]:
    kind, _, name = reference.partition(":")
    if kind not in ("env", "file") or not name:
        raise ParameterError("a secret is given as env:NAME or file:PATH, never by itself")
    return kind, name


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Lets a redirect fail, so that no alert and no token goes to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class WebhookSender:
    """Posts payloads in a thread of its own; where too many wait, the newest is dropped.

    Parameters
    ----------
    webhook : Webhook
    log : callable
        Called with what an operator should know.

    Raises
    ------
    ParameterError
        The secret is not where it should be.
    """

    def __init__(self, webhook: Webhook, log: Callable[[str], None]) -> None:
        if webhook.token:
            find_secret(webhook.token)
        self._webhook, self._log = webhook, log
        self._waiting: queue.Queue[bytes] = queue.Queue(_MOST_WAITING)
        self._stopping = threading.Event()
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, payload: bytes) -> None:
        """Let a payload be posted; from any thread."""
        try:
            self._waiting.put_nowait(payload)
        except queue.Full:
            text = f"{_MOST_WAITING} alerts wait for the webhook already; one is dropped"
            self._log(Event(text, "webhook_dropped", "error"))

    def stop(self, patience: float = 5.0) -> None:
        """End, after so many seconds for what still waits."""
        waited = threading.Thread(target=self._waiting.join, daemon=True)
        waited.start()
        waited.join(patience)
        self._stopping.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                payload = self._waiting.get(timeout=0.5)
            except queue.Empty:
                continue
            self._post_until_taken(payload)
            self._waiting.task_done()

    def _post_until_taken(self, payload: bytes) -> None:
        for attempt in range(self._webhook.retries + 1):
            if attempt and self._stopping.wait(_FIRST_PAUSE * 2 ** (attempt - 1)):
                return
            problem, is_final = self._post(payload)
            if not problem:
                self._log(Event("the webhook took an alert", "webhook_sent", attempts=attempt + 1))
                return
            if is_final:
                break
        text = f"the webhook did not take an alert after {attempt + 1} tries: {problem}"
        self._log(Event(text, "webhook_failed", "error", attempts=attempt + 1))

    def _post(self, payload: bytes) -> tuple[str, bool]:
        """Post once; return what went wrong, if anything, and whether to leave it at that."""
        headers = {"Content-Type": "application/json", "User-Agent": "solah"}
        try:
            if self._webhook.token:
                headers["Authorization"] = f"Bearer {find_secret(self._webhook.token)}"
            request = urllib.request.Request(self._webhook.url, payload, headers, method="POST")
            with self._opener.open(request, timeout=self._webhook.timeout) as answer:
                answer.read(1)
        except urllib.error.HTTPError as error:
            error.close()
            return f"status {error.code}", error.code < 500 and error.code not in _TRY_AGAIN
        except (OSError, HTTPException, ParameterError) as error:
            return str(getattr(error, "reason", error)), False
        return "", False
