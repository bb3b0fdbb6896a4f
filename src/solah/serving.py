"""Serve a model over HTTP: decisions and explanations as JSON, and its page.

``POST /predict`` and ``POST /explain`` take ``{"rows": [{"name": value, …}, …]}``, or one row
alone. Each row of the answer names the features that were ``missing`` or had an ``unseen``
category, and the keys that were ``ignored``. ``/`` is the model's page, ``/model`` its document;
``/healthz``, ``/readyz`` and ``/metrics`` are for what watches the server.
"""

from __future__ import annotations

import hmac
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.json_reader import JsonParser
from solah.exceptions import DataError, SolahError, require, shorten
from solah.metrics_text import CONTENT_TYPE, Metric, Sample, metrics_text
from solah.model.document import Task
from solah.model.encode import check_row_names, encode_column, rows_table
from solah.model.format import model_hash, to_json
from solah.model.policy import name_reasons
from solah.model.predictor import Predictor
from solah.site.web_server import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.applications import Starlette

    from solah.data import Table
    from solah.data.json_reader import Reader
    from solah.model.document import Model

    Gaps = dict[str, list[str]]

MAX_BYTES = 1_000_000
MAX_ROWS = 1_000
MAX_EXPLAINED = 100

_PURPOSE = "solah serve"
_TOP = 8
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_UNDECIDED = "don't know"
_OPEN = ("/healthz", "/readyz")
_MOST_NAMED = 8


def make_app(
    model: Model,
    *,
    page: str = "",
    token: str = "",
    hosts: Sequence[str] = LOOPBACK,
    strict: bool = False,
) -> Starlette:
    """Make the application that serves a model.

    Parameters
    ----------
    model : Model
    page : str, default=""
        The HTML page about it; none is served if it is empty.
    token : str, default=""
        What requests must carry (``Authorization: Bearer …``); nothing, if it is empty.
    hosts : sequence of str, default=("localhost", "127.0.0.1", "[::1]")
        The names under which it may be asked for; ``["*"]`` for any.
    strict : bool, default=False
        Whether to refuse every row with a missing feature, an unseen category or an unknown key.
        A request can ask for the same with ``?strict=true``.

    Returns
    -------
    app : Starlette

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
    >>> sorted(route.path for route in make_app(tree.model_).routes)
    ['/', '/explain', '/healthz', '/metrics', '/model', '/predict', '/readyz']
    """
    applications = require("starlette.applications", "site", _PURPOSE)
    middleware = require("starlette.middleware", "site", _PURPOSE)
    routing = require("starlette.routing", "site", _PURPOSE)
    trustedhost = require("starlette.middleware.trustedhost", "site", _PURPOSE)
    answers = _Answers(model, page, token, strict)
    get = {"/": answers.page, "/model": answers.model, "/metrics": answers.metrics}
    get |= dict.fromkeys(_OPEN, answers.health)
    post = {"/predict": answers.predict, "/explain": answers.explain}
    app: Starlette = applications.Starlette(
        routes=[
            *(routing.Route(path, answers.checked(one)) for path, one in get.items()),
            *(
                routing.Route(path, answers.checked(one), methods=["POST"])
                for path, one in post.items()
            ),
        ],
        middleware=[
            middleware.Middleware(trustedhost.TrustedHostMiddleware, allowed_hosts=[*hosts])
        ],
    )
    app.state.is_stopping = lambda: False
    return app


class _StrictError(DataError):
    """Rows that a strict server refuses.

    Attributes
    ----------
    rows : list of dict
        The ``row``, counted from 0, and the names that are missing, unseen and ignored in it.
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        first, *others = rows
        gaps = [f"{what} {_listed(names)}" for what, names in first.items() if what != "row"]
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(f"strict: rows[{first['row']}] has {'; '.join(gaps)}{more}")
        self.rows = rows


class _Answers:
    """Answers requests, and counts them."""

    def __init__(self, model: Model, page: str, token: str, strict: bool) -> None:
        self._predictor = Predictor(model)
        self._model, self._page, self._token, self._strict = model, page, token, strict
        self._measured = [model.features[j] for j in model.program.read_features]
        self._document, self._hash = to_json(model), model_hash(model)
        self._responses = require("starlette.responses", "site", _PURPOSE)
        self._concurrency = require("starlette.concurrency", "site", _PURPOSE)
        self._closed = require("starlette.requests", "site", _PURPOSE).ClientDisconnect
        self._requests: Counter[tuple[str, int]] = Counter()
        self._decided: Counter[str] = Counter()
        self._seconds = 0.0
        self._parser = JsonParser("the request", DataError, MAX_BYTES)

    def checked(self, answer: Callable[[Any], Awaitable[Any]]) -> Callable[[Any], Awaitable[Any]]:
        """Return an answer that requires the token and reports errors of the request."""

        async def respond(request: Any) -> Any:
            path, began = request.url.path, time.perf_counter()
            if path not in _OPEN and not self._is_allowed(request):
                response = self._error("a token is asked for: Authorization: Bearer …", 401)
                response.headers["WWW-Authenticate"] = "Bearer"
            else:
                try:
                    response = await answer(request)
                except _StrictError as error:
                    content = {"error": str(error), "rows": error.rows}
                    response = self._responses.JSONResponse(content, 422)
                except SolahError as error:
                    response = self._error(str(error), 400)
            for name, value in _HEADERS.items():
                response.headers[name] = value
            self._requests[path, response.status_code] += 1
            self._seconds += time.perf_counter() - began
            return response

        return respond

    async def page(self, _request: Any) -> Any:
        if not self._page:
            return self._error("this server has no page; ask POST /predict", 404)
        headers = {"Content-Security-Policy": _PAGE_POLICY}
        return self._responses.HTMLResponse(self._page, headers=headers)

    async def model(self, _request: Any) -> Any:
        return self._responses.Response(self._document, media_type="application/json")

    async def health(self, _request: Any) -> Any:
        return self._responses.JSONResponse({"status": "ok", "model": self._hash})

    async def metrics(self, _request: Any) -> Any:
        asked = [
            Sample(n, {"path": path, "code": str(status)})
            for (path, status), n in sorted(self._requests.items())
        ]
        decided = [Sample(n, {"decision": text}) for text, n in sorted(self._decided.items())]
        text = metrics_text(
            [
                Metric("solah_requests_total", "counter", "Requests answered.", asked),
                Metric("solah_decisions_total", "counter", "Rows decided on.", decided),
                Metric(
                    "solah_request_seconds_total",
                    "counter",
                    "Time that answering took.",
                    [Sample(self._seconds, {})],
                ),
            ],
            {"model": self._hash},
        )
        return self._responses.Response(text, media_type=CONTENT_TYPE)

    async def predict(self, request: Any) -> Any:
        table, gaps = await self._rows(request, MAX_ROWS)
        predicted = await self._concurrency.run_in_threadpool(self._predict, table)
        if self._model.target.task is Task.CLASSIFICATION:
            found = (row["prediction"] for row in predicted)
            self._decided.update(_UNDECIDED if one is None else str(one) for one in found)
        rows = [row | gap for row, gap in zip(predicted, gaps, strict=True)]
        return self._responses.JSONResponse({"model": self._hash, "rows": rows})

    async def explain(self, request: Any) -> Any:
        table, gaps = await self._rows(request, MAX_EXPLAINED)
        explained = await self._concurrency.run_in_threadpool(self._predictor.explain, table)
        rows = [one.to_dict(_TOP) | gap for one, gap in zip(explained, gaps, strict=True)]
        return self._responses.JSONResponse({"model": self._hash, "rows": rows})

    def _predict(self, table: Table) -> list[dict[str, Any]]:
        """Predict each row by itself, in the words of ``solah predict --json``."""
        model = self._model
        columns: dict[str, list[Any]] = {"prediction": self._predictor.predict(table).tolist()}
        if model.target.task is Task.CLASSIFICATION:
            names = [str(one) for one in model.target.classes]
            shares = self._predictor.outputs(table).tolist()
            columns["probabilities"] = [dict(zip(names, one, strict=True)) for one in shares]
        columns["completeness"] = self._predictor.completeness(table).tolist()
        if model.policy is not None or model.domain is not None:
            decided = self._predictor.decide(table, groups=range(table.n_rows))
            columns["abstain_reasons"] = [*map(name_reasons, decided.abstain_reasons.tolist())]
            abstains = (decided.places < 0).tolist()
            pairs = zip(columns["prediction"], abstains, strict=True)
            columns["prediction"] = [None if is_held else name for name, is_held in pairs]
        cells = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in cells]

    async def _rows(self, request: Any, most: int) -> tuple[Table, list[Gaps]]:
        """Read the rows of a request, and the names in each that the model cannot use."""
        is_strict = self._is_strict(request)
        body = await self._body(request)
        content = self._parser.read(body)
        rows = content.part("rows") if _has_rows(content.value) else None
        items = [content] if rows is None else rows.items(1, most)
        names = [feature.name for feature in self._model.features]
        read = []
        for item in items:
            if not isinstance(item.value, dict):
                raise item.fail("a row: an object with values by name")
            fields = item.named(MAX_BYTES, MAX_BYTES)
            row = {name: _whole(field) for name, field in fields.items()}
            read.append(check_row_names(row, names))
        table = rows_table(read, self._model.features)
        gaps = self._gaps(read, table)
        refused = [
            {"row": place, **{what: names for what, names in gap.items() if names}}
            for place, gap in enumerate(gaps)
            if is_strict and any(gap.values())
        ]
        if refused:
            raise _StrictError(refused)
        return table, gaps

    def _gaps(self, rows: Sequence[dict[str, Any]], table: Table) -> list[Gaps]:
        """Name the missing and unseen features of each row, and its ignored keys."""
        known = {*table.names, *(feature.name for feature in self._model.features)}
        gaps: list[Gaps] = [
            {"missing": [], "unseen": [], "ignored": [name for name in row if name not in known]}
            for row in rows
        ]
        for feature in self._measured:
            is_missing = table.column(feature.name).missing()
            for place in np.flatnonzero(np.isnan(encode_column(table, feature))).tolist():
                gaps[place]["missing" if is_missing[place] else "unseen"].append(feature.name)
        return gaps

    def _is_strict(self, request: Any) -> bool:
        asked = request.query_params.get("strict", "false")
        if asked not in ("true", "false"):
            raise DataError(f"'strict' must be true or false; got {shorten(asked)}")
        return self._strict or asked == "true"

    async def _body(self, request: Any) -> bytes:
        """Read no more of a request than it may have."""
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                self._parser.check_size(body)
        except self._closed:
            raise DataError("the connection closed before the request was whole") from None
        return body

    def _is_allowed(self, request: Any) -> bool:
        given = request.headers.get("authorization", "")
        wanted = f"Bearer {self._token}"
        return not self._token or hmac.compare_digest(given.encode(), wanted.encode())

    def _error(self, message: str, status: int) -> Any:
        return self._responses.JSONResponse({"error": message}, status)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(shorten, names[:_MOST_NAMED]))
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"


def _whole(field: Reader) -> Any:
    """Return a value; refuse a text with half a character, which no answer could repeat."""
    return field.text(0) if isinstance(field.value, str) else field.value


def _has_rows(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("rows"), list)
