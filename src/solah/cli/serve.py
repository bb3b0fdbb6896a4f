"""``solah serve``: answer requests for predictions over HTTP, until it is interrupted."""

import os
from typing import Annotated

from solah.cli.command import option
from solah.cli.options import ModelFile
from solah.cli.screen import Screen
from solah.cli.stopping import catch_ctrl_c

_TOKEN = "SOLAH_SERVE_TOKEN"
_SHORTEST_TOKEN = 16
_ANY = ("0.0.0.0", "::")

Host = Annotated[
    str, option("Address to listen on; any but the loopback requires a token.", metavar="ADDRESS")
]
Port = Annotated[int, option("Port; 0 picks a free one.", metavar="PORT", min=0, max=65535)]
AllowHost = Annotated[
    list[str] | None,
    option("Additional host name that requests may use. Repeatable.", metavar="NAME"),
]
Strict = Annotated[
    bool,
    option("--strict", "Refuse rows with missing features, unseen categories or unknown keys."),
]


def serve(
    model: ModelFile,
    screen: Screen,
    host: Host = "127.0.0.1",
    port: Port = 8080,
    allow_host: AllowHost = None,
    strict: Strict = False,
) -> None:
    """Serve a model over HTTP: predictions and explanations as JSON, and its page.

    POST /predict and /explain take {"rows": [{"hue": 1.04}]}; / is the page, /model the model
    file, /healthz, /readyz and /metrics are for monitoring. On any address but the loopback,
    requests must carry the token in SOLAH_SERVE_TOKEN ("Authorization: Bearer …").

    Example: solah serve model.json --port 8080
    """
    from solah.exceptions import ParameterError
    from solah.model import load_document
    from solah.report import render_page
    from solah.serving import make_app
    from solah.site.web_server import LOOPBACK, Server

    catch_ctrl_c()
    token = os.environ.get(_TOKEN, "")
    if token and len(token) < _SHORTEST_TOKEN:
        raise ParameterError(f"{_TOKEN} must have at least {_SHORTEST_TOKEN} characters")
    if not token and host not in ("127.0.0.1", "localhost", "::1"):
        raise ParameterError(
            f"others can reach {host}: set {_TOKEN} to a secret that requests must carry, or drop "
            "--host"
        )
    document, page = load_document(model), ""
    try:
        from solah.report import summarise_page

        page = render_page(summarise_page(document))
    except ModuleNotFoundError as error:
        screen.note(f"there is no page: {error.name} is not installed")
    is_any = host in _ANY and not allow_host
    hosts = ["*"] if is_any else [*LOOPBACK, host, *(allow_host or [])]
    app = make_app(document, page=page, token=token, hosts=hosts, strict=strict)
    server = Server(app, host, port)
    screen.note(f"predicting {document.target.name} at {server.url}predict; Ctrl-C ends it")
    server.run()
    screen.note("ended")
