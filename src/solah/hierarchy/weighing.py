"""A wiring and rows in, trees and the fusions that weigh them out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from solah.hierarchy.choir import Choir, Speaking, SpokenRows, sum_up
from solah.hierarchy.nodes import TreeNode
from solah.hierarchy.refining import refine
from solah.hierarchy.training import is_large, train_node
from solah.kernels.choose import map_slices
from solah.kernels.reference import softmax
from solah.labels.drawing import MANY_ROWS
from solah.model import Fusion, Model
from solah.model.joining import with_leaves
from solah.model.structure import Hierarchy, HierarchyNode, fresh_name
from solah.tree.leaves import COUNTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from solah.hierarchy.refining import AllRows
    from solah.hierarchy.training import TrainingSet
    from solah.kernels.arrays import Float, Int64
    from solah.model import Node, Tree
    from solah.model.joining import JoinedTree
    from solah.tree.growth import TreeSettings

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
    data: TrainingSet,
    kinds: Mapping[str, str],
    growth: TreeSettings,
    settings: WeighSettings,
    n_threads: int = 1,
) -> Model:
    """Train the trees of a hierarchy whose junctions weigh evidence.

    Parameters
    ----------
    hierarchy : Hierarchy
        As ``with_fusions`` returns it: nodes are fed by attributes or by nodes, not by both.
    data : TrainingSet
    kinds : mapping of node name to ``"tree"`` or ``"cmac"``
    growth : TreeSettings
    settings : WeighSettings
    n_threads : int, default=1

    Returns
    -------
    model : Model
        Without the trees that have nothing to say.
    """
    goal = data.goal
    if not is_large(len(goal.codes), len(data.attributes)):
        n_threads = 1
    trees = grow_trees(hierarchy, data, kinds, growth, n_threads)
    if len(goal.codes) > MANY_ROWS:
        rows = RowsAtHand(data, n_threads)
        return weigh_many(hierarchy, trees, data.draw(), rows, goal.prior, settings, n_threads)
    spoken = spoken_rows(trees, data, n_threads)
    choir, parameters = Choir.of(trees).fit_joined(
        spoken,
        goal.goal.size,
        settings.penalty,
        max_rules=settings.max_rules,
        rule_cost=settings.rule_cost,
    )
    return _fused(hierarchy, choir, parameters, spoken, data, goal.prior)


def weigh_many(
    hierarchy: Hierarchy,
    trees: Sequence[Tree],
    few: TrainingSet,
    rows: AllRows,
    prior: Sequence[float],
    settings: WeighSettings,
    n_threads: int = 1,
) -> Model:
    """Weigh what trees say to very many rows, of which a few are at hand.

    Parameters
    ----------
    hierarchy : Hierarchy
        As ``with_fusions`` returns it.
    trees : sequence of Tree
        The trees at its bottom.
    few : TrainingSet
        A sample of the rows.
    rows : AllRows
        Whoever can pass over all of them.
    prior : the share of each class in all rows
    settings : WeighSettings
    n_threads : int, default=1
    """
    choir, parameters = refine(
        Choir.of(trees),
        spoken_rows(trees, few, n_threads),
        rows,
        few.goal.goal.size,
        settings.penalty,
        max_rules=settings.max_rules,
        rule_cost=settings.rule_cost,
    )
    # How loudly trees are heard parts what they say into evidence and weight, to two digits.
    fewer = spoken_rows(trees, few.draw(_ROWS_OF_LOUDNESS), n_threads)
    return _fused(hierarchy, choir, parameters, fewer, few, prior)


@dataclass(frozen=True, eq=False)
class RowsAtHand:
    """All rows, where they are in memory."""

    data: TrainingSet
    n_threads: int = 1

    @property
    def weight(self) -> float:
        """What all rows count for."""
        return float(self.data.goal.weights.sum())

    @property
    def one_row(self) -> float:
        """What a row without a weight of its own counts for."""
        return 1 / self.data.goal.weight_unit

    def surprise(self, choir: Choir, voices: Float) -> tuple[Int64, Float]:
        """Return the sum of rows' losses, as ``exact_sum`` has it, and how it grows."""
        goal, labels = self.data.goal, self.data.described.labels
        speaking = Speaking(choir.forest(self.data.attributes), voices)

        def listen(rows: slice) -> tuple[Int64, Int64]:
            return speaking.surprise(labels[rows], goal.codes[rows], goal.weights[rows])

        parts = map_slices(listen, len(labels), self.n_threads)
        losses, slopes = zip(*parts, strict=True)
        return sum_up(losses), sum_up(slopes).astype(np.float64)


def _fused(
    hierarchy: Hierarchy,
    choir: Choir,
    parameters: Float,
    rows: SpokenRows,
    data: TrainingSet,
    prior: Sequence[float],
) -> Model:
    """Make a model of fitted voices, without the trees that say nothing."""
    nodes = _Fusing(hierarchy, choir, choir.voices(parameters), rows, np.array(prior)).nodes()
    used = {name for node in nodes for name in node.origins}
    attributes = tuple(a for a in data.attributes if a.name in used)
    return Model(data.goal.goal, attributes, nodes)


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
    hierarchy: Hierarchy,
    data: TrainingSet,
    kinds: Mapping[str, str],
    growth: TreeSettings,
    n_threads: int = 1,
) -> tuple[Tree, ...]:
    """Grow the trees at the bottom of a hierarchy, in parallel; their voices are fitted later."""
    growth, bottom = grown_settings(growth), bottom_nodes(hierarchy)

    def grow(node: HierarchyNode) -> Tree:
        trained = train_node(node, data, {}, kinds[node.name], growth)
        assert isinstance(trained, TreeNode)
        return trained.tree

    if n_threads == 1:
        return tuple(map(grow, bottom))
    with ThreadPoolExecutor(n_threads) as pool:
        return tuple(pool.map(grow, bottom))


def grown_settings(growth: TreeSettings) -> TreeSettings:
    """Return how trees grow whose voices are fitted later."""
    return replace(growth, leaves=COUNTED, max_rules=None, rule_cost=0.0)


def bottom_nodes(hierarchy: Hierarchy) -> list[HierarchyNode]:
    """Return the nodes that are trees: those that no node feeds."""
    return [node for node in hierarchy.nodes if not hierarchy.children(node.name)]


def spoken_rows(trees: Sequence[Tree], data: TrainingSet, n_threads: int = 1) -> SpokenRows:
    """Walk the training rows through trees."""
    goal = data.goal
    return SpokenRows.gather(
        trees,
        data.described.labels,
        data.described.places,
        goal.codes,
        goal.weights,
        goal.weight_unit,
        n_threads,
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
