"""A wiring and rows in, trees and the fusions that weigh them out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.kernels.reference import softmax
from solah.learn.evidence import Choir, SpokenRows
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

# What a tree says in the choir, over what it would say alone, is looked for between these.
_SOFTEST, _LOUDEST = 0.002, 8.0
_HALVINGS = 14
# Rows that can be told apart for sure would have all voices louder without end; a penalty that
# makes them less than half as loud as they should be is not believed.
_SOFTEST_OF_ALL = 0.5
_ROWS_OF_LOUDNESS = 8_192


@dataclass(frozen=True)
class WeighSettings:
    """How fusions weigh evidence.

    Attributes
    ----------
    penalty : what a voice of 1 costs, in rows
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
        Without the trees that have nothing to say.
    """
    trees = grow_trees(hierarchy, rows, kinds, growth)
    choir, n_classes = Choir.of(trees), rows.facts.goal.size
    sample = rows if isinstance(rows, MemoryRows) and not rows.is_many else rows.draw()
    spoken = spoken_rows(trees, sample)
    if not rows.is_many:
        choir, parameters = choir.fit_joined(
            spoken,
            n_classes,
            settings.penalty,
            max_rules=settings.max_rules,
            rule_cost=settings.rule_cost,
        )
    else:
        choir, parameters = refine(
            choir,
            spoken,
            rows,
            n_classes,
            settings.penalty,
            max_rules=settings.max_rules,
            rule_cost=settings.rule_cost,
        )
        # The weights of trees part their scores into evidence and weight, to two digits.
        spoken = spoken_rows(trees, sample.draw(_ROWS_OF_LOUDNESS))
    return _fused(hierarchy, choir, parameters, spoken, rows)


def _fused(
    hierarchy: Hierarchy,
    choir: Choir,
    parameters: Float,
    spoken: SpokenRows,
    rows: Rows,
) -> Model:
    """Make a model of fitted voices, without the trees that say nothing."""
    prior = np.array(rows.facts.prior)
    nodes = _Fusing(hierarchy, choir, choir.voices(parameters), spoken, prior).nodes()
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
    """Grow the trees at the bottom of a hierarchy; their voices are fitted later."""
    growth = replace(growth, leaves=COUNTED, max_rules=None, rule_cost=0.0)
    bottom = [node for node in hierarchy.nodes if not hierarchy.children(node.name)]
    trained = train_level(bottom, rows, kinds=kinds, growth=growth)
    return tuple(node.tree for node in trained if isinstance(node, TreeNode))


def spoken_rows(trees: Sequence[Tree], rows: MemoryRows) -> SpokenRows:
    """Walk the training rows through trees."""
    goal = rows.goal
    return SpokenRows.gather(
        trees,
        rows.labels,
        rows.described.places,
        goal.codes,
        goal.weights,
        goal.weight_unit,
        rows.n_threads,
    )


class _Fusing:
    """Turns fitted voices into beliefs of trees and weights of fusions.

    What a branch says is its belief over the prior, in logarithms, times the weight with which
    its tree is heard. That weight is chosen so that the tree's beliefs suit the tree alone, as far
    as all voices together suit the rows: one that is heard with less than 1 says in part what
    others say too, and a tree that is alone has the weight 1.
    """

    def __init__(
        self, hierarchy: Hierarchy, choir: Choir, voices: Float, rows: SpokenRows, prior: Float
    ) -> None:
        self.hierarchy, self.choir = hierarchy, choir
        self.rows = rows.through(choir.places)
        self.start = np.log(np.maximum(prior, 1e-300))
        self.start -= self.start.mean()
        self.numbers = {
            tree.name: numbers for tree, numbers in zip(choir.trees, choir.numbers, strict=True)
        }
        self.voices = self._centred(voices)
        self.branches = self._branches_below()
        self.loudness_of_all = max(self._loudness(hierarchy.root), _SOFTEST_OF_ALL)

    def nodes(self) -> tuple[Node, ...]:
        """Return trees and fusions, from bottom to top, without those that say nothing."""
        trees = {
            tree.name: (tree, joined)
            for tree, joined in zip(self.choir.trees, self.choir.joined, strict=True)
        }
        loudness = {self.hierarchy.root: 1.0}
        nodes: list[Node] = []
        for node in reversed(self.hierarchy.nodes):
            if node.name not in loudness:
                continue
            if node.name in trees:
                nodes.append(self._tree(*trees[node.name], loudness[node.name]))
                continue
            origins = [name for name in node.inputs if len(self.branches[name])]
            weights = [self._weight(name, loudness[node.name]) for name in origins]
            for name, weight in zip(origins, weights, strict=True):
                loudness[name] = loudness[node.name] * weight
            is_root = node.name == self.hierarchy.root
            bias = self.voices[-1] - self.voices[-1].mean() if is_root else self.start
            nodes.append(Fusion(node.name, tuple(origins), tuple(weights), tuple(bias.tolist())))
        return tuple(reversed(nodes))

    def _centred(self, voices: Float) -> Float:
        """Let each tree say nothing on average over the training rows, and the bias the rest."""
        centred = voices.copy()
        spoken = self.choir.spoken(voices)
        for tree, numbers, said in zip(self.choir.trees, self.choir.numbers, spoken, strict=True):
            weight = tree.support[tree.leaves]
            mean = (weight @ said[tree.leaves]) / max(float(weight.sum()), 1e-300)
            centred[numbers[numbers > 0]] -= mean
            centred[-1] += mean
        centred[0] = 0.0
        return centred

    def _branches_below(self) -> dict[str, NDArray[np.intp]]:
        """Find the branches that speak through each node; where none does, let one tree stay."""
        branches = {name: numbers[numbers > 0] for name, numbers in self.numbers.items()}
        if not any(map(len, branches.values())):
            branches[next(iter(branches))] = np.zeros(1, dtype=np.intp)
        for node in self.hierarchy.nodes:
            if node.name not in branches:
                branches[node.name] = np.concatenate([branches[name] for name in node.inputs])
        return branches

    def _weight(self, name: str, loudness_above: float) -> float:
        """Find how loudly to hear a node, to two digits, given how loudly its parent is heard."""
        speaks_for_all = len(self.branches[name]) == len(self.branches[self.hierarchy.root])
        loudness = 1.0 if speaks_for_all else self._loudness(name) / self.loudness_of_all
        return max(round(loudness / loudness_above, 2), 0.01)

    def _loudness(self, name: str) -> float:
        """Return what a node says, over what would suit the training rows if it were alone.

        Its evidence suits them if a bit more or less of it makes their classes no more likely. All
        voices together are softer than that, for they are penalised.
        """
        alone = np.zeros_like(self.voices)
        alone[self.branches[name]] = self.voices[self.branches[name]]
        if not alone.any():
            return 1.0
        heard = np.zeros(len(alone), dtype=bool)
        heard[self.branches[name]] = heard[-1] = True
        rows = self.rows.only(heard)
        soft, loud = np.log(_SOFTEST), np.log(_LOUDEST)
        for _ in range(_HALVINGS):
            middle = (soft + loud) / 2
            softer = alone * np.exp(-middle)
            softer[-1] = self.start
            _, slope = rows.weigh(softer)
            # Where more evidence would be better, the voices are those of a softer tree.
            if float((slope * alone).sum()) < 0:
                loud = middle
            else:
                soft = middle
        return float(np.exp((soft + loud) / 2))

    def _tree(self, tree: Tree, joined: JoinedTree, loudness: float) -> Tree:
        voices = self.voices[self.numbers[tree.name]] / loudness
        prior = np.tile(np.exp(self.start), (len(voices), 1))
        belief = softmax(voices + np.log(prior))
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
