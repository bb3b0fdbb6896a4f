"""The examples do what they say."""

import importlib.util
import json
import sys
import types
from pathlib import Path

import pytest

from solah import LinguisticHierarchyClassifier, RuleClassifier, datasets
from solah.export import export_micropython
from solah.model.compile import part_of
from solah.model.predictor import Predictor
from solah.site.bundle import Bundle
from solah.site.core import NodeCore
from solah.site.messages import decode_beliefs
from solah.site.plan import make_plan

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"
WIRING = "taste <- alcohol, ash; look <- hue, color_intensity; wine <- taste, look"


MODELS = {
    "evidence": RuleClassifier(
        feature_groups={"taste": ["alcohol", "ash"], "look": ["hue", "color_intensity"]},
        interactions=0,
        max_rules=None,
    ),
    "beliefs": LinguisticHierarchyClassifier(WIRING),
}


@pytest.fixture(params=sorted(MODELS))
def bundle(request):
    wine = datasets.load("wine")
    placement = {"cellar": ["alcohol", "ash"], "shop": ["hue", "color_intensity"]}
    readings = wine.table.select([name for names in placement.values() for name in names])
    model = MODELS[request.param].fit(readings, wine.target)
    return Bundle(make_plan(model.model_, placement), model.model_)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_board_says_what_its_tree_says(bundle, tmp_path, monkeypatch):
    model = bundle.model
    files = export_micropython(part_of(model, "taste"), name="taste").files
    (tmp_path / "taste.py").write_text(files["taste.py"], encoding="utf-8")
    monkeypatch.setitem(sys.modules, "taste", load(tmp_path / "taste.py", "taste"))
    mqtt = types.ModuleType("umqtt.simple")
    mqtt.MQTTClient = object
    monkeypatch.setitem(sys.modules, "umqtt", types.ModuleType("umqtt"))
    monkeypatch.setitem(sys.modules, "umqtt.simple", mqtt)
    board = load(EXAMPLES / "micropython_node.py", "micropython_node")
    board.MODEL, board.SITE = bundle.hash, "site"
    board.IS_ADDED_UP = model.is_additive
    readings = {"alcohol": 13.2, "ash": 2.4, "hue": 1.1, "color_intensity": 5.0}
    payload = board.message(7, 100.0, {"alcohol": 13.2, "ash": 2.4}).encode()
    json.loads(payload)
    gateway, shop = NodeCore(bundle, "gateway"), NodeCore(bundle, "shop")
    gateway.hear(decode_beliefs(payload), now=0.0)
    from solah.site.messages import Measured

    shop.read([Measured({"hue": 1.1, "color_intensity": 5.0}, 7)], now=0.0, wall=100.0)
    for said in shop.advance(0.0).beliefs:
        gateway.hear(said, now=0.0)
    ((row,),) = (decided.rows for decided in gateway.advance(0.0).decisions)
    names = [feature.name for feature in model.features]
    (expected,) = Predictor(model).predict_proba([[readings[name] for name in names]])
    assert list(row.probabilities.values()) == pytest.approx(expected.tolist(), abs=0.02)


def test_the_service_calls_a_verb_that_is_there():
    text = (EXAMPLES / "solah-node@.service").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith("ExecStart="))
    from solah.cli.main import main

    words = [word for word in line.split() if word.startswith("--")]
    assert words == ["--plan", "--name", "--broker", "--state"]
    assert main(["site", "node", "--help"]) == 0
