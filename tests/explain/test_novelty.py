"""Why a decision is held back, in words."""

from dataclasses import replace

import numpy as np

from policy_cases import POLICY, room
from small_models import room_model, room_rows
from solah.explain.novelty import novelty_of
from solah.model.policy import AbstainReason, Policy
from solah.model.predictor import Predictor


def explained(model, row):
    return Predictor(model).explain(room_rows().take(np.array([row])))[0]


def test_each_reason_is_a_phrase():
    model = replace(room(), policy=replace(POLICY, min_completeness=0.6, max_unseen=0))
    assert explained(model, 0).abstention.reasons == ("the probability of no is 0.622, below 0.7",)
    assert explained(model, 10).abstention.reasons == (
        "CO2 1800 is outside 390 to 1500",
        "this combination of CO2 and door never occurred in training",
    )
    lost = explained(model, 11)
    assert "completeness is 0.5, below 0.6" in lost.abstention.reasons
    assert lost.abstention.abstains
    assert str(lost).splitlines()[1].startswith("Abstains (don't know): the probability of no is")
    assert lost.to_dict()["abstain_reasons"] == ["low probability", "few readings"]


def test_a_domain_without_a_policy_warns():
    told = explained(replace(room(), policy=None), 10)
    assert told.abstention.sentence == (
        "Unlike the training rows: CO2 1800 is outside 390 to 1500; this combination of CO2 and "
        "door never occurred in training."
    )
    assert not told.abstention.abstains
    assert told.to_dict()["abstains"] is False


def test_a_plain_model_has_no_doubts():
    told = explained(room_model(), 10)
    assert told.abstention.sentence == ""
    assert "Abstains" not in str(told)


def test_a_policy_asks_for_some_doubts():
    assert Policy(min_hold=5).holding == AbstainReason(0)
    assert Policy(max_unseen=0).holding == AbstainReason.UNSEEN
    assert POLICY.holding == sum(AbstainReason)


def test_without_a_domain_nothing_is_new():
    found = novelty_of(room_model(), room_rows())
    assert not found.is_out_of_range.any()
    assert not found.n_unseen.any()
    assert found.completeness.tolist() == [1.0] * 11 + [0.5]
