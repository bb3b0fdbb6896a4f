"""What devices decide, judge and name as reasons is what their simulators do, bit for bit."""

from dataclasses import replace

import blob_programs
import numpy as np
import pytest
from devices import check, check_board, check_on, check_sanitized, module_of, with_tools
from export_shapes import ALL_SHAPES
from judged_models import STEADY, in_time, judged
from sklearn.datasets import load_diabetes, load_wine
from test_reasons import model_with_joined_branches

from random_models import ADDITIVE_SHAPES, random_number_model, without_first_class
from solah import LinguisticTreeRegressor, RuleClassifier
from solah.data import from_frame
from solah.export import export_blob, export_c, export_micropython
from solah.export.float_tables import float_tables
from solah.export.layout import lay_out
from solah.export.online import Pace
from solah.export.plain import is_plain
from solah.export.platforms import PLATFORMS
from solah.model.encode import encode

KINDS = {
    "float": {"numbers": "float"},
    "q15": {"numbers": "q15"},
    "learns": {"numbers": "q15", "learning": Pace()},
    "plain float": {"numbers": "float", "style": "plain"},
    "plain q15": {"numbers": "q15", "style": "plain"},
}


@pytest.fixture(scope="module")
def models():
    """Return models of all shapes with rows: with policies, numbers, and a class of no belief."""
    rng = np.random.default_rng(3)
    made = [
        judged(rng, model_with_joined_branches(rng, shape, 2 + place % 3))
        for place, shape in enumerate(ALL_SHAPES)
    ]
    made += [without_first_class(model_with_joined_branches(rng, "masses", 4))]
    made += [random_number_model(rng, shape) for shape in ADDITIVE_SHAPES]
    found = [(model, in_time(rng, model, 300)) for model in made]
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    number = LinguisticTreeRegressor(max_depth=2).fit(X, 10_000 * y).model_
    return [*found, (number, encode(from_frame(X[:99]), number.features))]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = RuleClassifier().fit(X, y).model_
    rows = encode(from_frame(X), model.features)
    return model, np.where(np.random.default_rng(0).random(rows.shape) < 0.1, np.nan, rows)


@pytest.mark.parametrize("kind", KINDS)
def test_c_answers_as_its_simulator(kind, models, tmp_path, find_tool):
    able = [one for one in models if one[0].target.classes or kind != "learns"]
    if kind.startswith("plain"):
        without = ((replace(model, policy=None, domain=None), rows) for model, rows in models)
        able = [one for one in without if is_plain(float_tables(lay_out(one[0])))]
        assert len(able) > 2
    cases = [
        (model, export_c(model, name=f"m{place}", **KINDS[kind]), rows)
        for place, (model, rows) in enumerate(able)
    ]
    check_sanitized(cases, tmp_path, find_tool("cc"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PLATFORMS if name != "host"])
def test_every_target_answers_as_its_simulator(name, models, wine, tmp_path, find_tool):
    platform = with_tools(name, find_tool)
    chosen = [wine]
    if name != "atmega328p":  # avr-gcc keeps constant tables in RAM, of which that one has 2 KB
        chosen += [(replace(model, policy=None), rows[:60]) for model, rows in models[:1]]
        chosen += [(replace(judged(np.random.default_rng(7), wine[0]), policy=STEADY), wine[1])]
        chosen += [(model, rows[:60]) for model, rows in models[5:6] + models[-2:-1]]
    cases = [
        (model, export_c(model, name=f"m{place}{numbers[0]}", numbers=numbers), rows)
        for place, (model, rows) in enumerate(chosen)
        for numbers in ("float", "q15")
    ]
    check_on(platform, cases, tmp_path)


def test_boards_answer_as_their_twins(models, wine):
    loader = module_of(export_blob(wine[0]).files["solah_blob.py"])
    for model, rows in [wine, *models]:
        export, some = export_micropython(model), rows[:120]
        check_board(model, export.simulator, some, module_of(export.files["model.py"]))
        blob = export_blob(model)
        loader["load"](blob.data)
        check_board(model, blob.simulator, some, loader)


def test_a_blob_after_the_other_answers_as_its_simulator(models, wine, tmp_path, find_tool):
    cases = [(model, export_blob(model), rows) for model, rows in [wine, *models, wine]]
    runtime = blob_programs.RUN.format(n_most=3)
    program = blob_programs.build(cases[0][1], tmp_path, find_tool("cc"), runtime)
    prepared = [(blob.data, blob.simulator.prepare(rows)) for _, blob, rows in cases]
    for (model, blob, rows), found in zip(
        cases, blob_programs.run(program, prepared, 3), strict=True
    ):
        check(model, blob.simulator, rows, found)
