"""Several models trained on the same halves of the databases, with ranks and tests."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

from reproduction import models
from reproduction.cells import Cell
from reproduction.statistics import LEVEL, compare
from reproduction.tables.layout import NOT_AVAILABLE, SETTINGS, TablePlan, make_table
from reproduction.tables.trees import choice_note

if TYPE_CHECKING:
    from reproduction.models import Recipe
    from reproduction.published import Database
    from reproduction.scope import Scope
    from reproduction.statistics import Ranking
    from reproduction.tables.layout import Results, Row, Table

PAPERS = {
    "c45": "C4.5",
    "bayes": "naive Bayes",
    "network": "neural network",
    "optlah": "OptLAH",
    "solah": "SOLAH",
}
"""The models that the paper compares, by the names of their figures in ``Rivals``."""
_STANDING = (
    ("model", "model", "text"),
    ("accuracy", "mean accuracy (%)", "mean"),
    ("wins", "wins", "count"),
    ("rank", "mean rank", "mean"),
    ("learning_seconds", "learning (s)", "seconds"),
    ("choosing_seconds", "choosing (s)", "seconds"),
)


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

    def cells(self, database: Database, runs: int) -> list[Cell]:
        """List what has to be computed; the genetic search covers the paper's twelve only."""
        if self.recipe.kind == "optlah" and not database.is_counted:
            return []
        return [Cell(database.name, "half", self.recipe, seed=run) for run in range(runs)]


def plan(scope: Scope) -> TablePlan:
    """Compare accuracies and ranks, ours and those of the figures that the paper prints."""
    rivals = list_rivals(scope)
    return TablePlan(
        [
            cell
            for database in scope.databases
            for rival in rivals
            for cell in rival.cells(database, scope.runs)
        ],
        lambda results: [
            *_measured(rivals, scope, results),
            _printed_table(scope),
            _printed_standing(scope),
        ],
    )


def list_rivals(scope: Scope) -> list[Rival]:
    """List the models that are compared."""
    titles = ("C4.5-style tree", "naive Bayes", "neural network")
    peers = zip(titles, models.peers(), strict=True)
    searches = [models.optlah(v, scope.population, scope.generations) for v in scope.optlah]
    return [
        *(Rival(recipe.label, title, recipe) for title, recipe in peers),
        *(_rival("OptLAH", recipe) for recipe in searches),
        *(_rival("SOLAH", models.solah_of_database(variant)) for variant in models.VARIANTS),
        _rival("SOLAH auto", models.solah_auto("paper"), is_ranked=False),
    ]


def _rival(title: str, recipe: Recipe, *, is_ranked: bool = True) -> Rival:
    key = f"{title.lower().replace(' ', '-')} {recipe.variant}"
    return Rival(key, f"{title}, {SETTINGS[recipe.variant]}", recipe, is_ranked)


def _measured(rivals: list[Rival], scope: Scope, results: Results) -> list[Table]:
    rows = [_row(database, rivals, scope, results) for database in scope.databases]
    columns = [(rival.key, rival.title, "percent") for rival in rivals]
    return [
        make_table(
            "comparison",
            "Comparison with other models: accuracy in percent",
            (("data", "data", "text"), *columns),
            rows,
            _notes(scope),
        ),
        _standing_table(rivals, rows, scope, results),
    ]


def _row(database: Database, rivals: list[Rival], scope: Scope, results: Results) -> Row:
    accuracies = {}
    for rival in rivals:
        runs = [results.get(cell) for cell in rival.cells(database, scope.runs)]
        known = [100 * run["accuracy"] for run in runs if run is not None]
        if len(known) == scope.runs:
            accuracies[rival.key] = [fmean(known), stdev(known) if len(known) > 1 else 0.0]
    return {
        "data": database.title if accuracies else f"{database.title} ({NOT_AVAILABLE})",
        "name": database.name,
        "is_counted": database.is_counted,
        **accuracies,
    }


def _standing_table(rivals: list[Rival], rows: list[Row], scope: Scope, results: Results) -> Table:
    """Rank the models on the databases that all of them have finished."""
    complete = [r for r in rows if r["is_counted"] and all(rival.key in r for rival in rivals)]
    names = [row["name"] for row in complete]
    notes = [
        "No database is complete, so nothing can be ranked.",
        "A tie for first place counts as a win for each model that shares it. Learning is the "
        "time for one half of a database, summed over the databases, mean of the runs; choosing "
        "is the time to choose k and theta, with default settings everything that is open. SOLAH "
        "auto follows simple rules instead of choosing, and is not ranked.",
    ]
    lines, facts = [], {}
    if complete:
        ranked = [rival.key for rival in rivals if rival.is_ranked]
        ranking = compare(np.array([[row[key][0] for key in ranked] for row in complete]))
        notes[0] = _verdict(ranking, len(complete))
        facts = {"databases": names, **_tests(ranking)}
        lines = [
            {
                "model": rival.title,
                "key": rival.key,
                "accuracy": fmean(row[rival.key][0] for row in complete),
                **_place(ranking, ranked, rival.key),
                **_seconds(rival, names, scope, results),
            }
            for rival in rivals
        ]
    title = "Comparison: ranks of the models"
    table = make_table("comparison-standing", title, _STANDING, lines, notes)
    return {**table, "facts": facts}


def _place(ranking: Ranking, ranked: list[str], key: str) -> Row:
    if key not in ranked:
        return {}
    place = ranked.index(key)
    return {"wins": ranking.wins[place], "rank": ranking.ranks[place]}


def _seconds(rival: Rival, names: list[str], scope: Scope, results: Results) -> Row:
    """Add up the time over the databases; the mean of the runs."""
    runs = [
        results[cell]
        for database in scope.databases
        if database.name in names
        for cell in rival.cells(database, scope.runs)
    ]
    return {
        key: sum(float(run[key]) for run in runs) / scope.runs
        for key in ("learning_seconds", "choosing_seconds")
    }


def _tests(ranking: Ranking) -> Row:
    return {"p_value": ranking.p_value, "critical_difference": ranking.critical_difference}


def _verdict(ranking: Ranking, n_sets: int) -> str:
    if ranking.p_value is None:
        return "Too few databases or models for a test."
    return (
        f"Friedman's test of {len(ranking.ranks)} models on {n_sets} databases: "
        f"p = {ranking.p_value:.2g}. Nemenyi's critical difference at {LEVEL}: mean ranks that "
        f"differ by less than {ranking.critical_difference:.2f} do not differ significantly."
    )


def _printed_table(scope: Scope) -> Table:
    rows = [
        {"data": one.title, **{key: list(pair) for key, pair in vars(one.rivals).items()}}
        for one in scope.counted
    ]
    columns = [(key, title, "percent") for key, title in PAPERS.items()]
    return make_table(
        "comparison-printed",
        "Comparison: what the paper prints",
        (("data", "data", "text"), *columns),
        rows,
        ["C4.5, naive Bayes and the neural network are WEKA's, as the paper quotes them."],
    )


def _printed_standing(scope: Scope) -> Table:
    scores = np.array([[vars(one.rivals)[key][0] for key in PAPERS] for one in scope.counted])
    ranking = compare(scores)
    rows = [
        {"model": title, "accuracy": float(mean), "wins": wins, "rank": rank}
        for title, mean, wins, rank in zip(
            PAPERS.values(), scores.mean(axis=0), ranking.wins, ranking.ranks, strict=True
        )
    ]
    table = make_table(
        "comparison-printed-standing",
        "Comparison: ranks of the paper's figures",
        _STANDING[:4],
        rows,
        [
            f"{_verdict(ranking, len(scores))} The paper has no such test; this one uses the "
            "figures that it prints."
        ],
    )
    return {**table, "facts": _tests(ranking)}


def _notes(scope: Scope) -> list[str]:
    notes = [
        f"Mean ± standard deviation of {scope.runs} runs. Each trains on one half of the rows "
        "(stratified, shuffled with the run's number) and tests on the other; all models get the "
        "same halves.",
        "The models of scikit-learn have default settings except: "
        "DecisionTreeClassifier(criterion='entropy', random_state=run); GaussianNB and "
        "CategoricalNB combined; MLPClassifier(max_iter=500, random_state=run) on scaled numbers "
        "and indicators, its convergence warnings silenced. Missing values: the tree handles "
        "them itself, the others take the training mean of numbers; a missing state is a state "
        "of its own for naive Bayes and has no indicator for the others.",
    ]
    if scope.optlah:
        notes.append(
            f"OptLAH: a genetic search for the hierarchy, population {scope.population}, "
            f"{scope.generations} generations, scored by accuracy on held-out training rows, "
            "trees of at most 8 inputs; only on the paper's twelve databases."
        )
    return [*notes, choice_note()]
