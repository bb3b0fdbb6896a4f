"""Models of real data on the platforms: they decide as their simulators, bit for bit."""

import numpy as np
import pytest
from devices import check_on, with_tools

from solah import LinguisticTreeClassifier, RuleClassifier, datasets
from solah.data import from_array, read_table
from solah.export import agreement, export_c
from solah.model.encode import encode

pytestmark = pytest.mark.shared

PLATFORMS = ("host", "cortex-m0plus", "cortex-m4f", "aarch64", "rv32")
N_ROWS = 60


def hierarchy():
    return RuleClassifier(max_rules=50)


def tree():
    return LinguisticTreeClassifier(max_rules=60)


@pytest.fixture(scope="module")
def sets(shared_data, sms_14):
    features, is_spam = sms_14
    names = [f"x{place}" for place in range(features.shape[1])]
    loaded = {name: datasets.load(name) for name in ("sonar", "ionosphere")}
    plain = {name: (one.table, one.target) for name, one in loaded.items()}
    return plain | {"SMS-14": (from_array(features, names), is_spam)}


@pytest.fixture(
    scope="module",
    params=[
        ("sonar", hierarchy),
        ("ionosphere", hierarchy),
        ("SMS-14", hierarchy),
        ("SMS-14", tree),
    ],
    ids=lambda asked: f"{asked[0]}, {asked[1].__name__}",
)
def fitted(request, sets):
    """Return a model, and rows of its data of which some readings failed or went astray."""
    name, estimator = request.param
    table, target = sets[name]
    model = estimator().fit(table, target).model_
    rng = np.random.default_rng(0)
    rows = encode(table.take(rng.choice(len(target), N_ROWS, replace=False)), model.features)
    astray = rng.choice([np.inf, -np.inf, 1e30, -1e30, 7.5, -7.5], rows.shape)
    rows = np.where(rng.random(rows.shape) < 0.05, astray, rows)
    return model, np.where(rng.random(rows.shape) < 0.1, np.nan, rows)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_target_decides_as_its_simulator(platform, fitted, find_tool, tmp_path):
    model, rows = fitted
    cases = [
        (model, export_c(model, name=f"m_{numbers}", numbers=numbers), rows)
        for numbers in ("float", "q15")
    ]
    check_on(with_tools(platform, find_tool), cases, tmp_path)


def test_a_model_of_sensors_believes_the_same_in_integers(shared_data):
    room = read_table(shared_data / "iot_room_occupancy.csv")
    rows = room.take(np.arange(0, room.n_rows, 5))
    *features, target = rows.names
    table, target = rows.select(features), rows.column(target)
    model = RuleClassifier().fit(table, target).model_
    found = agreement(model, export_c(model, numbers="q15").simulator, table)
    assert found.share > 0.999
    assert found.largest_difference < 0.01
