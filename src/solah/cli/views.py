"""Format models, rules and scores for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from solah.explain.explanation_text import Role, lines_of
from solah.report import describe_scores, group_notes, group_table, score_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from solah.evaluation import CrossValidation
    from solah.explain import Explanation, Rule
    from solah.explain.rule_text import StraightLine


def heading(text: str) -> Text:
    """Make a heading."""
    return Text(text, style="bold")


def facts(pairs: Mapping[str, Any]) -> Table:
    """Show names and values below each other."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, value in pairs.items():
        grid.add_row(name, value if isinstance(value, Text) else Text(str(value)))
    return grid


def rule_sentence(rule: Rule | StraightLine) -> Text:
    """Show a rule as a sentence, its effect in bold and its counts dimmed."""
    sentence = Text(rule.sentence)
    sentence.stylize("bold", len(rule.sentence) - len(rule.result))
    return sentence.append(f" | {rule.counts}", "dim")


_STYLES = {Role.RESULT: "bold", Role.HEADING: "bold", Role.ASIDE: "dim", Role.PLAIN: ""}


def explanation_lines(explanation: Explanation, top: int | None) -> Iterator[Text]:
    """Show why a decision was made, line by line."""
    for line in lines_of(explanation, top):
        yield Text(line.text, style=_STYLES[line.role])


def words_of(words: Iterable[tuple[str, str, str]]) -> Table:
    """Show the range of each word, the words of a feature together."""
    grid, before = Table.grid(padding=(0, 2)), ""
    for feature, word, text in words:
        grid.add_row(
            Text("" if feature == before else feature), Text(word, "bold"), Text(text, "dim")
        )
        before = feature
    return grid


def scores_of(scores: CrossValidation) -> Table:
    """Show the spread of every measure, a column an estimator."""
    by_estimator = describe_scores(scores)["estimators"]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    for _ in by_estimator:
        grid.add_column(justify="right")
    if len(by_estimator) > 1:
        grid.add_row("", *(Text(name, "bold") for name in by_estimator))
    for measure, spelt in score_rows(by_estimator):
        grid.add_row(Text(measure), *map(Text, spelt))
    return grid


def groups_of(described: Mapping[str, Any]) -> Iterator[Table | Text]:
    """Show the metrics of groups of rows: a table, and how to read it."""
    yield columns_of(*group_table(described))
    yield Text("")
    yield from map(Text, group_notes(described))


def columns_of(head: Iterable[str], lines: Iterable[Iterable[str]]) -> Table:
    """Show figures below their names; the first column has text."""
    grid = Table.grid(padding=(0, 2))
    names = [*head]
    for place in range(len(names)):
        grid.add_column(justify="right" if place else "left")
    grid.add_row(*(Text(name, "dim") for name in names))
    for line in lines:
        grid.add_row(*map(Text, line))
    return grid
