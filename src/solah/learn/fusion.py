"""Trees whose evidence is added up, each with a weight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import softmax
from solah.learn.evidence import EvidenceModel, RoutedRows
from solah.learn.growth import COUNTED
from solah.learn.levels import train_level
from solah.learn.memory import MemoryRows
from solah.learn.nodes import TreeNode
from solah.learn.surrogate import refine
from solah.model import Fusion, Model
from solah.model.joining import with_leaves
from solah.model.structure import Hierarchy, HierarchyNode, fresh_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.growth import TreeSettings
    from solah.learn.rows import Rows
    from solah.model import Node, Tree
    from solah.model.joining import JoinedTree

# The evidence of a tree in the model, over what it would be alone, is looked for between these.
_WEAKEST, _STRONGEST = 0.002, 8.0
_HALVINGS = 14
# Scores of rows that can be told apart for sure would grow without end; a penalty that makes them
# less than half as large as they should be is not believed.
_WEAKEST_OF_ALL = 0.5


@dataclass(frozen=True)
class WeighSettings:
    """How fusions weigh evidence.

    Attributes
    ----------
    penalty : what a score of 1 costs, in rows
    max_rules : the most rules in all trees together
    rule_cost : how many nats a rule must be worth to stay
    """

    penalty: float = 2.0
    max_rules: int | None = None
    rule_cost: float = 0.0


def train_weighed(
    hierarchy: Hierarchy,
    rows: Rows,
    kinds: Mapping[str, str],
    growth: TreeSettings,
    settings: WeighSettings,
) -> Model:
    """Train the trees of a hierarchy whose junctions weigh evidence.

    Parameters
    ----------
    hierarchy : Hierarchy
        As ``with_fusions`` returns it: nodes are fed by attributes or by nodes, not by both.
    rows : Rows
    kinds : mapping of node name to ``"tree"`` or ``"cmac"``
    growth : TreeSettings
    settings : WeighSettings

    Returns
    -------
    model : Model
        Without the trees that have no evidence.
    """
    trees = grow_trees(hierarchy, rows, kinds, growth)
    model, n_classes = EvidenceModel.of(trees), rows.facts.goal.size
    sample = rows if isinstance(rows, MemoryRows) and not rows.is_many else rows.draw()
    routed = routed_rows(trees, sample)
    if not rows.is_many:
        model, parameters = model.fit_joined(
            routed,
            n_classes,
            settings.penalty,
            max_rules=settings.max_rules,
            rule_cost=settings.rule_cost,
        )
    else:
        model, parameters = refine(
            model,
            routed,
            rows,
            n_classes,
            settings.penalty,
            max_rules=settings.max_rules,
            rule_cost=settings.rule_cost,
        )
        # The weights of trees part their scores into evidence and weight, to two digits.
        routed = routed_rows(trees, sample.draw(rows.limits.strength_rows))
    return _fused(hierarchy, model, parameters, routed, rows)


def _fused(
    hierarchy: Hierarchy,
    model: EvidenceModel,
    parameters: Float,
    routed: RoutedRows,
    rows: Rows,
) -> Model:
    """Make a model of fitted scores, without the trees that have no evidence."""
    prior = np.array(rows.facts.prior)
    nodes = _Fusing(hierarchy, model, model.scores(parameters), routed, prior).nodes()
    used = {name for node in nodes for name in node.origins}
    attributes = tuple(a for a in rows.attributes if a.name in used)
    return Model(rows.facts.goal, attributes, nodes)


def with_fusions(hierarchy: Hierarchy, attributes: Sequence[str]) -> Hierarchy:
    """Let every junction be fed by nodes only: its own attributes get a tree of their own.

    Examples
    --------
    >>> hierarchy = Hierarchy.parse("z1 <- a, b; y <- z1, c")
    >>> print(with_fusions(hierarchy, ["a", "b", "c"]))
    z1 <- a, b; y_own <- c; y <- z1, y_own
    """
    nodes: list[HierarchyNode] = []
    taken = {*attributes, *(node.name for node in hierarchy.nodes)}
    for node in hierarchy.nodes:
        below, own = hierarchy.children(node.name), hierarchy.attributes_of(node.name)
        if own and (below or node.name == hierarchy.root):
            name = fresh_name(f"{node.name}_own", taken)
            taken.add(name)
            nodes += [HierarchyNode(name, own), HierarchyNode(node.name, (*below, name))]
        else:
            nodes.append(node)
    return Hierarchy(tuple(nodes))


def kinds_of_trees(kinds: Mapping[str, str], wired: Hierarchy) -> dict[str, str]:
    """Give the trees that ``with_fusions`` made the kind of the junction they were made for."""
    parents = {name: node.name for node in wired.nodes for name in node.inputs}
    return {
        node.name: kinds.get(node.name, kinds.get(parents.get(node.name, ""), "tree"))
        for node in wired.nodes
    }


def grow_trees(
    hierarchy: Hierarchy, rows: Rows, kinds: Mapping[str, str], growth: TreeSettings
) -> tuple[Tree, ...]:
    """Grow the trees at the bottom of a hierarchy; their scores are fitted later."""
    growth = replace(growth, leaves=COUNTED, max_rules=None, rule_cost=0.0)
    bottom = [node for node in hierarchy.nodes if not hierarchy.children(node.name)]
    trained = train_level(bottom, rows, kinds=kinds, growth=growth)
    return tuple(node.tree for node in trained if isinstance(node, TreeNode))


def routed_rows(trees: Sequence[Tree], rows: MemoryRows) -> RoutedRows:
    """Walk the training rows through trees."""
    goal = rows.goal
    return RoutedRows.gather(
        trees,
        rows.labels,
        rows.described.places,
        goal.codes,
        goal.weights,
        goal.weight_unit,
        rows.n_threads,
    )


class _Fusing:
    """Turns fitted scores into beliefs of trees and weights of fusions.

    The score of a branch is its belief over the prior, in logarithms, times the weight of its tree.
    That weight is chosen so that the tree's beliefs suit the tree alone, as far as all scores
    together suit the rows: a tree with a weight below 1 shares its information with others, and a
    tree that is alone has the weight 1.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        model: EvidenceModel,
        scores: Float,
        rows: RoutedRows,
        prior: Float,
    ) -> None:
        self.hierarchy, self.model = hierarchy, model
        self.rows = rows.through(model.places)
        self.start = np.log(np.maximum(prior, 1e-300))
        self.start -= self.start.mean()
        self.numbers = {
            tree.name: numbers for tree, numbers in zip(model.trees, model.numbers, strict=True)
        }
        self.scores = self._centred(scores)
        self.branches = self._branches_below()
        self.strength_of_all = max(self._strength(hierarchy.root), _WEAKEST_OF_ALL)

    def nodes(self) -> tuple[Node, ...]:
        """Return trees and fusions, from bottom to top, without those that have no evidence."""
        trees = {
            tree.name: (tree, joined)
            for tree, joined in zip(self.model.trees, self.model.joined, strict=True)
        }
        strength = {self.hierarchy.root: 1.0}
        nodes: list[Node] = []
        for node in reversed(self.hierarchy.nodes):
            if node.name not in strength:
                continue
            if node.name in trees:
                nodes.append(self._tree(*trees[node.name], strength[node.name]))
                continue
            origins = [name for name in node.inputs if len(self.branches[name])]
            weights = [self._weight(name, strength[node.name]) for name in origins]
            for name, weight in zip(origins, weights, strict=True):
                strength[name] = strength[node.name] * weight
            is_root = node.name == self.hierarchy.root
            bias = self.scores[-1] - self.scores[-1].mean() if is_root else self.start
            nodes.append(Fusion(node.name, tuple(origins), tuple(weights), tuple(bias.tolist())))
        return tuple(reversed(nodes))

    def _centred(self, scores: Float) -> Float:
        """Let each tree's evidence be 0 on average over the rows; the bias takes the rest."""
        centred = scores.copy()
        leaf_scores = self.model.leaf_scores(scores)
        for tree, numbers, of_tree in zip(
            self.model.trees, self.model.numbers, leaf_scores, strict=True
        ):
            weight = tree.support[tree.leaves]
            mean = (weight @ of_tree[tree.leaves]) / max(float(weight.sum()), 1e-300)
            centred[numbers[numbers > 0]] -= mean
            centred[-1] += mean
        centred[0] = 0.0
        return centred

    def _branches_below(self) -> dict[str, NDArray[np.intp]]:
        """Find the branches below each node; where there are none at all, let one tree stay."""
        branches = {name: numbers[numbers > 0] for name, numbers in self.numbers.items()}
        if not any(map(len, branches.values())):
            branches[next(iter(branches))] = np.zeros(1, dtype=np.intp)
        for node in self.hierarchy.nodes:
            if node.name not in branches:
                branches[node.name] = np.concatenate([branches[name] for name in node.inputs])
        return branches

    def _weight(self, name: str, strength_above: float) -> float:
        """Find the weight of a node, to two digits, given the strength of its parent."""
        is_all = len(self.branches[name]) == len(self.branches[self.hierarchy.root])
        strength = 1.0 if is_all else self._strength(name) / self.strength_of_all
        return max(round(strength / strength_above, 2), 0.01)

    def _strength(self, name: str) -> float:
        """Return a node's evidence over what would suit the training rows if it were alone.

        It suits them if a bit more or less of it makes their classes no more likely. All scores
        together are smaller than that, for they are penalised.
        """
        alone = np.zeros_like(self.scores)
        alone[self.branches[name]] = self.scores[self.branches[name]]
        if not alone.any():
            return 1.0
        wanted = np.zeros(len(alone), dtype=bool)
        wanted[self.branches[name]] = wanted[-1] = True
        rows = self.rows.only(wanted)
        weak, strong = np.log(_WEAKEST), np.log(_STRONGEST)
        for _ in range(_HALVINGS):
            middle = (weak + strong) / 2
            scaled = alone * np.exp(-middle)
            scaled[-1] = self.start
            _, slope = rows.likelihood(scaled)
            # Where more evidence would be better, the scores are those of a weaker tree.
            if float((slope * alone).sum()) < 0:
                strong = middle
            else:
                weak = middle
        return float(np.exp((weak + strong) / 2))

    def _tree(self, tree: Tree, joined: JoinedTree, strength: float) -> Tree:
        scores = self.scores[self.numbers[tree.name]] / strength
        prior = np.tile(np.exp(self.start), (len(scores), 1))
        belief = softmax(scores + np.log(prior))
        named = with_leaves(tree, joined, belief)
        # Evidence is told from the root's belief, which therefore is the prior itself.
        named.belief[0] = prior[0] / prior[0].sum()
        return _without_idle_inputs(named)


def _without_idle_inputs(tree: Tree) -> Tree:
    """Forget the inputs that no branch asks for; a tree without branches keeps its first."""
    asked = np.unique(tree.split[tree.split >= 0])
    kept = asked if len(asked) else np.zeros(1, dtype=np.intp)
    numbers = np.full(len(tree.inputs) + 1, -1, dtype=np.int32)  # the last is that of leaves
    numbers[asked] = np.arange(len(asked))
    return replace(
        tree, inputs=tuple(tree.inputs[j] for j in kept.tolist()), split=numbers[tree.split]
    )
