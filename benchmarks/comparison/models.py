"""A model's name in, an estimator that has learned nothing yet out; and which names there are."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import solah
from comparison import extras, peers
from comparison.sizes import Size, size_of_rules
from reproduction.models import Recipe, single_tree, solah_auto
from solah.exceptions import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from solah.datasets import Dataset

MANY_ROWS, LEAST_ROWS = 2_000, 10
"""Of sets with more rows than the first, branches below the second are not extended with the
paper's settings: the trees would not end in bearable time."""
FEW_RULES = 20
STEPS = "steps"
"""The name for all models that show what one thing gives."""
SLOW_VALUES = 50_000
"""With more values than this the slowest extras take hours."""

_LEARNING = (
    "data",
    "dependence",
    "estimators",
    "evaluation",
    "kernels",
    "labels",
    "learn",
    "model",
)


@dataclass(frozen=True)
class Model:
    """A model to compare.

    Attributes
    ----------
    name : what the command line and the files call it
    title : what tables call it
    unit : what its size counts: rules, leaves or terms
    about : how it was set, and what its size is, in words
    make : makes the estimator from the rows' set, the number of rows and a seed
    package : the package that it comes from
    module : what to import of it
    is_readable : whether its rules or leaves are few enough to be meant for reading
    most_values : the most values (rows times features) that it learns from in bearable time
    is_step : whether it is one of ours with one thing changed, to see what that thing gives
    """

    name: str
    title: str
    unit: str
    about: str
    make: Callable[[Dataset, int, int], Any]
    package: str = "solah"
    module: str = "solah"
    is_readable: bool = True
    most_values: float = inf
    is_step: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it is one of solah's."""
        return self.package == "solah"

    @property
    def is_extra(self) -> bool:
        """Whether its package need not be there."""
        return self.package not in ("solah", "scikit-learn")

    @property
    def obstacle(self) -> str | None:
        """Why the model is not available; None if it is."""
        if find_spec(self.module) is None:
            return f"{self.name} is skipped, not installed: pip install {self.package}"
        return None

    @property
    def made_with(self) -> str:
        """What its figures depend on beside the settings: a version, and our own source."""
        return f"solah {source_digest()}" if self.is_ours else _version_of(self.package)


def measure_size(estimator: Any) -> Size:
    """Measure what an estimator of this module has learned."""
    return estimator.size() if hasattr(estimator, "size") else size_of_rules(estimator)


def choose_models(names: list[str] | None) -> tuple[Model, ...]:
    """Find models by name, all but the steps if None; raise for one that nobody knows."""
    if names is None:
        return tuple(model for model in MODELS.values() if not model.is_step)
    steps = [name for name, model in MODELS.items() if model.is_step]
    names = [each for name in names for each in (steps if name == STEPS else [name])]
    for name in names:
        if name not in MODELS:
            raise ParameterError(f"there is no model {name!r}{did_you_mean(name, MODELS)}")
    return tuple(MODELS[name] for name in dict.fromkeys(names))


@cache
def source_digest() -> str:
    """Digest the source that decides what our models learn: the version alone moves too seldom."""
    root = Path(solah.__file__).parent
    files = sorted(
        file
        for part in _LEARNING
        for file in (root / part).rglob("*")
        if file.suffix in (".py", ".so", ".pyd")
    )
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _version_of(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package}, version unknown"


def _paper(material: Dataset, n_rows: int, seed: int) -> Any:
    is_large = material.table.n_rows > MANY_ROWS
    recipe = Recipe("solah", "solah", "paper", least_rows=LEAST_ROWS if is_large else None)
    return recipe.make(material, n_rows, seed)


def _peer(kind: type, material: Dataset, n_rows: int, seed: int) -> Any:
    return kind.for_table(material.table, material.kinds, random_state=seed)


def _sklearn(name: str, title: str, unit: str, about: str, kind: type, **more: Any) -> Model:
    make = partial(_peer, kind)
    return Model(name, title, unit, about, make, "scikit-learn", "sklearn", **more)


_OURS = (
    Model(
        "solah",
        "solah",
        "rules",
        "`RuleClassifier()`",
        solah_auto("default").make,
    ),
    Model(
        "solah-20",
        f"solah, {FEW_RULES} rules",
        "rules",
        f"the same with `max_rules={FEW_RULES}`",
        Recipe("solah-20", "solah", "default", (("max_rules", FEW_RULES),)).make,
    ),
    Model(
        "solah-paper",
        "solah, PAPER",
        "rules",
        f"the same with the paper's settings; with more than {MANY_ROWS:,} rows, branches below "
        f"{LEAST_ROWS} rows are not extended",
        _paper,
    ),
    Model(
        "solah-tree",
        "single tree",
        "rules",
        "`LinguisticTreeClassifier()` on all features",
        single_tree("default").make,
    ),
)


def _step(name: str, about: str, **parameters: Any) -> Model:
    recipe = Recipe(name, "solah", "default", tuple(parameters.items()))
    said = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    about = f"`RuleClassifier({said})`: {about}"
    return Model(name, f"solah, {said}", "rules", about, recipe.make, is_step=True)


def _hierarchy(node: str, rows: Dataset, n_rows: int, seed: int) -> Any:
    return solah.SelfOrganisedHierarchyClassifier(node=node, feature_types=rows.kinds, n_jobs=1)


_STEPS = (
    _step("step-learned", "words where the target changes, and nowhere else", words="supervised"),
    _step("step-quantile", "words at equal shares of the rows", words="quantile"),
    _step("step-uniform", "words at equal distances", words="uniform"),
    _step("step-single", "rules of one condition alone", interactions=0),
    _step(
        "step-pairs",
        "sixteen pairs of features, whether they are worth it or not",
        interactions=16,
    ),
    _step("step-all-rules", "every rule stays", max_rules=None),
    _step("step-10", "ten rules at the most", max_rules=10),
    _step("step-40", "forty rules at the most", max_rules=40),
    _step("step-features", "five features at the most", max_features=5),
    Model(
        "step-hierarchy",
        "solah, hierarchy",
        "rules",
        "`SelfOrganisedHierarchyClassifier()`: rule models wired by the paper's algorithms",
        partial(_hierarchy, "rules"),
        is_step=True,
    ),
    Model(
        "step-trees",
        "solah, stacked trees",
        "rules",
        "`SelfOrganisedHierarchyClassifier(node='tree')`: stacked trees as in the paper, with our "
        "trees",
        partial(_hierarchy, "tree"),
        is_step=True,
    ),
)
_SKLEARN = (
    _sklearn("tree", "DecisionTree", "leaves", "`DecisionTreeClassifier()`", peers.Tree),
    _sklearn(
        "pruned-tree",
        "DecisionTree, pruned",
        "leaves",
        "the same, `ccp_alpha` the best of at most ten by accuracy on five inner folds",
        peers.PrunedTree,
    ),
    _sklearn(
        "logistic",
        "logistic regression",
        "terms",
        "`LogisticRegression(max_iter=1000)` on scaled numbers; terms are coefficients",
        peers.LogisticModel,
    ),
    _sklearn(
        "bayes",
        "naive Bayes",
        "terms",
        "normal distributions for numbers, shares for states; terms are distributions, one for "
        "each feature and class",
        peers.NaiveBayes,
    ),
    _sklearn(
        "forest",
        "random forest",
        "leaves",
        "`RandomForestClassifier(n_estimators=100)`, the leaves of all trees",
        peers.Forest,
        is_readable=False,
    ),
    _sklearn(
        "boosting",
        "HistGradientBoosting",
        "leaves",
        "`HistGradientBoostingClassifier()`, the leaves of all trees",
        peers.Boosting,
        is_readable=False,
    ),
)
_EXTRAS = (
    Model(
        "figs",
        "FIGS",
        "rules",
        "`imodels.FIGSClassifier()`, which calls its splits rules",
        partial(_peer, extras.Figs),
        "imodels",
        "imodels",
    ),
    Model(
        "hstree",
        "HSTree",
        "leaves",
        "`imodels.HSTreeClassifier(max_leaf_nodes=20)`",
        partial(_peer, extras.ShrunkTree),
        "imodels",
        "imodels",
    ),
    Model(
        "ebm",
        "EBM",
        "terms",
        "`interpret.glassbox.ExplainableBoostingClassifier()`, with its usual interactions; "
        "terms are shape functions of one or two features",
        partial(_peer, extras.ExplainableBoosting),
        "interpret-core",
        "interpret",
    ),
    Model(
        "ripper",
        "RIPPER",
        "rules",
        "`wittgenstein.RIPPER()` for the rarer of two classes, or for each of several",
        partial(_peer, extras.Ripper),
        "wittgenstein",
        "wittgenstein",
        most_values=SLOW_VALUES,
    ),
    Model(
        "ferl",
        "FERL",
        "rules",
        "`ex_fuzzy.FERL()`",
        partial(_peer, extras.Ferl),
        "ex-fuzzy",
        "ex_fuzzy",
    ),
    Model(
        "deep-ferl",
        "DeepFERL",
        "rules",
        "`ex_fuzzy.DeepFERL()`",
        partial(_peer, extras.DeepFerl),
        "ex-fuzzy",
        "ex_fuzzy",
    ),
    Model(
        "farc",
        "FARC",
        "rules",
        "`ex_fuzzy.FuzzyRulesClassifier()`, in the manner of FARC-HD",
        partial(_peer, extras.Farc),
        "ex-fuzzy",
        "ex_fuzzy",
    ),
    Model(
        "fuzzytree",
        "fuzzytree",
        "leaves",
        "`fuzzytree.FuzzyDecisionTreeClassifier()`",
        partial(_peer, extras.FuzzyTree),
        "fuzzytree",
        "fuzzytree",
        most_values=SLOW_VALUES,
    ),
)
MODELS = {model.name: model for model in (*_OURS, *_STEPS, *_SKLEARN, *_EXTRAS)}
