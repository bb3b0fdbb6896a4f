"""Export a model as one portable SELECT.

The statement is a chain of common table expressions: readings, then for each level of the model
the masses of its inputs and what goes up from its nodes, then the decision. Inside, columns have
names of its own (``r`` a reading, ``m`` a mass, ``s`` what goes up from a node); names of the data
stand only where the table is read and where the answer is given, in quotes.
"""

from __future__ import annotations

import math
from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from solah.data.spelling import spell
from solah.exceptions import AgreementError, ParameterError, shorten
from solah.export.names import check_identifier
from solah.export.programs import (
    Program,
    Run,
    lossy_trees,
    model_texts,
    refuse_large_states,
    refuse_nul,
)
from solah.export.quoting import one_line, sql_name
from solah.export.sql_parts import (
    DAMPING,
    ONE,
    ZERO,
    Step,
    added,
    hat_masses,
    largest,
    literal,
    of_states,
    piecewise,
    read_column,
    root_steps,
    state_literal,
    state_masses,
    tree_average,
    truncated_exp,
)
from solah.model.beliefs import evidence_shares, fusion_inputs, measured_by
from solah.model.document import Fusion, Task, Tree
from solah.model.format import model_hash
from solah.model.structure import fresh_name
from solah.safe_text import DIRECTION_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.attributes import Attribute
    from solah.model.document import Goal, Model, Node

# The longest statement that SQLite takes unless it was built for more, and about the most columns
# that PostgreSQL, which takes fewest, lets a query have.
_MOST_BYTES = 1_000_000
_MOST_COLUMNS = 1_600
# e^-700 is about the least that every database can compute.
_LEAST_EXPONENT = -700.0
_RUN_TABLE = "rows_to_compare"
_SIMPLER = "fit it with fewer rules, words or inputs"


def export_sql(
    model: Model, *, name: str = "model", table: str = "readings", keys: Sequence[str] = ()
) -> Program:
    """Write a model as one SELECT over a table, for SQLite, DuckDB, PostgreSQL and their like.

    The table has a column for each attribute; NULL is unknown. The answer has a line for each of
    its rows: the keys, the decision and a belief in each class, or an estimated number.

    Parameters
    ----------
    model : Model
        The model document.
    name : str, default="model"
        What the files are called.
    table : str, default="readings"
        The name of the table.
    keys : sequence of str, default=()
        Columns of the table that are to stand in the answer, so that its lines can be told apart.

    Returns
    -------
    program : Program
        ``NAME.sql``, and ``NAME_decision.sql`` with the decision alone, where that takes no
        ``exp``. Its ``twin`` runs it with SQLite.

    Raises
    ------
    ParameterError
        If the columns of the table could not be told apart, a name or a state has a direction mark,
        or the statement would be too long.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export import export_sql
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.goal)
    >>> sorted(export_sql(tree.model_, name="iris", table="flowers").files)
    ['iris.sql', 'iris_decision.sql']
    """
    check_identifier(name)
    refuse_nul(model, "SQL")
    _refuse_direction_marks([table, *keys, *model_texts(model)])
    refuse_large_states(model, "SQL")
    _check_columns(model, table, keys)
    whole = _Statement(model, table, keys)
    files = {f"{name}.sql": whole.text(with_beliefs=True)}
    if model.goal.states and not whole.needs_exp:
        files[f"{name}_decision.sql"] = whole.text(with_beliefs=False)
    for text in files.values():
        if len(text.encode()) > _MOST_BYTES:
            raise ParameterError(
                f"the SELECT would have {len(text.encode()):,} bytes, and databases take "
                f"{_MOST_BYTES:,}; {_SIMPLER}"
            )
    return Program(name, files, _SqliteRun(model))


def _refuse_direction_marks(texts: Iterable[str]) -> None:
    """Refuse texts that change the order of a line: databases share no way to escape a character.

    A reader would see another statement than a database runs.
    """
    for text in texts:
        if found := DIRECTION_MARK.search(text):
            raise ParameterError(
                f"{shorten(text)} has the direction mark U+{ord(found[0]):04X}, which SQL cannot "
                "escape; remove it from the data and fit again"
            )


def _check_columns(model: Model, table: str, keys: Sequence[str]) -> None:
    """Refuse columns that databases cannot tell apart: to most, capitals are no difference."""
    for given in (table, *keys):
        if not given or "\0" in given:
            raise ParameterError(f"{shorten(given)} is no name of a table or a column")
    _refuse_repeated([one.name for one in model.attributes], "columns of the table")
    _refuse_repeated([*keys, *_answer_names(model.goal)], "columns of the answer")


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    times = Counter(map(str.casefold, names))
    alike = [name for name in names if times[name.casefold()] > 1]
    if alike:
        raise ParameterError(
            f"{what} would be called {shorten(alike[0])} and {shorten(alike[1])}, which databases "
            "do not tell apart; rename one of them"
        )


def _answer_names(goal: Goal) -> list[str]:
    """Name the columns that a statement adds: the first is what is decided."""
    if goal.task is Task.REGRESSION:
        return ["estimate"]
    names: list[str] = []
    for state in goal.states:
        name = wanted = f"belief_{spell(state)}"
        taken = {one.casefold() for one in names}
        number = 2
        while name.casefold() in taken:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return ["decision", *names]


class _Statement:
    """Writes the SELECT of a model.

    Parameters
    ----------
    model : Model
    table : str
    keys : sequence of str
    """

    def __init__(self, model: Model, table: str, keys: Sequence[str]) -> None:
        self._model = model
        self._table = table
        self._keys = keys
        self._weighed = fusion_inputs(model.nodes)
        self._shares = evidence_shares(model.nodes)
        self._nodes = {node.name: place for place, node in enumerate(model.nodes)}
        self._readings = {one.name: f"r{place}" for place, one in enumerate(model.attributes)}
        self._described: dict[object, int] = {}

    @property
    def needs_exp(self) -> bool:
        """Whether the decision takes beliefs of fusions: a tree asks for them."""
        asked = {name for tree in self._model.trees for name in tree.origins}
        return any(fusion.name in asked for fusion in self._model.fusions)

    def text(self, *, with_beliefs: bool) -> str:
        """Return the statement."""
        steps = [step for step in self._steps(with_beliefs) if step]
        n_columns = sum(map(len, steps))
        if n_columns > _MOST_COLUMNS:
            raise ParameterError(
                f"the SELECT would have {n_columns:,} columns inside, and databases take "
                f"{_MOST_COLUMNS:,}; {_SIMPLER}"
            )
        sources = [f"{sql_name(self._table)} AS t", *(f"step{i}" for i in range(len(steps)))]
        # Not materialised, databases would put expressions in the place of columns, and compute
        # them again and again.
        chain = ",\n".join(
            f"step{i} AS MATERIALIZED (\n{_select(step, sources[i], first=i == 0)}\n)"
            for i, step in enumerate(steps)
        )
        answer = ",\n".join(f"  {value} AS {name}" for name, value in self._answer(with_beliefs))
        return f"{self._head()}WITH {chain}\nSELECT\n{answer}\nFROM {sources[-1]};\n"

    def _head(self) -> str:
        lines = (
            f"{one_line(self._model.goal.name)}: decided by a model that solah made.",
            f"Generated by solah {version('solah')} from model {model_hash(self._model)}; "
            "do not edit.",
            "A reading that is NULL, NaN or infinite is unknown, and so is a state that the model",
            "does not know. Columns inside: r readings, m masses of words, s what goes up from a",
            "part of the model, e evidence, u and v what of it is unknown, c scores.",
        )
        return "".join(f"-- {line}\n" for line in lines)

    def _steps(self, with_beliefs: bool) -> Iterator[Step]:
        model = self._model
        yield self._read_table()
        computed: set[str] = set()
        for level in model.hierarchy.levels:
            nodes = [model.nodes[self._nodes[name]] for name in level]
            trees = [node for node in nodes if isinstance(node, Tree)]
            masses = dict(column for tree in trees for column in self._masses(tree))
            yield [column for column in masses.items() if column[0] not in computed]
            computed.update(masses)
            yield [column for tree in trees for column in self._averages(tree)]
            for fusion in (node for node in nodes if isinstance(node, Fusion)):
                yield from self._fused(fusion, with_beliefs or fusion is not model.root)

    def _read_table(self) -> Step:
        """Read the table: keys as they are, numbers that are finite, states by their places."""
        measured = {one.name for one in measured_by(self._model.nodes)}
        asked = (one for one in self._model.attributes if one.name in measured)
        keys = [(f"k{i}", f"t.{sql_name(key)}") for i, key in enumerate(self._keys)]
        return [*keys, *((self._readings[one.name], read_column(one)) for one in asked)] or [
            ("r", ZERO)
        ]

    def _masses(self, tree: Tree) -> Iterator[tuple[str, str]]:
        """Compute the masses of what a tree with several questions asks."""
        for attribute in () if self._is_curve(tree) else tree.inputs:
            if attribute.name in self._nodes:  # its masses are the beliefs themselves
                continue
            column = self._column(attribute)
            if attribute.is_coded:
                masses = state_masses(column, attribute.ignorance)
            else:
                masses = hat_masses(column, attribute.peaks, attribute.ignorance)
            yield from zip(self._mass_names(attribute), masses, strict=True)

    def _averages(self, tree: Tree) -> Step:
        """Compute what goes up from a tree: the averages of its leaves' scores."""
        is_weighed = tree.name in self._weighed
        scores = (tree.evidence if is_weighed else tree.belief).T.tolist()
        missing = tree.missing.scores if is_weighed and tree.missing else [None] * len(scores)
        values = [self._average(tree, *parts) for parts in zip(scores, missing, strict=True)]
        return list(zip(self._signals(tree.name), values, strict=True))

    def _average(self, tree: Tree, scores: list[float], missing: float | None) -> str:
        if not self._is_curve(tree):
            masses = [self._mass_names(attribute) for attribute in tree.inputs]
            value = tree_average(tree, masses, scores)
            if missing is None:
                return value
            return f"CASE WHEN {self._is_lost(tree)} THEN {literal(missing)} ELSE {value} END"
        (attribute,) = tree.inputs
        leaves = [scores[child] for child in tree.children(0)]
        weighted = (m * score for m, score in zip(attribute.ignorance, leaves, strict=True))
        unknown = math.fsum(weighted) if missing is None else missing
        if attribute.is_coded:
            return of_states(self._column(attribute), leaves, unknown)
        return piecewise(self._column(attribute), attribute.peaks, leaves, unknown)

    def _fused(self, fusion: Fusion, with_beliefs: bool) -> Iterator[Step]:
        """Add up evidence, and make beliefs of it where no other fusion adds it up."""
        below = zip(*map(self._signals, fusion.origins), strict=True)
        evidence = [added(parts) for parts in below]
        signals = self._signals(fusion.name)
        if fusion.name in self._weighed:
            yield list(zip(signals, evidence, strict=True))
        elif self._model.goal.is_additive_number:
            (sum_,), (bias,) = evidence, fusion.bias
            yield [(signals[0], f"{sum_} + {literal(bias)}")]
        else:
            yield from self._scored(fusion, evidence)
            if with_beliefs:
                yield from _softmax(self._nodes[fusion.name], self._scores(fusion), signals)

    def _scored(self, fusion: Fusion, evidence: Sequence[str]) -> Iterator[Step]:
        """Compute the scores of the classes beside what is unknown."""
        place = self._nodes[fusion.name]
        sums = [f"e{place}_{c}" for c in range(len(evidence))]
        plain = [f"{e} + {literal(bias)}" for e, bias in zip(sums, fusion.bias, strict=True)]
        trees = lossy_trees(self._model, fusion)
        if not trees:
            yield list(zip(sums, evidence, strict=True))
            yield list(zip(self._scores(fusion), plain, strict=True))
            return
        share, variance, square, root = (f"{letter}{place}" for letter in "uvqh")
        lost = [self._is_lost(tree) for tree in trees]
        shares = [self._shares[tree.name] for tree in trees]
        yield [
            *zip(sums, evidence, strict=True),
            (share, _sum_where(lost, shares)),
            (variance, _sum_where(lost, [tree.variance for tree in trees])),
        ]
        yield [(square, f"1e0 + {literal(DAMPING)} * {variance}")]
        most = 1.0 + DAMPING * math.fsum(tree.variance for tree in trees)
        yield from root_steps(square, root, most)
        start = self._model.goal.log_prior.tolist()
        damped = [
            f"{literal(s)} + ({literal(bias - s)} * (1e0 - {share}) + {e}) / {root}"
            for s, bias, e in zip(start, fusion.bias, sums, strict=True)
        ]
        both = zip(self._scores(fusion), damped, plain, strict=True)
        yield [(name, f"CASE WHEN {variance} > 0 THEN {d} ELSE {p} END") for name, d, p in both]

    def _answer(self, with_beliefs: bool) -> Step:
        goal, root = self._model.goal, self._model.root
        signals = self._signals(root.name)
        names = [sql_name(name) for name in _answer_names(goal)]
        keys = [(sql_name(key), f"k{i}") for i, key in enumerate(self._keys)]
        if goal.task is Task.REGRESSION:
            return [*keys, (names[0], self._estimate(signals))]
        decision = (names[0], self._decision(root, signals))
        # A sum of shares may round to a bit more than one.
        beliefs = [f"CASE WHEN {one} < 1 THEN {one} ELSE {ONE} END" for one in signals]
        return [*keys, decision, *(zip(names[1:], beliefs, strict=True) if with_beliefs else ())]

    def _estimate(self, signals: Sequence[str]) -> str:
        goal = self._model.goal
        if goal.is_additive_number:
            return signals[0]
        return added([f"{s} * {literal(c)}" for s, c in zip(signals, goal.centres, strict=True)])

    def _decision(self, root: Node, signals: Sequence[str]) -> str:
        """Decide by scores, which takes no exp, or by the beliefs of a tree."""
        goal = self._model.goal
        answers = list(map(state_literal, goal.states))
        values = self._scores(root) if isinstance(root, Fusion) else signals
        if goal.thresholds and isinstance(root, Fusion):
            logs = [literal(math.log(one)) for one in goal.thresholds]
            values = [f"{value} - {log}" for value, log in zip(values, logs, strict=True)]
        elif goal.thresholds:
            pairs = zip(values, goal.thresholds, strict=True)
            values = [f"{value} / {literal(one)}" for value, one in pairs]
        return largest(values, answers)

    def _is_lost(self, tree: Tree) -> str:
        measured = [one for one in tree.inputs if one.origin not in self._nodes]
        return " OR ".join(f"{self._column(one)} IS NULL" for one in measured)

    def _is_curve(self, tree: Tree) -> bool:
        """Whether a tree is one question for what is measured."""
        is_measured = [one.origin not in self._nodes for one in tree.inputs] == [True]
        return is_measured and tree.split[0] >= 0 and tree.shape.depth == 1

    def _column(self, attribute: Attribute) -> str:
        """Name the column of a reading, or of the belief that words describe."""
        if attribute.tree is None:
            return self._readings[attribute.name]
        return self._signals(attribute.tree)[attribute.place]

    def _mass_names(self, attribute: Attribute) -> list[str]:
        if attribute.name in self._nodes:
            return self._signals(attribute.name)
        # Trees may ask for parts of an attribute, each for its own.
        described = (attribute.name, attribute.peaks, attribute.ignorance)
        place = self._described.setdefault(described, len(self._described))
        return [f"m{place}_{k}" for k in range(attribute.n_focal_sets)]

    def _signals(self, node: str) -> list[str]:
        return [f"s{self._nodes[node]}_{c}" for c in range(self._model.goal.size)]

    def _scores(self, fusion: Fusion) -> list[str]:
        return [f"c{self._nodes[fusion.name]}_{c}" for c in range(self._model.goal.size)]


def _select(step: Step, source: str, *, first: bool) -> str:
    columns = [*([] if first else ["*"]), *(f"{value} AS {name}" for name, value in step)]
    lines = ",\n".join(f"    {column}" for column in columns)
    return f"  SELECT\n{lines}\n  FROM {source}"


def _sum_where(conditions: Sequence[str], numbers: Sequence[float]) -> str:
    pairs = zip(conditions, numbers, strict=True)
    return added([f"CASE WHEN {where} THEN {literal(n)} ELSE {ZERO} END" for where, n in pairs])


def _softmax(place: int, scores: Sequence[str], signals: Sequence[str]) -> Iterator[Step]:
    most, parts = f"most{place}", [f"x{place}_{c}" for c in range(len(scores))]
    yield [(most, largest(scores, scores))]
    powers = [truncated_exp(f"{score} - {most}", _LEAST_EXPONENT) for score in scores]
    yield list(zip(parts, powers, strict=True))
    yield [(name, f"{part} / {added(parts)}") for name, part in zip(signals, parts, strict=True)]


class _SqliteRun(Run):
    """Runs a statement with SQLite, on a table of rows that are numbered."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._states = model.goal.states
        self._key = fresh_name("place", {one.name.casefold() for one in model.attributes})
        self._text = _Statement(model, _RUN_TABLE, (self._key,)).text(with_beliefs=True)

    def _answers(self, columns: list[list[State | None]]) -> Float:
        import sqlite3  # a small Python may come without it

        rows = enumerate(zip(*columns, strict=True))
        kinds = ["" if one.is_coded else " REAL" for one in self._attributes]
        names = [sql_name(one.name) for one in self._attributes]
        declared = ", ".join(map("".join, zip(names, kinds, strict=True)))
        marks = ", ".join("?" * (len(names) + 1))
        connection = sqlite3.connect(":memory:")
        try:
            # Not every SQLite is built with it.
            connection.create_function("exp", 1, math.exp, deterministic=True)
            connection.execute(f"CREATE TABLE {_RUN_TABLE} ({self._key} INTEGER, {declared})")
            connection.executemany(
                f"INSERT INTO {_RUN_TABLE} VALUES ({marks})", ((i, *row) for i, row in rows)
            )
            answers = sorted(connection.execute(self._text).fetchall())
        except sqlite3.Error as error:
            raise AgreementError(f"SQLite cannot run the SELECT: {error}") from None
        finally:
            connection.close()
        if self._states:
            answers = [(i, self._states.index(state), *beliefs) for i, state, *beliefs in answers]
        return np.array([answer[1:] for answer in answers], dtype=np.float64)
