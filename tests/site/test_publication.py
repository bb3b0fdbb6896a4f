"""Plans are rolled out on a real broker: tried out as shadows, listed, and rolled back."""

import json
from dataclasses import replace

import numpy as np
import pytest
from processes import PATIENCE, Listener, until
from test_core import network
from test_hostile import Threads

from random_models import random_rows
from solah.cli import main as program
from solah.keys import make_keys
from solah.site.bundle import BundleError, read_bundle, save_bundle
from solah.site.client import find_broker
from solah.site.core import NodeCore
from solah.site.observer import Observer
from solah.site.publication import (
    find_published,
    publish_bundle,
    read_history,
)
from solah.site.shadow import next_shadow
from solah.site.topics import Topics
from solah.site.trust import load_trust
from solah.site.watch import subscribed

TOPICS = Topics("site")


def other_model():
    """Return a plan like that of the network, whose model decides otherwise at times."""
    return network("three groups", seed=1)


def test_a_shadow_is_compared_and_not_acted_on(broker):
    bundle, other = network("three groups"), other_model()
    rows = random_rows(np.random.default_rng(0), bundle.model, 1_500)
    listener, observer = Listener(broker.url), Observer(TOPICS)
    observer.adopt(bundle)
    nodes = Threads(bundle, broker.url, rows)
    with subscribed(find_broker(broker.url), TOPICS, observer):
        publish_bundle(find_broker(broker.url), TOPICS, other.as_shadow())
        nodes.start()
        listener.wait(len(rows))
        until(lambda: observer.snapshot(0.0)["shadow"]["rows"] > 100)
        until(lambda: nodes.counters("gateway")["decisions"] == len(rows))
        found = observer.snapshot(0.0)
        nodes.stop()
    listener.stop()
    assert {model for model, _ in listener.rows.values()} == {bundle.hash}
    shadow = found["shadow"]
    assert shadow["hash"] == other.hash
    assert shadow["agreed"] + sum(one["times"] for one in shadow["differing"]) == shadow["rows"]
    assert 0 < shadow["agreed"] < shadow["rows"]
    assert found["model"]["hash"] == bundle.hash


def test_a_shadow_ends_when_its_plan_is_used(broker):
    bundle, other = network("three groups"), other_model()
    nodes = Threads(bundle, broker.url, random_rows(np.random.default_rng(0), bundle.model, 50))
    nodes.start()
    names = {node.name for node in bundle.plan.nodes}
    try:
        where = find_broker(broker.url), TOPICS
        shadow = publish_bundle(*where, other.as_shadow(), PATIENCE)
        assert shadow == dict.fromkeys(names, "")
        assert all(node._shadow is not None for node in nodes.nodes.values())
        used = publish_bundle(*where, other.starting_at(10_000), PATIENCE)
        assert used == dict.fromkeys(names, "")
        until(lambda: all(node._shadow is None for node in nodes.nodes.values()))
        elsewhere = replace(other, plan=replace(other.plan, site="elsewhere"))
        refused = publish_bundle(*where, elsewhere, PATIENCE)
        assert set(refused.values()) == {"the plan is of the site 'elsewhere'"}
    finally:
        nodes.stop()


def test_only_shadows_are_tried_out_and_only_plans_used():
    bundle = network("three groups")
    core = _core(bundle)
    with pytest.raises(BundleError, match="is for use"):
        next_shadow(None, bundle.to_bytes(), core, None)
    shadow = next_shadow(None, bundle.as_shadow().to_bytes(), core, None)
    assert next_shadow(shadow, bundle.as_shadow().to_bytes(), core, None) is shadow
    assert next_shadow(shadow, b"", core, None) is None
    observer = Observer(TOPICS)
    observer.take(TOPICS.model, bundle.as_shadow().to_bytes(), 0.0)
    observer.take(TOPICS.shadow.model, bundle.to_bytes(), 0.0)
    assert observer.bundle is None
    assert observer.snapshot(0.0)["messages"]["unfit"] == 2


def _core(bundle):

    return NodeCore(bundle, "gateway")


def test_the_role_is_part_of_what_is_signed(tmp_path):
    private, public = make_keys(tmp_path / "operator")
    signed = network("three groups").as_shadow().signed(private)
    assert read_bundle(signed.to_bytes(), load_trust([public])).is_shadow
    forged = replace(signed, is_shadow=False).to_bytes()
    with pytest.raises(BundleError, match="untrusted key"):
        read_bundle(forged, load_trust([public]))


# --- the history -----------------------------------------------------------------------------


def run(capsys, *words):
    assert program.main([*map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)


def fails(capsys, *words):
    assert program.main([*map(str, words)]) == 2
    return capsys.readouterr().err


def test_a_plan_can_be_brought_back(broker, tmp_path, capsys):
    private, public = make_keys(tmp_path / "alice")
    first, second = network("three groups"), other_model()
    for name, bundle in (("first", first), ("second", second)):
        save_bundle(bundle, tmp_path / f"{name}.json")
    where = ("--broker", broker.url, "--json", "--wait", "0")
    run(
        capsys,
        "site",
        "publish",
        "--plan",
        tmp_path / "first.json",
        "--at",
        5,
        "--sign",
        private,
        *where,
    )
    run(
        capsys, "site", "publish", "--plan", tmp_path / "second.json", "--at", 7, "--shadow", *where
    )
    of_site = ("site", "publish", "--site", "site", *where)
    found = run(capsys, *of_site, "--history", "--trust", public)
    assert [(one["model"], one["from"], one["use"], one["signed_by"]) for one in found] == [
        (second.hash, 7, "shadow", ""),
        (first.hash, 5, "in use", "alice"),
    ]
    assert run(capsys, *of_site, "--history")[1]["signed_by"] == "unknown"
    assert "pass --sign" in fails(capsys, *of_site, "--rollback", first.hash)
    assert "no plan whose hash" in fails(capsys, *of_site, "--rollback", "ffffffff")
    told = run(capsys, *of_site, "--rollback", second.hash[:8], "--at", 9)
    assert told.items() >= {"model": second.hash, "from": 9, "shadow": False}.items()
    kept = read_history(find_broker(broker.url), TOPICS)
    assert not find_published(kept, second.hash).bundle.is_shadow
    assert program.main([*map(str, of_site), "--end-shadow", "--quiet"]) == 0
    observer = Observer(TOPICS)
    with subscribed(find_broker(broker.url), TOPICS, observer):
        until(lambda: observer.bundle is not None and observer.bundle.hash == second.hash)
        assert observer.snapshot(0.0)["shadow"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "pass a site file, or one of --plan, --rollback"),
        (("--history",), "pass --site"),
        (("--plan", "PLAN", "--history"), "pass a site file, or one of"),
        (("--plan", "PLAN", "--site", "shed"), "is of the site 'site', not 'shed'"),
        (("--plan", "PLAN", "--at", 1, "--at-time", "2099-01-01T00:00"), "--at or --at-time"),
        (("--plan", "PLAN", "--at-time", "2001-01-01T00:00"), "requires a site file"),
        (("--plan", "PLAN", "--at-time", "tomorrow"), "at-time"),
    ],
)
def test_wrong_words_are_named(tmp_path, capsys, words, message):
    save_bundle(network("three groups"), tmp_path / "plan.json")
    words = [str(tmp_path / "plan.json") if one == "PLAN" else one for one in words]
    assert message in fails(capsys, "site", "publish", *words)
