"""The models of the tables, described by recipes that estimators are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import solah as library
from reproduction import peers as others
from solah import PAPER

if TYPE_CHECKING:
    from solah.datasets import Dataset

Variant = Literal["paper", "default", ""]

VARIANTS: tuple[Variant, ...] = ("paper", "default")
N_CLUSTERS = tuple(range(2, 11))
MANY_N_CLUSTERS = (*N_CLUSTERS, 15, 25)
"""The k to choose from: the paper's own for messages, more for databases (its K is up to 22)."""
LEVEL_GAPS = ("auto", 0.05, 0.1, 0.2, 1.0)
MAX_INPUTS = 12
"""The most inputs of a tree in the hierarchies to choose from; wider trees take minutes."""
LEAST_ROWS = 0.01
"""The rows that a branch must hold to be split, where a single tree would take far too long."""
POPULATION, GENERATIONS = 20, 20

_OURS = {
    "solah": "SelfOrganisedHierarchyClassifier",
    "rules": "RuleClassifier",
    "tree": "LinguisticTreeClassifier",
    "by hand": "LinguisticHierarchyClassifier",
    "optlah": "GeneticHierarchyClassifier",
}
_OTHERS: dict[str, type[others.Peer]] = {
    "entropy tree": others.EntropyTree,
    "naive Bayes": others.MixedNaiveBayes,
    "neural network": others.NeuralNetwork,
}


@dataclass(frozen=True)
class Recipe:
    """What a model is made from: plain values that identify it in the cache.

    Attributes
    ----------
    label : its name in the names of cells
    kind : which estimator it is
    variant : the paper's settings, our default ones, or neither for estimators that are not ours
    parameters : what differs from the variant's settings, as pairs of name and value
    is_seeded : whether the estimator gets the seed of the split
    least_rows : branches with fewer rows are not split; None leaves it to the settings
    """

    label: str
    kind: str
    variant: Variant = ""
    parameters: tuple[tuple[str, Any], ...] = ()
    is_seeded: bool = False
    least_rows: float | None = None

    def make(self, rows: Dataset, n_rows: int, seed: int) -> Any:
        """Make the estimator.

        Parameters
        ----------
        rows : Dataset
            The training data; the estimator gets the types of its columns.
        n_rows : int
            How many of its rows.
        seed : int
            The seed of the split.

        Returns
        -------
        estimator : classifier
        """
        parameters = dict(self.parameters)
        if self.is_seeded:
            parameters["random_state"] = seed
        if not self.variant:
            return _OTHERS[self.kind].for_table(rows.table, rows.kinds, **parameters)
        if self.least_rows is not None:
            parameters["min_support"] = self.least_rows / n_rows
        settings = PAPER if self.variant == "paper" else {}
        is_rules = (self.kind, self.variant) == ("solah", "default")
        estimator = getattr(library, _OURS["rules" if is_rules else self.kind])
        return estimator.with_settings(settings, feature_types=rows.kinds, n_jobs=1, **parameters)


def solah(variant: Variant, k: int | None = None) -> Recipe:
    """Describe a SOLAH whose theta, and k if none is given, are chosen on the training rows.

    With our default settings it chooses all by itself.
    """
    if variant == "default":
        return Recipe("solah", "solah", variant)
    label = "solah" if k is None else f"solah-k{k}"
    return Recipe(label, "solah", variant, _choosing(N_CLUSTERS if k is None else k))


def solah_of_database(variant: Variant) -> Recipe:
    """Describe a SOLAH for databases: more k to choose from, and no tree too wide to finish."""
    if variant == "default":
        return solah(variant)
    parameters = (*_choosing(MANY_N_CLUSTERS), ("max_inputs", MAX_INPUTS))
    return Recipe("solah", "solah", variant, parameters)


def _choosing(n_clusters: int | tuple[int, ...]) -> tuple[tuple[str, Any], ...]:
    return (
        ("n_clusters", n_clusters),
        ("level_gap", LEVEL_GAPS),
        ("scoring", "accuracy"),
        ("n_folds", 3),
    )


def solah_auto(variant: Variant) -> Recipe:
    """Describe a SOLAH with the estimator's own k and theta: with PAPER, by simple rules."""
    return Recipe("solah-auto", "solah", variant)


def single_tree(variant: Variant, *, is_wide: bool = False) -> Recipe:
    """Describe the single tree on all features; the paper's is limited where they are many."""
    is_cut = is_wide and variant == "paper"
    return Recipe("tree", "tree", variant, least_rows=LEAST_ROWS if is_cut else None)


def by_hand(variant: Variant, label: str, wiring: str) -> Recipe:
    """Describe a hierarchy wired by hand."""
    return Recipe(f"by-hand-{label}", "by hand", variant, (("hierarchy", wiring),))


def optlah(
    variant: Variant, population: int = POPULATION, generations: int = GENERATIONS
) -> Recipe:
    """Describe the genetic search for a hierarchy."""
    parameters = (
        ("population_size", population),
        ("n_generations", generations),
        ("scoring", "accuracy"),
    )
    return Recipe("optlah", "optlah", variant, parameters, is_seeded=True)


def peers() -> tuple[Recipe, ...]:
    """Describe the three models of other kinds."""
    return (
        Recipe("entropy-tree", "entropy tree", is_seeded=True),
        Recipe("naive-bayes", "naive Bayes"),
        Recipe("neural-network", "neural network", is_seeded=True),
    )
