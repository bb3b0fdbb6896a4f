import pytest

from solah.exceptions import DataError
from solah.labels.words import MAX_WORDS, WordPlan, default_names, plan_words


@pytest.mark.parametrize("n_words", range(1, 12))
def test_default_names_are_different_and_as_many_as_asked(n_words):
    names = default_names(n_words)
    assert len(set(names)) == len(names) == n_words


@pytest.mark.parametrize(
    ("given", "plan"),
    [
        (["cold", "hot"], WordPlan(2, ("cold", "hot"))),
        ({"cold": 0, "hot": 10}, WordPlan(2, ("cold", "hot"), (0.0, 5.0, 10.0))),
        ((["cold", "hot"], [0, 10]), WordPlan(2, ("cold", "hot"), (0.0, 5.0, 10.0))),
        ((["cold", "hot"], [0, 2, 10]), WordPlan(2, ("cold", "hot"), (0.0, 2.0, 10.0))),
    ],
)
def test_words_by_hand_come_in_three_forms(given, plan):
    assert plan_words(["t"], 3, {"t": given}) == {"t": plan}


@pytest.mark.parametrize(
    ("n_words", "words", "message"),
    [
        ({"temprature": 5}, None, "'n_words' names the column 'temprature'.*'temperature'"),
        (3, {"temprature": ["a"]}, "'words' names the column 'temprature'.*'temperature'"),
        ({"temperature": 1}, None, f"must be from 2 to {MAX_WORDS}. Got 1 for column"),
        ({"temperature": 2.5}, None, "Got 2.5 for column 'temperature'"),
        (3, {"temperature": ["hot", "hot"]}, "different texts"),
        (3, {"temperature": []}, "different texts"),
        (3, {"temperature": {}}, "different texts"),
        (3, {"temperature": ["any"]}, "from 2 to"),
        (3, {"temperature": "cold"}, "must be a list of names, a mapping.*Got 'cold'"),
        (3, {"temperature": 5}, "Got 5"),
        (3, {"temperature": {"a": "x", "b": "y"}}, "must be numbers"),
        (3, {"temperature": {"a": float("-inf"), "b": 0}}, "must increase"),
        (3, {"temperature": {"a": -1.7e308, "b": 1.7e308}}, "must be from -1e[+]36 to 1e[+]36"),
        ({0: 3}, None, "'n_words' names the column 0, which the data lack; there are"),
        (3, {"temperature": {"hot": 2, "cold": 1}}, "must increase"),
        (3, {"temperature": (["a", "b"], [1, 2, 3, 4])}, "needs 2 peaks .* or 3 .*Got 4"),
    ],
)
def test_wrong_words_are_named(n_words, words, message):
    with pytest.raises(DataError, match=message):
        plan_words(["temperature"], n_words, words)
