"""Only plans that somebody trusted has signed are taken, and none older than the last one."""

import random
from dataclasses import replace

import pytest
from test_bundle import bundle_of, mutated
from test_core import network

from solah.exceptions import SolahError
from solah.keys import make_keys
from solah.site.backlog import Item
from solah.site.bundle import BundleError, load_bundle, read_bundle
from solah.site.client import find_broker
from solah.site.core import NodeCore
from solah.site.node import Node, NodeOptions
from solah.site.plan import make_plan
from solah.site.trust import load_trust


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return make_keys(tmp_path_factory.mktemp("keys") / "site")


@pytest.fixture
def trust(keys):
    return load_trust([keys[1]])


# --- signatures ----------------------------------------------------------------------------------


def test_a_plan_of_who_is_trusted_is_read(keys, trust):
    signed = bundle_of().signed(keys[0], counter=3)
    back = read_bundle(signed.to_bytes(), trust)
    assert (back.hash, back.counter) == (signed.hash, 3)


def test_a_signature_is_checked_before_anything_is_parsed(keys, trust, monkeypatch):
    parsed = []
    monkeypatch.setattr("solah.data.json_reader.JsonParser.read", parsed.append)
    data = bundle_of().signed(keys[0]).to_bytes()
    for forged in (b"[" * 1000, bundle_of().to_bytes(), data.replace(b"solah-plan", b"solah_plan")):
        with pytest.raises(BundleError, match="sign"):
            read_bundle(forged, trust)
    assert parsed == []


def test_a_plan_that_another_signed_is_not_trusted(trust, tmp_path):
    other, _ = make_keys(tmp_path / "other")
    with pytest.raises(BundleError, match="an untrusted key"):
        read_bundle(bundle_of().signed(other).to_bytes(), trust)


def with_other_bias(model):
    root = model.root
    baseline = (root.baseline[0] + 1e-9, *root.baseline[1:])
    return replace(model, nodes=(replace(root, baseline=baseline),))


@pytest.mark.parametrize(
    "change",
    [
        lambda bundle: replace(bundle, starts=1),
        lambda bundle: replace(bundle, counter=bundle.counter + 1),
        lambda bundle: replace(bundle, plan=make_plan(bundle.model, site="other")),
        lambda bundle: replace(bundle, plan=make_plan(bundle.model, gateway="other")),
        lambda bundle: replace(bundle, model=with_other_bias(bundle.model)),
        lambda bundle: replace(bundle, signature=bytes(64)),
        lambda bundle: replace(
            bundle, signature=bytes([bundle.signature[0] ^ 1]) + bundle.signature[1:]
        ),
    ],
    ids=["starts", "counter", "site", "homes", "model", "no signature", "one bit of it"],
)
def test_whatever_is_changed_breaks_the_signature(keys, trust, change):
    forged = change(bundle_of().signed(keys[0])).to_bytes()
    with pytest.raises(BundleError, match="an untrusted key"):
        read_bundle(forged, trust)


def test_no_mutation_of_a_signed_document_is_trusted_for_another_plan(keys, trust):
    signed = bundle_of().signed(keys[0])
    data, rng = signed.to_bytes(), random.Random(1)
    for _ in range(600):
        try:
            bundle = read_bundle(mutated(rng, data), trust)
        except SolahError:
            continue
        assert (bundle.hash, bundle.starts, bundle.counter) == (
            signed.hash,
            signed.starts,
            signed.counter,
        )


# --- older plans ---------------------------------------------------------------------------------


class Site:
    """A node without a broker, and plans for it."""

    def __init__(self, keys, trust, tmp_path):
        self._key, self._trust = keys[0], trust
        self._bundle = network("three groups")
        self.state = tmp_path / "gateway.state"
        self.told = []

    def plan(self, counter, starts=0):
        return self._bundle.starting_at(starts).signed(self._key, counter=counter)

    def node(self, begins_with, **options):
        core = NodeCore(begins_with, "gateway")
        log = self.told.append
        about = NodeOptions(trust=self._trust, state=self.state, log=log, **options)
        node = Node(core, find_broker("mqtt://127.0.0.1"), about)
        node._resume()
        return node

    def hear(self, node, bundle):
        """Return the first row of the plan that the node has after hearing one."""
        node._take("solah/site/model", [Item("", bundle.to_bytes(), 0)])
        return node.core.bundle.starts


@pytest.fixture
def site(keys, trust, tmp_path):
    return Site(keys, trust, tmp_path)


def test_an_older_plan_is_refused(site):
    node = site.node(site.plan(5))
    assert site.hear(node, site.plan(7, starts=70)) == 70
    assert site.hear(node, site.plan(6, starts=60)) == 70
    assert site.hear(node, site.plan(5)) == 70
    assert site.hear(node, site.plan(7, starts=70)) == 70
    assert node.counters["refused_models"] == 2
    assert "older than the one in use (its counter is 6, 7 is in use)" in site.told[1]


def test_an_older_plan_is_refused_after_a_restart_too(site):
    assert site.hear(site.node(site.plan(5)), site.plan(7, starts=70)) == 70
    again = site.node(site.plan(5))
    assert again.core.bundle.starts == 70
    assert site.hear(again, site.plan(6, starts=60)) == 70
    assert again.counters["refused_models"] == 1


def test_an_older_plan_is_taken_where_that_is_asked_for(site):
    site.hear(site.node(site.plan(5)), site.plan(7, starts=70))
    node = site.node(site.plan(5), allow_rollback=True)
    assert node.core.bundle.starts == 0
    assert site.hear(node, site.plan(6, starts=60)) == 60


def test_a_kept_plan_whose_key_is_no_longer_trusted_is_not_used(site, tmp_path):
    site.hear(site.node(site.plan(5)), site.plan(7, starts=70))
    site._key, other = make_keys(tmp_path / "newer")
    site._trust = load_trust([other])
    for _ in range(2):
        with pytest.raises(BundleError, match=r"gateway\.state: .* an untrusted key"):
            site.node(site.plan(6))
    assert site.node(site.plan(8, starts=80)).core.bundle.starts == 80


def test_more_plans_than_there_is_room_for_survive_a_restart(site):
    node = site.node(site.plan(1))
    node.core._position.floor = node.core._position.reached = 5_000
    starts = [10, *range(20_000, 100_000, 10_000)]
    for counter, first in enumerate(starts, 2):
        site.hear(node, site.plan(counter, starts=first))
    again = site.node(site.plan(1))
    known = [one.starts for one in again.core.bundles]
    waiting = [read_bundle(one).starts for one in again._adoption.waiting]
    assert [one for one in (*known, *waiting) if one] == starts


def test_an_unsigned_plan_is_not_trusted(trust):
    with pytest.raises(BundleError, match="the plan is not signed"):
        read_bundle(bundle_of().to_bytes(), trust)


def test_a_file_is_covered_by_trust(keys, trust, tmp_path):
    file = tmp_path / "plan.json"
    file.write_bytes(bundle_of().to_bytes())
    with pytest.raises(BundleError, match=r"plan\.json: the plan is not signed"):
        load_bundle(file, trust)
