"""Open settings in, those that decide best on rows not learnt from out, and what was tried.

One thing after another is varied, from what matters most to what matters least, and the best so
far goes on. At the end, of all that was tried and is not told apart from the best by the rows at
hand (one standard error of the difference in log-loss), the one with the fewest rules is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import Parallel, delayed

from solah.exceptions import TooManyCombinationsError
from solah.kernels.sums import negative_log
from solah.learn.evidence import EvidenceModel, RoutedRows
from solah.learn.folds import piecewise_folds
from solah.learn.fusion import grow_trees, routed_rows
from solah.learn.levels import train_nodes
from solah.learn.memory import MemoryRows, is_large
from solah.learn.nodes import TreeNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from solah.data import Table
    from solah.kernels.arrays import Float, Int64
    from solah.labels.describe import Description
    from solah.labels.goals import ClassGoal
    from solah.labels.placement import Placement
    from solah.learn.growth import TreeSettings
    from solah.model.structure import Hierarchy

    Describe = Callable[["Setting", Table, Int64], Description]
    Wire = Callable[["Setting"], Hierarchy]
    Growth = Callable[["Setting", Int64, float], TreeSettings]

AUTO: Literal["auto"] = "auto"
PENALTIES = (0.5, 2.0, 8.0)
"""What scores may cost, from bold to cautious."""
PENALTIES_OF_MANY = (0.02, 0.1, 0.5, 2.0)
"""The same where there are many rows, which can bear bolder ones."""
RULE_COSTS = (0.25, 0.5, 1.0)
"""What rules may have to be worth, in nats."""


@dataclass(frozen=True)
class Setting:
    """One way to learn a self-organised hierarchy; the estimator's parameters explain them."""

    fusion: Literal["weigh", "tree"] = "weigh"
    n_clusters: int | Literal["auto", "each"] = "each"
    level_gap: float | Literal["auto"] = AUTO
    n_labels: int | Mapping[str, int] = 3
    placement: Placement = "quantile"
    min_support: float = 0.03
    penalty: float = 2.0
    rule_cost: float = 0.0
    shrinkage: float = 0.0
    belief_labels: int | None = None


WEIGH_SETTING = Setting()
TREE_SETTING = Setting(fusion="tree", n_clusters=AUTO, min_support=0.01)
"""What to begin with."""


@dataclass(frozen=True)
class Trial:
    """What was tried, and what came of it.

    Attributes
    ----------
    stage : what was being varied
    setting : the settings
    n_rules : the mean number of rules over the folds
    log_loss : the mean log-loss on rows not learnt from
    error : the standard error of how much more that is than the best trial's
    is_chosen : whether it was taken in the end
    """

    stage: str
    setting: Setting
    n_rules: float
    log_loss: float
    error: float = math.inf
    is_chosen: bool = False

    @property
    def score(self) -> float:
        """The negative log-loss: larger is better."""
        return -self.log_loss

    def __str__(self) -> str:
        return f"{self.stage}: log-loss {self.log_loss:.4f}, {self.n_rules:.0f} rules"


@dataclass(frozen=True)
class Choice:
    """What was chosen, and of what.

    Attributes
    ----------
    setting : the settings to go on with
    trials : what was tried, in order
    reason : why, in a sentence
    """

    setting: Setting
    trials: tuple[Any, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Search:
    """What there is to choose by.

    Attributes
    ----------
    describe, wire, growth : how a setting becomes words, a hierarchy and settings of trees
    kinds : what stands at the nodes of a setting's hierarchy
    admits : whether a setting may be tried
    cross_fit : as the estimators have it
    n_folds : the folds to compare on
    time_budget : no further setting is tried after so many seconds
    n_jobs : how many folds of a large table are worked on at a time, as joblib has it
    """

    describe: Describe
    wire: Wire
    growth: Growth
    kinds: Callable[[Setting, Hierarchy], Mapping[str, Any]]
    admits: Callable[[Setting], bool]
    cross_fit: int | None = None
    n_folds: int = 5
    time_budget: float | None = None
    n_jobs: int | None = None

    def choose(
        self,
        given: Sequence[Setting],
        open_: frozenset[str],
        data: MemoryRows,
        tried: Callable[[Trial], None],
    ) -> Choice:
        """Vary what is open, starting from the given settings, and choose.

        Parameters
        ----------
        given : sequence of Setting
        open_ : frozenset of str
            The names of the settings that may vary.
        data : MemoryRows
            The rows, as the first setting describes them.
        tried : callable
            Told of every trial.

        Returns
        -------
        choice : Choice
            The first setting where rows are too few to compare anything.
        """
        folds = self._folds(data)
        if not folds:
            return Choice(given[0], (), "there are too few rows to compare settings")
        if not any(attribute.is_continuous for attribute in data.attributes):
            open_ -= {"n_labels", "placement"}  # states are words by themselves
        sizes = len(folds[0].goal.codes), len(data.attributes)
        n_jobs, bold_rows = self.n_jobs if is_large(*sizes) else 1, data.limits.bold_rows
        comparison = _Comparison(folds, n_jobs, tried, bold_rows)
        start = perf_counter()
        for stage, vary in _Stages(given, open_, *sizes, bold_rows):
            for setting in vary(comparison.best or given[0]):
                if not self.admits(setting) or comparison.knows(setting, self.wire(setting)):
                    continue
                is_late = self.time_budget is not None and (
                    perf_counter() - start > self.time_budget
                )
                if comparison.trials and is_late:
                    return comparison.settle("the time was over")
                try:
                    comparison.add(stage, setting, open_)
                except TooManyCombinationsError:
                    if setting in given:
                        raise  # what others cannot hold is just no choice
        return comparison.settle()

    def _folds(self, data: MemoryRows) -> list[_Fold]:
        """Put rows into folds by what they say; none where they cannot be compared."""
        data = _enough_rows(data)
        goal = data.goal
        plain = goal.plain_weights / goal.weight_unit
        labels = data.labels
        dealt = piecewise_folds(labels, goal.codes, goal.weights, plain, self.n_folds)
        if dealt is None:
            return []
        return [_Fold(self, data.table, goal, tested) for tested in dealt if tested.any()]


def _enough_rows(data: MemoryRows) -> MemoryRows:
    """Take the rows that have weight; of very many, some, whatever order they stand in."""
    enough = data.limits.rows_to_select_by(len(data.attributes), data.goal.goal.size)
    if np.count_nonzero(data.goal.weights) > enough:
        return data.draw(enough)
    return data.used()


@dataclass(frozen=True)
class _Stages:
    """What is varied, in order; each stage starts from the best so far.

    Attributes
    ----------
    given : the settings to begin with
    open_ : what may vary
    n_rows, n_attributes : how much there is to choose by
    bold_rows : from so many rows on, more words and smaller supports are tried
    """

    given: Sequence[Setting]
    open_: frozenset[str]
    n_rows: int
    n_attributes: int
    bold_rows: int

    def __iter__(self) -> Iterator[tuple[str, Callable[[Setting], Iterator[Setting]]]]:
        yield "structure", self._structures
        yield "levels", self._levels
        yield "words", self._words
        yield "placement", self._placements
        yield "support", self._supports
        yield "beliefs", self._beliefs
        yield "penalty", self._penalties
        yield "rules", self._rule_costs

    def _vary(self, name: str, values: Sequence[Any], best: Setting) -> Iterator[Setting]:
        if name in self.open_:
            yield from (replace(best, **{name: value}) for value in values)

    def _structures(self, best: Setting) -> Iterator[Setting]:
        yield from self.given
        if self.n_attributes > 1:
            others = (AUTO, 1) if best.fusion == "weigh" else (2, 4, 8)
            yield from self._vary("n_clusters", others, best)
            if "fusion" in self.open_:
                names = self.open_ & {"n_clusters", "min_support"}
                middle = {name: getattr(TREE_SETTING, name) for name in names}
                yield replace(best, fusion="tree", **middle)

    def _levels(self, best: Setting) -> Iterator[Setting]:
        if best.fusion == "tree":
            yield from self._vary("level_gap", (0.05, 0.2, 1.0), best)

    def _words(self, best: Setting) -> Iterator[Setting]:
        if self.n_rows >= self.bold_rows:
            yield from self._vary("n_labels", (5, 7), best)

    def _placements(self, best: Setting) -> Iterator[Setting]:
        yield from self._vary("placement", ("uniform",), best)

    def _supports(self, best: Setting) -> Iterator[Setting]:
        # Trees of one condition have nothing to stop for.
        if best.fusion == "tree" or best.n_clusters != "each":
            values = (0.01, 0.003) if self.n_rows >= self.bold_rows else (0.01, 0.1)
            others = [value for value in values if value != best.min_support]
            yield from self._vary("min_support", others, best)

    def _beliefs(self, best: Setting) -> Iterator[Setting]:
        if best.fusion == "tree":
            yield from self._vary("shrinkage", (2.0,), best)
            yield from self._vary("belief_labels", (3,), best)

    def _penalties(self, best: Setting) -> Iterator[Setting]:
        if best.fusion == "weigh":
            yield from self._vary("penalty", (best.penalty / 2, best.penalty * 2), best)

    def _rule_costs(self, best: Setting) -> Iterator[Setting]:
        yield from self._vary("rule_cost", RULE_COSTS, best)


class _Comparison:
    """Trials on the same folds."""

    def __init__(
        self,
        folds: Sequence[_Fold],
        n_jobs: int | None,
        tried: Callable[[Trial], None],
        bold_rows: int,
    ) -> None:
        self.folds, self.n_jobs, self.tried, self.bold_rows = folds, n_jobs, tried, bold_rows
        unit = folds[0].goal.weight_unit
        self.weights = np.concatenate([fold.unseen for fold in folds]) * unit
        self.trials: list[Trial] = []
        self._losses: list[Float] = []
        self._known: set[tuple[str, str]] = set()

    @property
    def best(self) -> Setting | None:
        """The setting with the least log-loss so far."""
        if not self.trials:
            return None
        return min(self.trials, key=lambda trial: trial.log_loss).setting

    def knows(self, setting: Setting, hierarchy: Hierarchy) -> bool:
        """Whether the same was tried before under another k or theta; it is known from now on."""
        same = replace(setting, n_clusters=AUTO, level_gap=AUTO)
        key = (repr(same), str(hierarchy))
        is_known = key in self._known
        self._known.add(key)
        return is_known

    def add(self, stage: str, setting: Setting, open_: frozenset[str]) -> None:
        """Try a setting; the first of all with several penalties, where they are open."""
        penalties = [setting.penalty]
        if "penalty" in open_ and setting.fusion == "weigh" and stage == "structure":
            is_many = len(self.weights) >= self.bold_rows
            penalties = list(PENALTIES_OF_MANY if is_many else PENALTIES)
        run = Parallel(n_jobs=self.n_jobs, prefer="threads")
        of_folds = run(delayed(fold.losses)(setting, penalties) for fold in self.folds)
        for number, penalty in enumerate(penalties):
            losses = np.concatenate([fold[number][0] for fold in of_folds])
            n_rules = float(np.mean([fold[number][1] for fold in of_folds]))
            mean = self._mean(losses)
            self.trials.append(Trial(stage, replace(setting, penalty=penalty), n_rules, mean))
            self._losses.append(losses)
            self.tried(self.trials[-1])

    def settle(self, note: str = "") -> Choice:
        """Choose the fewest rules among the trials that the rows cannot tell from the best."""
        best = min(range(len(self.trials)), key=lambda i: self.trials[i].log_loss)
        trials = [
            replace(trial, error=self._error(losses - self._losses[best]))
            for trial, losses in zip(self.trials, self._losses, strict=True)
        ]
        least = trials[best].log_loss
        as_good = [i for i, trial in enumerate(trials) if trial.log_loss <= least + trial.error]
        chosen = min(as_good, key=lambda i: (round(trials[i].n_rules, 1), trials[i].log_loss))
        trials[chosen] = replace(trials[chosen], is_chosen=True)
        if len(as_good) == 1:
            reason = f"it has the least log-loss ({least:.4f}) of {len(trials)} settings"
        else:
            reason = (
                f"of {len(trials)} settings, {len(as_good)} are within one standard error of the "
                f"least log-loss ({least:.4f}); this one has the fewest rules "
                f"({trials[chosen].n_rules:.0f})"
            )
        return Choice(
            trials[chosen].setting, tuple(trials), "; ".join(filter(None, [reason, note]))
        )

    def _error(self, differences: Float) -> float:
        spread = self._mean((differences - self._mean(differences)) ** 2)
        return math.sqrt(spread / math.fsum(self.weights.tolist()))

    def _mean(self, values: Float) -> float:
        """Return the weighted mean, rounded once: the order of the rows leaves no trace."""
        return math.fsum((values * self.weights).tolist()) / math.fsum(self.weights.tolist())


class _Fold:
    """Rows to learn from and rows to test on; what was grown last is kept for the next trial."""

    def __init__(self, search: Search, table: Table, goal: ClassGoal, dealt: Int64) -> None:
        self.search, self.table = search, table
        self.tested = np.flatnonzero(dealt)
        self.unseen = dealt[self.tested]
        self.goal = replace(goal, weights=goal.weights - dealt)
        self._grown: dict[str, tuple[EvidenceModel, RoutedRows, RoutedRows]] = {}
        self._described: dict[str, Description] = {}

    def losses(self, setting: Setting, penalties: Sequence[float]) -> list[tuple[Float, int]]:
        """Return the log-losses of the tested rows, and the number of rules, for each penalty."""
        if setting.fusion == "tree":
            return [self._tree_losses(setting)]
        model, rows, unseen = self._choir(setting)
        n_classes = self.goal.goal.size
        found: dict[float, tuple[Float, int]] = {}
        fitted = None
        for penalty in sorted(penalties, reverse=True):  # from cautious to bold
            fewer, fitted = model.fit_joined(
                rows,
                n_classes,
                penalty,
                rule_cost=setting.rule_cost,
                start=None if setting.rule_cost else fitted,
                is_rough=True,
            )
            likelihood, _ = unseen.through(fewer.places).likelihood(fewer.scores(fitted))
            found[penalty] = negative_log(likelihood), fewer.n_rules
        return [found[penalty] for penalty in penalties]

    def _choir(self, setting: Setting) -> tuple[EvidenceModel, RoutedRows, RoutedRows]:
        """Grow trees, and walk all rows through them."""
        key = repr(replace(setting, penalty=0.0, rule_cost=0.0))
        if key not in self._grown:
            data, hierarchy, growth = self._task(setting)
            trees = grow_trees(hierarchy, data, self.search.kinds(setting, hierarchy), growth)
            goal = replace(self.goal, codes=self.goal.codes[self.tested], weights=self.unseen)
            unseen = MemoryRows(data.described.take(self.tested), goal)
            self._grown = {
                key: (
                    EvidenceModel.of(trees),
                    routed_rows(trees, data),
                    routed_rows(trees, unseen),
                )
            }
        return self._grown[key]

    def _tree_losses(self, setting: Setting) -> tuple[Float, int]:
        data, hierarchy, growth = self._task(setting)
        nodes = train_nodes(hierarchy, data, self.search.kinds(setting, hierarchy), growth)
        unseen = data.table.take(self.tested)
        beliefs: dict[str, Float] = {}
        for node in nodes:
            beliefs[node.name] = node.beliefs(unseen, beliefs, 1)
        truth = self.goal.codes[self.tested]
        likelihood = beliefs[hierarchy.root][np.arange(len(truth)), truth]
        n_rules = sum(node.tree.n_rules for node in nodes if isinstance(node, TreeNode))
        return negative_log(likelihood), n_rules

    def _describe(self, setting: Setting) -> Description:
        """Describe the rows, unless the trial before did so with the same words."""
        key = repr((setting.n_labels, setting.placement))
        if key not in self._described:
            described = self.search.describe(setting, self.table, self.goal.weights)
            self._described = {key: described}
        return self._described[key]

    def _task(self, setting: Setting) -> tuple[MemoryRows, Hierarchy, TreeSettings]:
        search, goal = self.search, self.goal
        data = MemoryRows(self._describe(setting), goal)
        if search.cross_fit is not None:
            data = data.with_folds(search.cross_fit)
        growth = search.growth(setting, goal.weights, goal.weight_unit)
        return data, search.wire(setting), growth
