"""The paper's figures, against what the paper says about them."""

import pytest

from reproduction.published import DATABASES, SMS_14, SMS_20
from reproduction.tables.comparison import PAPERS
from solah import Hierarchy

COUNTED = [database for database in DATABASES if database.is_counted]


def mean(values):
    return sum(values) / len(values)


def test_there_are_twelve_databases():
    assert len(COUNTED) == 12
    assert {one.name for one in DATABASES} - {one.name for one in COUNTED} == {
        "wdbc",
        "heart_c_cleveland",
    }
    assert [one.name for one in DATABASES if one.is_high] == ["ionosphere", "sonar"]


def test_classes_add_up_to_the_rows():
    for database in DATABASES:
        assert sum(database.properties.counts) == database.properties.rows
        assert len(database.properties.counts) == database.properties.classes


def test_means_of_the_papers_accuracies():
    assert mean([one.solah_at_ten_folds.accuracy for one in COUNTED]) == pytest.approx(
        0.8317, abs=1e-4
    )
    assert mean([one.solah.accuracy for one in COUNTED]) == pytest.approx(0.8208, abs=1e-4)
    assert mean([one.tree.accuracy for one in COUNTED]) == pytest.approx(0.7742, abs=1e-4)


def test_the_paper_counts_its_wins_right():
    best = [max(PAPERS, key=lambda key: vars(one.rivals)[key][0]) for one in COUNTED]
    assert best.count("solah") == 4
    assert best.count("optlah") == 5


@pytest.mark.parametrize(("study", "n"), [(SMS_20, 20), (SMS_14, 14)])
def test_hierarchies_by_hand_use_every_keyword(study, n):
    for hand in study.by_hand:
        wiring = Hierarchy.parse(hand.wiring)
        assert sorted(wiring.features) == sorted(f"x{j}" for j in range(n))
        assert sum(len(node.inputs) for node in wiring.nodes) == n + len(wiring.nodes) - 1
    assert [k for line in study.sweep for k in line.k] == list(range(2, 11))
