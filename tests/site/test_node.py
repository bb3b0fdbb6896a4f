"""Real processes on a real broker decide as the model does, through restarts, kills and swaps."""

import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from processes import Listener, until
from sklearn.datasets import load_breast_cancer

from solah import RuleClassifier
from solah.model.predictor import Predictor
from solah.site.bundle import Bundle, save_bundle
from solah.site.client import find_broker
from solah.site.plan import make_plan
from solah.site.publication import publish_bundle
from solah.site.supervisor import Launcher
from solah.site.topics import Topics

pytestmark = pytest.mark.slow

N_ROWS = 1_500


@pytest.fixture(scope="module")
def measured():
    """Return a table of measurements, groups of rules over it, and five nodes."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.columns = [name.replace(" ", "_") for name in X.columns]
    names = list(X.columns)
    parts = [names[i : i + 3] for i in range(0, 12, 3)]
    groups = {f"z{i}": part for i, part in enumerate(parts)}
    fitted = RuleClassifier(feature_groups=groups, interactions=0, max_rules=60)
    model = fitted.fit(X[names[:12]], y).model_
    used = {feature.name for feature in model.features}
    placement = {f"n{i}": [name for name in part if name in used] for i, part in enumerate(parts)}
    placement = {name: part for name, part in placement.items() if part}
    rows = X.sample(N_ROWS, replace=True, random_state=0).reset_index(drop=True)
    return Bundle(make_plan(model, placement), model), rows


@pytest.fixture
def network(measured, broker, tmp_path):
    bundle, rows = measured
    table, plan = tmp_path / "rows.csv", tmp_path / "plan.json"
    rows.to_csv(table, index=False)
    save_bundle(bundle, plan)
    listener = Listener(broker.url)
    nodes = Launcher(bundle, plan, broker.url, tmp_path, deadline=60)
    yield bundle, rows, table, nodes, listener
    nodes.stop()
    listener.stop()


def check(bundle, rows, listener):
    """Every row is decided, as the model decides it."""
    expected = Predictor(bundle.model).predict_proba(rows)
    assert sorted(listener.rows) == list(range(len(rows)))
    assert not listener.contradictions
    for sequence, (model, row) in listener.rows.items():
        assert model == bundle.hash
        assert tuple(row.probabilities.values()) == tuple(expected[sequence])
        assert row.missing == ()


def test_no_decision_is_lost_when_the_broker_restarts(network, broker):
    bundle, rows, table, nodes, listener = network
    nodes.start(replay=table, rate=800)
    listener.wait(500)
    broker.stop()
    time.sleep(0.5)
    broker.start()
    listener.wait(len(rows))
    check(bundle, rows, listener)


def test_no_decision_is_lost_when_a_node_is_killed(network):
    bundle, rows, table, nodes, listener = network
    name = bundle.plan.nodes[-1].name
    nodes.start(replay=table, rate=800)
    listener.wait(500)
    nodes.kill(name)
    time.sleep(0.3)
    nodes.start(name, replay=table, rate=800)
    listener.wait(len(rows))
    check(bundle, rows, listener)


def test_a_node_that_was_away_catches_up_with_a_replay(network):
    bundle, rows, table, nodes, listener = network
    pd.concat([rows] * 20).to_csv(table, index=False)  # they do not end before it is back
    nodes._settings["deadline"] = 2
    away = bundle.plan.nodes[-1]
    nodes.start(replay=table, rate=100)

    def decided(behind, missing):
        known = listener.rows.copy()
        return {one for one in known if one > behind and set(known[one][1].missing) == missing}

    until(lambda: len(decided(-1, set())) >= 100)
    nodes.kill(away.name)
    until(lambda: len(decided(-1, set(away.sends))) >= 100)
    back = max(listener.rows.copy())
    nodes.start(away.name, replay=table, rate=100)
    until(lambda: len(decided(back, set())) >= 200)


def test_a_swap_under_load_mixes_nothing(network, broker):
    bundle, rows, table, nodes, listener = network
    target = bundle.model.target
    decided_otherwise = replace(bundle.model, target=replace(target, thresholds=(0.9, 0.1)))
    changed = Bundle(bundle.plan, decided_otherwise)
    assert changed.hash != bundle.hash
    nodes.start(replay=table, rate=150)
    listener.wait(50)
    starts = 1_200  # seven seconds from now
    publish_bundle(find_broker(broker.url), Topics("site"), changed.starting_at(starts))
    listener.wait(len(rows))
    beliefs = Predictor(bundle.model).predict_proba(rows)
    for sequence, (model, row) in listener.rows.items():
        by = changed if sequence >= starts else bundle
        assert model == by.hash
        place = by.model.target.decide(beliefs[sequence][None])[0]
        assert row.decision == str(by.model.target.classes[place])
    assert sorted(listener.rows) == list(range(len(rows)))


def test_a_node_is_small_and_quick_to_start(network):
    bundle, _, table, nodes, listener = network
    nodes.start(replay=table)
    listener.wait(1_000)
    for node in bundle.plan.nodes:
        if not node.reads:  # a replay reads its table with PyArrow
            status = Path(f"/proc/{nodes.ids()[node.name]}/status").read_text(encoding="utf-8")
            (resident,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
            assert int(resident.split()[1]) < 60 * 1024, node.name
