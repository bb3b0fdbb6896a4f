"""A plan survives its file; a broken one is refused, and so is one that nobody trusted signed."""

import json
import random
import stat
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import with_noise, with_strange

from random_models import ADDITIVE_SHAPES, SHAPES, random_model
from solah.exceptions import KeyFileError, ParameterError, SolahError
from solah.keys import load_public_key, make_keys
from solah.site.bundle import (
    Bundle,
    part_signature,
    read_bundle,
)
from solah.site.messages import MAX_SEQUENCE
from solah.site.plan import make_plan


def bundle_of(shape="three groups", seed=0, **about):
    model = random_model(np.random.default_rng(seed), shape, 3)
    return Bundle(make_plan(model, **about), model)


def plain_of(bundle):
    return json.loads(bundle.to_bytes())


def as_bytes(plain):
    return json.dumps(plain).encode()


# --- round trips ---------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    shape=st.sampled_from((*SHAPES, *ADDITIVE_SHAPES)),
    seed=st.integers(0, 10**6),
    starts=st.integers(0, MAX_SEQUENCE),
    signature=st.sampled_from([b"", b"\x07" * 64]),
    counter=st.integers(0, MAX_SEQUENCE),
)
def test_a_bundle_survives_its_document(shape, seed, starts, signature, counter):
    bundle = replace(
        bundle_of(shape, seed, site="house"), starts=starts, signature=signature, counter=counter
    )
    back = read_bundle(bundle.to_bytes())
    assert (back.plan, back.model, back.starts) == (bundle.plan, bundle.model, starts)
    assert (back.signature, back.counter) == (signature, counter)
    assert back.hash == bundle.hash
    assert back.to_bytes() == bundle.to_bytes()


# --- broken documents ----------------------------------------------------------------------------


def broken(**changes):
    return as_bytes({**plain_of(bundle_of()), **changes})


def node_broken(**changes):
    plain = plain_of(bundle_of())
    plain["nodes"][0] |= changes
    return as_bytes(plain)


def moved(part, to):
    """Let another node run a part, and change nothing else."""
    plain = plain_of(bundle_of())
    for node in plain["nodes"]:
        node["runs"] = [one for one in node["runs"] if one != part]
        if node["name"] == to:
            node["runs"].append(part)
    return as_bytes(plain)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the plan is not valid JSON"),
        (b"\xff\xfe", "the plan is not text in UTF-8"),
        (b"9" * 10_000, "the plan is not readable JSON"),
        (b"[]", "not a plan of version 1"),
        (b'{"format": 1, "format": 2}', "the key 'format' twice"),
        (b"[" * 100_000, "nested too deeply"),
        (broken(format="solah-model"), "not a plan of version 1"),
        (broken(version=2), "not a plan of version 1"),
        (broken(more=1), "the plan has 'more'"),
        (broken(model=5), "not a solah model"),
        (broken(model={"format": "solah-model"}), "the plan.model.version must be an integer"),
        (broken(**{"from": -1}), "the plan.from must be an integer from 0 to .* Got -1"),
        (broken(**{"from": True}), "the plan.from must be an integer"),
        (broken(counter=-1), "the plan.counter must be an integer from 0 to .* Got -1"),
        (broken(counter="7"), "the plan.counter must be an integer"),
        (b"[" + b"[]," * 4_200_000 + b"[]]", "more than 4,194,304 lists and objects"),
        (broken(site="a/b"), "a node or site is named with"),
        (broken(site=[[]]), "a node or site is named with"),
        (broken(nodes=5), "the plan.nodes must be a list"),
        (broken(nodes=[5]), r"the plan.nodes\[0\] must be an object"),
        (broken(model={}), "not a solah model"),
        (broken(signature="?"), "the plan.signature must be base64"),
        (broken(signature=5), "the plan.signature must be base64"),
        (broken(signature="AAAA"), "the plan.signature must have 64 bytes"),
        (node_broken(runs=["y", "y"]), r"nodes\[0\].runs must be a list without repetition"),
        (node_broken(runs=["y", "z0"]), "'z0' is run twice"),
        (node_broken(runs=[]), "'y' is in the plan or in the model, but not in both"),
        (node_broken(runs=["y", "nobody"]), "'nobody' is in the plan or in the model"),
        (node_broken(runs="y"), r"the plan.nodes\[0\].runs must be a list"),
        (node_broken(name="+"), "a node or site is named with"),
        (node_broken(hears={}), "'nodes' do not fit the model; make the plan again"),
        (node_broken(reads=["x0"]), "'nodes' do not fit the model"),
        (node_broken(more=1), r"the plan.nodes\[0\] has 'more'"),
        (moved("z2", "gateway"), "'nodes' do not fit the model"),
    ],
)
def test_a_broken_document_is_refused_with_what_is_wrong(data, words):
    with pytest.raises(SolahError, match=words):
        read_bundle(data)


STRANGE = (
    *(None, True, -1, 0, 10**30, 0.5, float("nan"), float("inf"), "", "y", "z0", "x0", "\ud800"),
    *("+", "a/b", [], {}, [[]], ["y"], {"y": "gateway"}, {"z0": 1}, [None], "x" * 1000),
)


def mutated(rng, data):
    if rng.random() < 0.5:
        return with_noise(rng, data)
    return as_bytes(with_strange(rng, json.loads(data), STRANGE))


@pytest.mark.parametrize(("shape", "times"), [("three groups", 300), ("words", 150)])
def test_a_mutated_bundle_is_a_bundle_or_refused(shape, times):
    rng = random.Random(0)
    data = bundle_of(shape).to_bytes()
    outcomes = {"taken": 0, "refused": 0}
    for _ in range(times):
        try:
            bundle = read_bundle(mutated(rng, data))
        except SolahError:
            outcomes["refused"] += 1
            continue
        assert read_bundle(bundle.to_bytes()).hash == bundle.hash
        outcomes["taken"] += 1
    assert outcomes["refused"] > times // 2
    assert outcomes["taken"] > times // 100  # other numbers in the model


# --- signatures ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys") / "site")


def test_a_signature_is_over_the_bytes_of_the_unsigned_document(keys):
    signed = bundle_of().signed(keys[0], counter=7)
    bare, signature = part_signature(signed.to_bytes())
    assert bare == replace(signed, signature=b"").to_bytes()
    assert signature == signed.signature
    assert signed.hash == bundle_of().hash


def test_another_start_needs_another_signature(keys):
    later = bundle_of().signed(keys[0]).starting_at(10)
    assert (later.signature, later.counter) == (b"", 0)


def test_what_is_signed_later_has_a_larger_counter(keys, monkeypatch):
    counters = []
    for now in (1_000_000_000, 2_000_000_000):
        monkeypatch.setattr("solah.site.bundle.time.time_ns", lambda now=now: now)
        counters.append(bundle_of().signed(keys[0]).counter)
    assert counters == [1_000, 2_000]


# --- keys ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604, 0o666])
def test_a_private_key_that_others_may_read_is_refused(tmp_path, mode):
    private, _ = make_keys(tmp_path / "site")
    private.chmod(mode)
    with pytest.raises(KeyFileError, match=r"other users can read.*chmod 600 .*site\.pem"):
        bundle_of().signed(private)
    private.chmod(0o600)
    assert bundle_of().signed(private).signature


def test_the_private_key_is_for_its_owner_alone(tmp_path):
    private, public = make_keys(tmp_path / "site")
    assert (private.name, public.name) == ("site.pem", "site.pub.pem")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert b"PRIVATE" not in public.read_bytes()


@pytest.mark.parametrize("name", ["site.pem", "site.pub.pem"])
def test_a_key_is_never_replaced(tmp_path, name):
    (tmp_path / name).write_text("mine", encoding="utf-8")
    with pytest.raises(ParameterError, match="never overwritten"):
        make_keys(tmp_path / "site")
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["mine"]


def test_a_file_without_a_fitting_key_is_refused(keys, tmp_path):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private, public = keys
    with pytest.raises(KeyFileError, match=r"site\.pub\.pem has no readable key"):
        bundle_of().signed(public)
    with pytest.raises(KeyFileError, match=r"site\.pem has no readable key"):
        load_public_key(private)
    other = tmp_path / "other.pem"
    other.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    with pytest.raises(KeyFileError, match="must have an Ed25519 key"):
        bundle_of().signed(other)


def test_nesting_is_refused_at_any_depth():
    for key in ("site", "from", "nodes", "model", "signature", "version"):
        plain = as_bytes({**plain_of(bundle_of()), key: "HERE"})
        for depth in (10, 300, 900, 960, 990):
            with pytest.raises(SolahError):
                read_bundle(plain.replace(b'"HERE"', b"[" * depth + b"]" * depth))
