"""The databases in, several models on the same halves of their rows out, with ranks and tests."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

from solah.reproduction import models
from solah.reproduction.cells import Cell
from solah.reproduction.statistics import compare
from solah.reproduction.tables.layout import SETTINGS, make_table
from solah.reproduction.tables.trees import choice_note

if TYPE_CHECKING:
    from solah.reproduction.models import Recipe
    from solah.reproduction.published import Database
    from solah.reproduction.tables.layout import Row, Table
    from solah.reproduction.tables.lines import Results
    from solah.reproduction.tables.wish import Wish

PAPERS = {
    "c45": "C4.5",
    "bayes": "naive Bayes",
    "network": "neural network",
    "optlah": "OptLAH",
    "solah": "SOLAH",
}


@dataclass(frozen=True)
class Rival:
    """A model of the comparison.

    Attributes
    ----------
    key : its column
    title : what the table calls it
    recipe : how it is made
    is_ranked : whether it takes part in the ranks; a second setting of another does not
    """

    key: str
    title: str
    recipe: Recipe
    is_ranked: bool = True


def rivals(wish: Wish) -> list[Rival]:
    """List the models that are compared."""
    titles = ("C4.5-style tree", "naive Bayes", "neural network")
    return [
        *(
            Rival(recipe.label, title, recipe)
            for title, recipe in zip(titles, models.peers(), strict=True)
        ),
        *(
            _rival("OptLAH", models.optlah(variant, wish.population, wish.generations))
            for variant in wish.optlah
        ),
        *(_rival("SOLAH", models.solah_of_database(variant)) for variant in models.VARIANTS),
        _rival("SOLAH auto", models.solah_auto("paper"), is_ranked=False),
    ]


def _rival(title: str, recipe: Recipe, *, is_ranked: bool = True) -> Rival:
    key = f"{title.lower().replace(' ', '-')} {recipe.variant}"
    return Rival(key, f"{title}, {SETTINGS[recipe.variant]}", recipe, is_ranked)


def cells(wish: Wish) -> list[Cell]:
    """List what has to be computed."""
    return [
        cell
        for database in wish.databases
        for rival in rivals(wish)
        for cell in _cells(database, rival, wish)
    ]


def tables(wish: Wish, results: Results) -> list[Table]:
    """Show accuracies, how the models stand, and both for what the paper prints."""
    field = rivals(wish)
    columns = [(rival.key, rival.title, "percent") for rival in field]
    rows = [_row(database, field, wish, results) for database in wish.databases]
    return [
        make_table(
            "comparison",
            "Comparison with other models: accuracy in percent",
            (("data", "data", "text"), *columns),
            rows,
            _notes(wish),
        ),
        _standing_table(field, rows, wish, results),
        _printed_table(wish),
        _printed_standing(wish),
    ]


def _cells(database: Database, rival: Rival, wish: Wish) -> list[Cell]:
    if rival.recipe.kind == "optlah" and not database.is_counted:
        return []
    return [Cell(database.name, "half", rival.recipe, seed=run) for run in range(wish.runs)]


def _row(database: Database, field: list[Rival], wish: Wish, results: Results) -> Row:
    row: Row = {"data": database.title, "name": database.name, "is_counted": database.is_counted}
    for rival in field:
        runs = [results.get(cell) for cell in _cells(database, rival, wish)]
        known = [100 * run["accuracy"] for run in runs if run is not None]
        if len(known) == wish.runs:
            row[rival.key] = [fmean(known), stdev(known) if len(known) > 1 else 0.0]
    if len(row) == 3:
        row["data"] = f"{database.title} (not at hand)"
    return row


def _standing_table(field: list[Rival], rows: list[Row], wish: Wish, results: Results) -> Table:
    counted = [row for row in rows if row["is_counted"]]
    complete = [row for row in counted if all(rival.key in row for rival in field)]
    lines, facts = _stand(field, complete, wish, results) if complete else ([], {})
    note = (
        _verdict(
            sum(rival.is_ranked for rival in field),
            len(complete),
            facts["p_value"],
            facts["critical_difference"],
        )
        if complete
        else "No database is complete, so nothing can be ranked."
    )
    table = make_table(
        "comparison-standing",
        "Comparison: how the models stand",
        _STANDING,
        lines,
        [
            note,
            "A tie for the first place counts for all that share it. Learning is for one half of "
            "a database, summed over the databases, mean of the runs; choosing is that of k and "
            "theta, and by default of all that is open. SOLAH auto follows simple rules instead of "
            "choosing and is not ranked.",
        ],
    )
    return {**table, "facts": facts}


def _stand(
    field: list[Rival], complete: list[Row], wish: Wish, results: Results
) -> tuple[list[Row], Row]:
    """Compare the models on the databases that all have done: a line each, and the tests."""
    ranked = [rival.key for rival in field if rival.is_ranked]
    names = [row["name"] for row in complete]
    standing = compare(np.array([[row[key][0] for key in ranked] for row in complete]))
    places = {
        key: {"wins": wins, "rank": rank}
        for key, wins, rank in zip(ranked, standing.wins, standing.ranks, strict=True)
    }
    lines = [
        {
            "model": rival.title,
            "key": rival.key,
            "accuracy": fmean(row[rival.key][0] for row in complete),
            **places.get(rival.key, {}),
            **_seconds(rival, names, wish, results),
        }
        for rival in field
    ]
    facts = {
        "databases": names,
        "p_value": standing.p_value,
        "critical_difference": standing.critical_difference,
    }
    return lines, facts


_STANDING = (
    ("model", "model", "text"),
    ("accuracy", "mean accuracy (%)", "mean"),
    ("wins", "wins", "count"),
    ("rank", "mean rank", "mean"),
    ("learning_seconds", "learning (s)", "seconds"),
    ("choosing_seconds", "choosing (s)", "seconds"),
)


def _seconds(rival: Rival, names: list[str], wish: Wish, results: Results) -> Row:
    """Add up the time over the databases, for one run."""
    runs = [
        results[cell]
        for database in wish.databases
        if database.name in names
        for cell in _cells(database, rival, wish)
    ]
    return {
        key: sum(float(run[key]) for run in runs) / wish.runs
        for key in ("learning_seconds", "choosing_seconds")
    }


def _verdict(n_models: int, n_sets: int, p_value: float | None, difference: float | None) -> str:
    if p_value is None or difference is None:
        return "Too few databases or models for a test."
    return (
        f"Friedman's test of {n_models} models on {n_sets} databases: p = {p_value:.2g}. Nemenyi's "
        f"critical difference at 0.05: mean ranks that differ by less than {difference:.2f} do "
        "not differ."
    )


def _printed_table(wish: Wish) -> Table:
    rows = [
        {"data": one.title, **{key: list(pair) for key, pair in vars(one.rivals).items()}}
        for one in wish.counted
    ]
    columns = [(key, title, "percent") for key, title in PAPERS.items()]
    return make_table(
        "comparison-printed",
        "Comparison: what the paper prints",
        (("data", "data", "text"), *columns),
        rows,
        ["C4.5, naive Bayes and the neural network are WEKA's, as the paper quotes them."],
    )


def _printed_standing(wish: Wish) -> Table:
    scores = np.array([[vars(one.rivals)[key][0] for key in PAPERS] for one in wish.counted])
    standing = compare(scores)
    rows = [
        {"model": title, "accuracy": float(mean), "wins": wins, "rank": rank}
        for title, mean, wins, rank in zip(
            PAPERS.values(), scores.mean(axis=0), standing.wins, standing.ranks, strict=True
        )
    ]
    verdict = _verdict(len(PAPERS), len(scores), standing.p_value, standing.critical_difference)
    table = make_table(
        "comparison-printed-standing",
        "Comparison: how the paper's figures stand",
        _STANDING[:4],
        rows,
        [f"{verdict} The paper has no such test; this one is of the figures that it prints."],
    )
    facts = {"p_value": standing.p_value, "critical_difference": standing.critical_difference}
    return {**table, "facts": facts}


def _notes(wish: Wish) -> list[str]:
    notes = [
        f"Mean ± standard deviation of {wish.runs} runs; each learns from one half of the rows "
        "(stratified, shuffled with the run's number) and is tested on the other; all models "
        "have the same halves.",
        "scikit-learn's models, defaults but for: DecisionTreeClassifier(criterion='entropy', "
        "random_state=run); GaussianNB and CategoricalNB in one; MLPClassifier(max_iter=500, "
        "random_state=run) on scaled numbers and indicators, whose warnings that 500 rounds were "
        "too few are silenced. Missing values: the tree takes them as they are, the others take "
        "the training mean of numbers; a missing state is a state of its own for naive Bayes and "
        "no indicator for the others.",
    ]
    if wish.optlah:
        notes.append(
            f"OptLAH: a genetic search for the hierarchy, population {wish.population}, "
            f"{wish.generations} generations, by accuracy on unseen training rows, trees of at "
            "most 8 inputs; on the paper's twelve databases only."
        )
    return [*notes, choice_note()]
