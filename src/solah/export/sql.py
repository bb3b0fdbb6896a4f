"""Export a model as one portable SELECT.

The statement is a chain of common table expressions that runs the program of the model
(:mod:`solah.model.program`): readings, then for each stage its memberships, terms, scores and
outputs, then the decision. Columns inside have names that the statement makes up. Names of the data
occur only where the table is read and where the answer is given, in quotes.
"""

from __future__ import annotations

import math
from collections import Counter
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from solah.data.spelling import spell
from solah.exceptions import AgreementError, ParameterError, shorten
from solah.export.names import check_identifier
from solah.export.programs import (
    Program,
    Run,
    as_walk,
    missing_axes,
    model_texts,
    refuse_large_states,
    refuse_nul,
)
from solah.export.quoting import one_line, sql_name
from solah.export.sql_parts import (
    DAMPING,
    ZERO,
    Step,
    added,
    at_most_one,
    bounded_exp,
    curve,
    largest,
    literal,
    memberships,
    read_column,
    root_steps,
    state_literal,
    truncated_exp,
    walk_average,
)
from solah.model.document import Task
from solah.model.format import model_hash
from solah.model.program import AxisKind, Grid, Link
from solah.model.structure import fresh_name
from solah.safe_text import DIRECTION_MARK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from solah.data import State
    from solah.kernels.arrays import Float
    from solah.model.document import Model, Target
    from solah.model.program import Axis, Stage, Term, Walk

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

    The table has a column for each feature; NULL is a missing reading. The answer has a line for
    each of its rows: the keys, the decision and class probabilities, or a predicted number.

    Parameters
    ----------
    model : Model
        The model file.
    name : str, default="model"
        What the files are called.
    table : str, default="readings"
        The name of the table.
    keys : sequence of str, default=()
        Columns of the table to include in the result, which identify its rows.

    Returns
    -------
    program : Program
        ``NAME.sql``, and ``NAME_decision.sql`` with the decision alone, where that takes no
        ``exp``. Its ``simulator`` runs it with SQLite.

    Raises
    ------
    ParameterError
        If columns of the table differ only in capitals, a name or a category has a direction mark,
        or the statement would be too long.

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> from solah.export import export_sql
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.target)
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
    if model.target.classes and not whole.needs_exp:
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
    """Refuse columns that differ only in capitals, which most databases do not distinguish."""
    for given in (table, *keys):
        if not given or "\0" in given:
            raise ParameterError(f"{shorten(given)} is not a name of a table or a column")
    _refuse_repeated([one.name for one in model.features], "columns of the table")
    _refuse_repeated([*keys, *_answer_names(model.target)], "columns of the answer")


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    times = Counter(map(str.casefold, names))
    alike = [name for name in names if times[name.casefold()] > 1]
    if alike:
        raise ParameterError(
            f"{what} would be called {shorten(alike[0])} and {shorten(alike[1])}, which databases "
            "do not distinguish; rename one of them"
        )


def _answer_names(target: Target) -> list[str]:
    """Name the columns that a statement adds: the first is what is decided."""
    if target.task is Task.REGRESSION:
        return ["estimate"]
    names: list[str] = []
    for state in target.classes:
        name = wanted = f"probability_{spell(state)}"
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
        self._program = model.program
        self._table = table
        self._keys = keys

    @property
    def needs_exp(self) -> bool:
        """Whether the decision depends on probabilities of a stage below the last one."""
        return any(stage.link is Link.SOFTMAX for stage in self._program.stages[:-1])

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
            f"{one_line(self._model.target.name)}: decided by a model that solah made.",
            f"Generated by solah {version('solah')} from model {model_hash(self._model)}; "
            "do not edit.",
            "A reading that is NULL or NaN is missing, and so is a category that the model does",
            "not know. Columns inside: r readings, m memberships, w weights of terms, e sums of",
            "weights, u and v shares and variances of missing terms, c scores, s outputs.",
        )
        return "".join(f"-- {line}\n" for line in lines)

    def _steps(self, with_beliefs: bool) -> Iterator[Step]:
        yield self._read_table()
        stages, described = self._program.stages, set[int]()
        for s, stage in enumerate(stages):
            asked = {a for term in stage.terms if not _is_curve(term.cells) for a in term.axes}
            yield [column for a in sorted(asked - described) for column in self._memberships(a)]
            described |= asked
            yield [column for i in range(len(stage.terms)) for column in self._weights(s, i)]
            if stage.link is Link.EXP:
                total = self._linked(s, stage)
                (score,) = names = self._names("c", s)
                yield [(name, value) for name, (_, value) in zip(names, total, strict=True)]
                yield list(zip(self._names("s", s), [bounded_exp(score)], strict=True))
                continue
            if stage.link is not Link.SOFTMAX:
                yield self._linked(s, stage)
                continue
            yield from self._scored(s, stage)
            if with_beliefs or s + 1 < len(stages):
                yield from _softmax(s, self._names("c", s), self._names("s", s))

    def _read_table(self) -> Step:
        """Read the table: keys as they are, numbers, and the index of each category."""
        keys = [(f"k{i}", f"t.{sql_name(key)}") for i, key in enumerate(self._keys)]
        features = self._model.features
        readings = [(f"r{j}", read_column(features[j])) for j in self._program.read_features]
        return [*keys, *readings] or [("r", ZERO)]

    def _memberships(self, a: int) -> Iterator[tuple[str, str]]:
        axis = self._program.axes[a]
        if axis.kind is AxisKind.ALL_BELIEFS:  # the outputs themselves
            return
        yield from zip(self._membership_names(a), memberships(axis, _column(axis)), strict=True)

    def _weights(self, s: int, i: int) -> Step:
        """Compute what a term adds to each output."""
        term = self._program.stages[s].terms[i]
        outputs = range(self._program.n_outputs)
        return [(f"w{s}_{i}_{c}", self._weight(term, c)) for c in outputs]

    def _weight(self, term: Term, c: int) -> str:
        if not _is_curve(term.cells):
            names = [self._membership_names(a) for a in term.axes]
            return walk_average(as_walk(term.cells), names, term.weights[:, c].tolist())
        axis = self._program.axes[term.axes[0]]
        return curve(axis, _column(axis), term.cells.table[:, c].tolist())

    def _sums(self, s: int, stage: Stage) -> list[str]:
        """Add up the weights of a stage, group by group."""
        n_terms, outputs = len(stage.terms), range(self._program.n_outputs)
        parts = [[f"w{s}_{i}_{c}" for c in outputs] for i in range(n_terms)]
        for group in stage.groups:
            parts.append([added([parts[part][c] for part in group.parts]) for c in outputs])
        return parts[-1]

    def _linked(self, s: int, stage: Stage) -> Step:
        """Compute the sums of a stage, which are its outputs if that takes no exp."""
        values = [_plus(*both) for both in zip(self._sums(s, stage), stage.baseline, strict=True)]
        if stage.link is Link.SHARES:
            values = list(map(at_most_one, values))
        return list(zip(self._names("s", s), values, strict=True))

    def _scored(self, s: int, stage: Stage) -> Iterator[Step]:
        """Compute the scores of a stage beside what is missing of it."""
        sums, scores = self._names("e", s), self._names("c", s)
        total = list(zip(sums, self._sums(s, stage), strict=True))
        plain = [_plus(*both) for both in zip(sums, stage.baseline, strict=True)]
        lost = [
            (" OR ".join(f"{_column(axis)} IS NULL" for axis in axes), term)
            for term in stage.terms
            if (axes := missing_axes(term, self._program.axes))
        ]
        if stage.log_prior is None or not lost:
            yield total
            yield list(zip(scores, plain, strict=True))
            return
        share, variance, square, root = (f"{letter}{s}" for letter in "uvqh")
        yield [
            *total,
            (share, _sum_where((where, term.share) for where, term in lost)),
            (variance, _sum_where((where, term.variance) for where, term in lost)),
        ]
        yield [(square, f"1e0 + {literal(DAMPING)} * {variance}")]
        most = 1.0 + DAMPING * math.fsum(term.variance for _, term in lost)
        yield from root_steps(square, root, most)
        damped = [
            f"{literal(p)} + ({literal(b - p)} * (1e0 - {share}) + {e}) / {root}"
            for p, b, e in zip(stage.log_prior, stage.baseline, sums, strict=True)
        ]
        both = zip(scores, damped, plain, strict=True)
        yield [(name, f"CASE WHEN {variance} > 0 THEN {d} ELSE {p} END") for name, d, p in both]

    def _answer(self, with_beliefs: bool) -> Step:
        target, last = self._model.target, len(self._program.stages) - 1
        outputs = self._names("s", last)
        names = [sql_name(name) for name in _answer_names(target)]
        keys = [(sql_name(key), f"k{i}") for i, key in enumerate(self._keys)]
        if target.task is Task.REGRESSION:
            return [*keys, (names[0], self._estimate(outputs))]
        beliefs = zip(names[1:], outputs, strict=True) if with_beliefs else ()
        return [*keys, (names[0], self._decision()), *beliefs]

    def _estimate(self, outputs: Sequence[str]) -> str:
        centres = self._program.centres
        if centres is None:
            return outputs[0]
        return added([f"{s} * {literal(c)}" for s, c in zip(outputs, centres, strict=True)])

    def _decision(self) -> str:
        """Decide by scores, which takes no exp, or by shares."""
        last, thresholds = len(self._program.stages) - 1, self._program.thresholds
        is_softmax = self._program.stages[last].link is Link.SOFTMAX
        values = self._names("c" if is_softmax else "s", last)
        if thresholds is not None and is_softmax:
            logs = np.log(thresholds)
            values = [f"{value} - {literal(one)}" for value, one in zip(values, logs, strict=True)]
        elif thresholds is not None:
            pairs = zip(values, thresholds, strict=True)
            values = [f"{value} / {literal(one)}" for value, one in pairs]
        return largest(values, list(map(state_literal, self._model.target.classes)))

    def _membership_names(self, a: int) -> list[str]:
        axis = self._program.axes[a]
        if axis.kind is AxisKind.ALL_BELIEFS:
            return self._names("s", axis.source)
        return [f"m{a}_{k}" for k in range(axis.size)]

    def _names(self, letter: str, s: int) -> list[str]:
        return [f"{letter}{s}_{c}" for c in range(self._program.n_outputs)]


def _is_curve(cells: Grid | Walk) -> TypeGuard[Grid]:
    """Whether rules are over one axis, so that weights are a function of one reading."""
    return isinstance(cells, Grid) and cells.rules.ndim == 1


def _column(axis: Axis) -> str:
    return f"r{axis.source}" if axis.is_read else f"s{axis.source}_{axis.output}"


def _plus(value: str, number: float) -> str:
    return f"{value} + {literal(number)}" if number else value


def _select(step: Step, source: str, *, first: bool) -> str:
    columns = [*([] if first else ["*"]), *(f"{value} AS {name}" for name, value in step)]
    lines = ",\n".join(f"    {column}" for column in columns)
    return f"  SELECT\n{lines}\n  FROM {source}"


def _sum_where(pairs: Iterable[tuple[str, float]]) -> str:
    return added([f"CASE WHEN {where} THEN {literal(n)} ELSE {ZERO} END" for where, n in pairs])


def _softmax(s: int, scores: Sequence[str], outputs: Sequence[str]) -> Iterator[Step]:
    most, parts = f"most{s}", [f"x{s}_{c}" for c in range(len(scores))]
    yield [(most, largest(scores, scores))]
    powers = [truncated_exp(f"{score} - {most}", _LEAST_EXPONENT) for score in scores]
    yield list(zip(parts, powers, strict=True))
    yield [(name, f"{part} / {added(parts)}") for name, part in zip(outputs, parts, strict=True)]


class _SqliteRun(Run):
    """Runs a statement with SQLite, on a table of rows that are numbered."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._states = model.target.classes
        self._key = fresh_name("place", {one.name.casefold() for one in model.features})
        self._text = _Statement(model, _RUN_TABLE, (self._key,)).text(with_beliefs=True)

    def _answers(self, columns: list[list[State | None]]) -> Float:
        import sqlite3  # a small Python may come without it

        rows = enumerate(zip(*columns, strict=True))
        kinds = ["" if one.is_coded else " REAL" for one in self._features]
        names = [sql_name(one.name) for one in self._features]
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
