"""Post alerts to a webhook: one try each, no redirects, secrets by reference."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from solah.exceptions import ParameterError, shorten
from solah.site.fields import number, setting, text
from solah.site.logs import Event

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_SECRET = 4_096


@dataclass(frozen=True)
class Webhook:
    """Where alerts are posted as JSON.

    Attributes
    ----------
    url : an address, https:// or http://; redirects are not followed
    token : where the bearer token is: ``env:NAME`` or ``file:PATH``; empty for none
    timeout : seconds that an answer may take
    """

    url: str = setting(text())
    token: str = setting(text(), "")
    timeout: float = setting(number(0.1, 60.0), 5.0)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise ParameterError(
                "'url' must be an address as https://host/path, without a user or a password. "
                f"Got {shorten(self.url)} instead."
            )
        if self.token:
            _parse_reference(self.token)
            if parts.scheme == "http" and not _is_loopback(parts.hostname):
                raise ParameterError("'url' must be an https:// address where there is a 'token'")

    def send(self, payload: bytes, log: Callable[[str], None]) -> threading.Thread:
        """Post a payload once, in a thread of its own; a failure is logged."""
        thread = threading.Thread(target=self._post, args=(payload, log), daemon=True)
        thread.start()
        return thread

    def _post(self, payload: bytes, log: Callable[[str], None]) -> None:
        import urllib.request
        from http.client import HTTPException

        class NoRedirects(urllib.request.HTTPRedirectHandler):
            """Lets a redirect fail, so that no alert and no token goes to another host."""

            def redirect_request(self, *_: Any, **__: Any) -> None:
                return None

        headers = {"Content-Type": "application/json", "User-Agent": "solah"}
        try:
            if self.token:
                headers["Authorization"] = f"Bearer {find_secret(self.token)}"
            request = urllib.request.Request(self.url, payload, headers, method="POST")
            opener = urllib.request.build_opener(NoRedirects)
            with opener.open(request, timeout=self.timeout) as answer:
                answer.read(1)
        except (OSError, HTTPException, ParameterError) as error:
            reason = getattr(error, "reason", error)
            code = getattr(error, "code", None)
            why = f"status {code}" if code else reason
            log(Event(f"the webhook did not take an alert: {why}", "webhook_failed", "error"))


def find_secret(reference: str) -> str:
    """Return a secret from the environment or a file.

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
