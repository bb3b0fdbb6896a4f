"""Decisions over HTTP: what is answered, what is refused, and what it is counted as."""

import asyncio
import logging
import re
import socket
import threading
from dataclasses import replace
from functools import partial

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solah import (
    LinguisticTreeClassifier,
    RuleClassifier,
    datasets,
)
from solah.data import Column, Table
from solah.model import Policy
from solah.model.format import from_json
from solah.serving import MAX_BYTES, MAX_EXPLAINED, MAX_ROWS, make_app
from solah.site.web_server import Server


@pytest.fixture(scope="module")
def wine():
    return datasets.load("wine")


@pytest.fixture(scope="module")
def model(wine):
    return RuleClassifier(max_rules=8).fit(wine.table, wine.target)


class Client:
    """Asks an application without a socket."""

    def __init__(self, app):
        self._app = app

    def get(self, path, **options):
        return self._ask("GET", path, **options)

    def post(self, path, **options):
        return self._ask("POST", path, **options)

    def _ask(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as one:
                return await one.request(method, path, **options)

        return asyncio.run(ask())


def client_of(model, **options):
    return Client(make_app(model, **options))


@pytest.fixture(scope="module")
def client(model):
    return client_of(model.model_, page="<h1>wine</h1>")


def rows_of(table, n_rows):
    return [
        {column.name: float(column.values[i]) for column in table.columns} for i in range(n_rows)
    ]


def test_rows_are_decided_as_the_model_does(client, model, wine):
    answer = client.post("/predict", json={"rows": rows_of(wine.table, 30)}).json()
    assert [row["prediction"] for row in answer["rows"]] == model.predict(wine.table)[:30].tolist()
    beliefs = [list(row["probabilities"].values()) for row in answer["rows"]]
    assert np.array_equal(beliefs, model.predict_proba(wine.table)[:30])
    assert {row["completeness"] for row in answer["rows"]} == {1.0}


@pytest.fixture(scope="module")
def fruits():
    """Return a model that asks for a number, a text and the hour of a date."""
    texts = np.array(["red", "green"] * 20, dtype=object)
    hours = np.array([8.0, 20.0, 20.0, 8.0] * 10)
    columns = {"size": np.arange(40.0), "colour": texts, "hour of at": hours}
    table = Table(tuple(Column(*column) for column in columns.items()), 40)
    target = np.array(["sweet" if i > 20 or i % 2 else "sour" for i in range(40)], dtype=object)
    return LinguisticTreeClassifier().fit(table, target).model_


GAPS = [
    ({"size": 3, "colour": "red", "hour of at": 8}, [], [], []),
    ({"size": None, "colour": ""}, ["size", "colour", "hour of at"], [], []),
    ({"size": 3, "colour": "blue", "hour of at": 8}, [], ["colour"], []),
    ({"size": 3, "colour": 5, "hour of at": 8}, [], ["colour"], []),
    ({"size": 3, "colour": "red", "hour of at": 8, "price": 2, "id": 1}, [], [], ["price", "id"]),
    ({"price": 2, "colour": "blue"}, ["size", "hour of at"], ["colour"], ["price"]),
]


@pytest.mark.filterwarnings("ignore::solah.UnseenCategoryWarning")  # which is for the operator
@pytest.mark.parametrize("path", ["/predict", "/explain"])
def test_an_answer_names_what_the_model_could_not_use(fruits, path):
    answer = client_of(fruits).post(path, json={"rows": [row for row, *_ in GAPS]})
    assert answer.status_code == 200
    found = [[row["missing"], row["unseen"], row["ignored"]] for row in answer.json()["rows"]]
    assert found == [gaps for _, *gaps in GAPS]


@pytest.mark.parametrize("path", ["/predict", "/explain"])
@pytest.mark.parametrize(("row", "missing", "unseen", "ignored"), GAPS)
def test_a_strict_server_refuses_and_names_the_same(fruits, path, row, missing, unseen, ignored):
    gaps = {"missing": missing, "unseen": unseen, "ignored": ignored}
    refused = {"row": 1, **{what: names for what, names in gaps.items() if names}}
    body = {"rows": [GAPS[0][0], row]}
    for asked, query in ((client_of(fruits, strict=True), ""), (client_of(fruits), "?strict=true")):
        answer = asked.post(path + query, json=body)
        if not any(gaps.values()):
            assert answer.status_code == 200
            continue
        assert answer.status_code == 422
        assert answer.json()["rows"] == [refused]
        assert all(repr(name) in answer.json()["error"] for name in (*missing, *unseen, *ignored))


def test_a_request_cannot_loosen_a_strict_server(fruits):
    asked = client_of(fruits, strict=True)
    assert asked.post("/predict?strict=false", json={}).status_code == 422
    answer = asked.post("/predict?strict=no", json={})
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "'strict' must be true or false; got 'no'",
    )


@pytest.mark.parametrize("path", ["/predict", "/explain"])
@pytest.mark.parametrize(
    "body", [rb'{"colour": "\ud800"}', rb'{"\udfff": 1}', rb'{"rows": [{"colour": "a\udc00b"}]}']
)
def test_half_a_character_is_refused(fruits, path, body):
    answer = client_of(fruits).post(path, content=body)
    assert answer.status_code == 400
    assert "a text of whole characters" in answer.json()["error"]


def test_a_policy_holds_back_row_by_row(model, wine):
    steady = Policy(
        min_probability=(0.9,) * 3,
        min_completeness=0.5,
        smoothing=4,
        hysteresis=0.3,
        votes=3,
        window=3,
    )
    trusted = replace(model.model_, policy=steady)
    asked = client_of(trusted)
    rows = rows_of(wine.table, 178)
    answer = asked.post("/predict", json={"rows": [*rows, {}]}).json()["rows"]
    predicted = model.predict(wine.table).tolist()
    beliefs = model.predict_proba(wine.table).max(axis=1)
    assert 0 < (beliefs < 0.9).sum() < 178
    for row, name, belief in zip(answer, predicted, beliefs, strict=False):
        assert row["abstain_reasons"] == (["low probability"] if belief < 0.9 else [])
        assert row["prediction"] == (None if belief < 0.9 else name)
    assert answer[-1]["prediction"] is None
    assert answer[-1]["abstain_reasons"] == ["low probability", "few readings"]
    text = asked.get("/metrics").text
    n_held_back = int((beliefs < 0.9).sum()) + 1
    assert re.search(rf"""decision="don't know".*\}} {n_held_back}\b""", text)


def test_the_page_and_the_document_are_served(client, model):
    page = client.get("/")
    assert page.text == "<h1>wine</h1>"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert from_json(client.get("/model").content) == model.model_
    assert client_of(model.model_).get("/").status_code == 404


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"", "not valid JSON"),
        (b"[1, 2]", "must be a row"),
        (b'{"rows": []}', "rows"),
        (b'{"rows": [3]}', "rows[0] must be a row"),
        (b'{"proline": "strong"}', "'proline' is measured"),
        (b'{"proline": [1]}', "'proline' must be a number or a text"),
        (b'{"prolin": 1}', "did you mean 'proline'"),
        (b'{"proline": NaN}', "finite"),
        (b'{"proline": 1, "proline": 2}', "twice"),
        (b"[" * 100, "deep"),
        (b"\xff", "UTF-8"),
        (b" " * (MAX_BYTES + 1), "more than the limit"),
    ],
)
@pytest.mark.parametrize("path", ["/predict", "/explain"])
def test_a_bad_request_is_told_what_is_wrong(client, path, body, part):
    answer = client.post(path, content=body)
    assert answer.status_code == 400
    assert part in answer.json()["error"]


@pytest.mark.parametrize(("path", "most"), [("/predict", MAX_ROWS), ("/explain", MAX_EXPLAINED)])
def test_the_number_of_rows_is_bounded(client, path, most):
    assert client.post(path, json={"rows": [{}] * (most + 1)}).status_code == 400


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(body=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_no_bytes_are_a_fault_of_the_server(client, body):
    assert client.post("/predict", content=body).status_code in (200, 400)


# A real server

PATIENCE = 180.0  # seconds; only a failure, or a very slow machine, takes that long
HEADERS = b"\r\n".join(
    [
        b"POST /predict HTTP/1.1",
        b"Host: 127.0.0.1",
        b"Expect: 100-continue",
        b"Content-Length: 50",
        *(b"", b""),
    ]
)


@pytest.fixture
def server(model):
    """Serve a model on a free port, with its requests in the log."""
    server = Server(make_app(model.model_), port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    yield server
    server.stop()
    thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.fixture
def begin(server):
    """Return a function that opens connections with a request whose body is not whole."""
    opened = []

    def connect(n_times):
        address = (httpx.URL(server.url).host, httpx.URL(server.url).port)
        for _ in range(n_times):
            opened.append(socket.create_connection(address, PATIENCE))
            opened[-1].sendall(HEADERS)
            answer = b"".join(iter(partial(opened[-1].recv, 1), b"\n"))
            assert b" 100 " in answer  # the server waits for the body
            assert opened[-1].recv(2) == b"\r\n"
            opened[-1].sendall(b"{")
        return opened

    yield connect
    for one in opened:
        one.close()


def test_bodies_that_do_not_end_keep_nobody_out(server, begin, caplog):
    begin(200)
    for path in ("healthz", "metrics", "model"):
        assert httpx.get(f"{server.url}{path}", timeout=PATIENCE).status_code == 200
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


def test_a_body_that_does_not_end_has_a_deadline(server, begin, monkeypatch, caplog):
    monkeypatch.setattr("solah.site.web_server.SECONDS_TO_ASK", 0.05)
    (one,) = begin(1)
    assert one.recv(1) == b""
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


def test_other_names_of_the_host_are_refused(client):
    assert client.get("/healthz", headers={"Host": "elsewhere.example"}).status_code == 400


def test_a_token_is_asked_for_but_not_to_see_that_it_lives(model):
    guarded = client_of(model.model_, token="a long and secret word")
    assert guarded.get("/healthz").json()["status"] == "ok"
    for wrong in ({}, {"Authorization": "Bearer x"}, {"Authorization": "a long and secret word"}):
        answer = guarded.post("/predict", json={}, headers=wrong)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert guarded.get("/model", headers=wrong).status_code == 401
    right = {"Authorization": "Bearer a long and secret word"}
    assert guarded.post("/predict", json={}, headers=right).status_code == 200


def test_requests_and_decisions_are_counted(model, wine):
    counted = client_of(model.model_)
    counted.post("/predict", json={"rows": rows_of(wine.table, 3)})
    counted.post("/predict", content=b"?")
    text = counted.get("/metrics").text
    assert 'path="/predict",code="200"} 1' in text
    assert 'path="/predict",code="400"} 1' in text
    assert 'decision="class_0"} 3' in text
