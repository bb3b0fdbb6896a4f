"""``solah serve``: answer requests for decisions over HTTP, until it is interrupted."""

import os
from typing import TYPE_CHECKING, Annotated

from solah.cli.options import ModelFile
from solah.cli.screen import Screen
from solah.cli.stopping import catch_ctrl_c
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.model import Model

_server_option = options_in("The server")
_TOKEN = "SOLAH_SERVE_TOKEN"
_SHORTEST_TOKEN = 16
_ANY = ("0.0.0.0", "::")

Host = Annotated[
    str,
    _server_option(
        "--host",
        metavar="ADDRESS",
        help=f"The address to listen at; one that others reach asks for a token ({_TOKEN}).",
    ),
]
Port = Annotated[
    int,
    _server_option("--port", min=0, max=65535, help="The port; 0 takes one that is free."),
]
Name = Annotated[
    list[str] | None,
    _server_option(
        "--name",
        metavar="HOST",
        help="A name under which it may be asked for, beside the address. Repeat it.",
    ),
]
Strict = Annotated[
    bool,
    _server_option(
        "--strict",
        help="Refuse rows with missing features, unseen categories or unknown keys (code 422).",
    ),
]


def serve(
    model: ModelFile,
    screen: Screen,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    name: Name = None,
    strict: Strict = False,
) -> None:
    """Serve a model over HTTP: decisions and explanations as JSON, and its page.

    POST /predict and /explain take {"rows": [{"hue": 1.04}]}; / is the page, /model the document,
    /healthz, /readyz and /metrics are for what watches. Each row of an answer names the features
    that are missing or unseen and the keys that were ignored; --strict refuses such rows. On
    another address than the loopback, requests must carry the token of SOLAH_SERVE_TOKEN
    ("Authorization: Bearer …"); encryption is for a proxy before it.

    Example: solah serve model.json --port 8080
    """
    from solah.model import load_document
    from solah.network.web import LOOPBACK, Server
    from solah.serving import make_app

    catch_ctrl_c()
    token = _token(host)
    document = load_document(model)
    is_any = host in _ANY and not name
    hosts = ["*"] if is_any else [*LOOPBACK, host, *(name or [])]
    page = _page(document, screen)
    app = make_app(document, page=page, token=token, hosts=hosts, strict=strict)
    server = Server(app, host, port)
    screen.note(f"{document.goal.name} is decided at {server.url}predict; Ctrl-C ends it")
    server.run()
    screen.note("ended")


def _token(host: str) -> str:
    """Return the token; refuse to be reached by others without one."""
    from solah.exceptions import ParameterError

    token = os.environ.get(_TOKEN, "")
    if token and len(token) < _SHORTEST_TOKEN:
        raise ParameterError(f"{_TOKEN} must have {_SHORTEST_TOKEN} characters at the least")
    if not token and host not in ("127.0.0.1", "localhost", "::1"):
        raise ParameterError(
            f"others can reach {host}: set {_TOKEN} to a secret that requests must carry, or leave "
            "--host out"
        )
    return token


def _page(document: "Model", screen: Screen) -> str:
    """Write the page; an installation without scikit-learn serves none."""
    from solah.report import render_page

    try:
        from solah.report import summarise_page
    except ModuleNotFoundError as error:
        screen.note(f"there is no page: {error.name} is not installed")
        return ""
    return render_page(summarise_page(document))
