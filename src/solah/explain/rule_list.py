"""The list of a model's rules, which sorts, filters and writes itself."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, get_args, overload

from solah.data.spreadsheets import guarded, table_writer
from solah.exceptions import ColumnError, DataError, ParameterError, did_you_mean, shorten
from solah.explain.weights import spell_start
from solah.model.document import AdditiveNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from solah.data import State
    from solah.explain.rules import Rule
    from solah.model.attributes import Attribute
    from solah.model.document import Model

Order = Literal["effect", "support"]

_CSV_COLUMNS = ("tree", "rule", "conditions", "decision", "certainty", "support", "effect")


class Rules(list["Rule"]):
    """The rules of a model, or some of them: a list that a notebook shows as a table.

    Parameters
    ----------
    rules : the rules
    model : the model that they are of, which knows its classes and words

    Examples
    --------
    >>> from solah import LinguisticTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = LinguisticTreeClassifier(max_rules=4).fit(iris.table, iris.goal)
    >>> rules = tree.rules()
    >>> print(rules[:2])
    if petal width (cm) is low then class setosa (1.00), support 19.5
    if petal width (cm) is medium then class versicolor (0.91), support 41.6
    >>> print(rules.filter(class_="virginica").sort("support")[0])
    if petal width (cm) is at least medium-or-high then class virginica (0.84), support 56.4
    >>> rules[0].effect, rules[0].effect_class
    (0.666..., 'setosa')
    """

    def __init__(self, rules: Iterable[Rule], model: Model) -> None:
        super().__init__(rules)
        self.model = model

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> Rule: ...
    @overload
    def __getitem__(self, place: slice, /) -> Rules: ...
    def __getitem__(self, place: SupportsIndex | slice, /) -> Rule | Rules:
        if isinstance(place, slice):
            return Rules(super().__getitem__(place), self.model)
        return super().__getitem__(place)

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    @property
    def start(self) -> str:
        """What evidence begins with, before any rule adds to it; empty if none is added up."""
        return spell_start(self.model)

    def filter(
        self,
        class_: State | None = None,
        attribute: str | None = None,
        tree: str | None = None,
    ) -> Rules:
        """Keep the rules that decide for a class, look at an attribute, and are of a tree.

        Parameters
        ----------
        class_ : a class, default=None
            Its text will do. None keeps the rules of all classes, and so on.
        attribute : str, default=None
            The name of an attribute, or of a tree that feeds others.
        tree : str, default=None

        Returns
        -------
        rules : Rules

        Raises
        ------
        DataError
            If there is no such class or attribute.
        ParameterError
            If there is no such tree.
        """
        kept: Iterable[Rule] = self
        if class_ is not None:
            self._check_class(str(class_))
            kept = [rule for rule in kept if str(rule.decision) == str(class_)]
        if attribute is not None:
            self._check_attribute(attribute)
            kept = [rule for rule in kept if attribute in _attributes_in(rule)]
        if tree is not None:
            self._check_tree(tree)
            kept = [rule for rule in kept if rule.tree == tree]
        return Rules(kept, self.model)

    def sort(  # type: ignore[override]
        self,
        by: Order = "effect",
        *,
        key: Callable[[Rule], Any] | None = None,
        reverse: bool = False,
    ) -> Rules:
        """Return the rules sorted, the largest first; this list stays as it is.

        Parameters
        ----------
        by : {"effect", "support"}, default="effect"
            How far a rule moves what is decided, or the weight of the rows behind it.
        key : callable, default=None
            Sort by what it returns for a rule instead, the smallest first, as lists do.
        reverse : bool, default=False
            Turn the order round.

        Returns
        -------
        rules : Rules
            A new list.
        """
        if key is not None:
            return Rules(sorted(self, key=key, reverse=reverse), self.model)
        if by not in get_args(Order):
            raise ParameterError(
                f"rules are sorted by 'effect' or by 'support'. Got {shorten(by)} instead."
            )
        largest_first = sorted(self, key=lambda rule: getattr(rule, by), reverse=not reverse)
        return Rules(largest_first, self.model)

    @property
    def are_of_one_tree(self) -> bool:
        """Whether the model is a single tree, so that its name is not needed."""
        return len(self.model.parts) == 1

    @property
    def attributes(self) -> list[Attribute]:
        """The attributes whose words the rules use: measured ones first, then beliefs."""
        used = self._names_used()
        believed = [a for node in self.model.nodes for a in node.inputs if a.tree is not None]
        return [a for a in (*self.model.attributes, *believed) if a.name in used]

    @property
    def trees_used(self) -> list[str]:
        """The trees whose beliefs the conditions use, from bottom to top."""
        used = self._names_used()
        inputs = (a for node in self.model.nodes for a in node.inputs if a.name in used)
        origins = {attribute.origin for attribute in inputs}
        return [node.name for node in self.model.nodes if node.name in origins]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rules as plain values, ready for JSON or a frame."""
        return [rule.to_dict() for rule in self]

    def to_markdown(self) -> str:
        """Return a Markdown page: a table of the rules, then the words they use."""
        from solah.explain.legend import rules_page

        return rules_page(self)

    def to_csv(self) -> str:
        """Return CSV: one line per rule, with a column ``P(class)`` for the belief in each class.

        Where evidence is added up, a column ``adds(class)`` has what a rule adds for each class
        (``adds`` has it for a number), and the first line is what there is to begin with. The
        support is left out where words moved after rows were counted. Texts that a spreadsheet
        would take for formulas get an apostrophe before them.
        """
        page = StringIO()
        rows = table_writer(page)
        states, bias = self.model.goal.states, self._bias()
        added = [f"adds({state})" for state in states] or ["adds"]
        rows.writerow(
            [*_CSV_COLUMNS, *(f"P({state})" for state in states), *(added if bias else ())]
        )
        if bias:
            blank = [""] * (len(_CSV_COLUMNS) - 2 + len(states))
            rows.writerow([self.model.root.name, guarded(self.start), *blank, *bias])
        rows.writerows(
            [
                *map(guarded, (rule.tree, rule.sentence, rule.premise, rule.decision)),
                *(rule.certainty, "" if rule.is_outdated else rule.support, rule.effect),
                *(rule.belief if states else ()),
                *((score for _, score in rule.adds) if rule.adds else [""] * len(bias)),
            ]
            for rule in self
        )
        return page.getvalue()

    def _bias(self) -> tuple[float, ...]:
        """Return what the model's fusion begins with; nothing if the root is a tree."""
        return self.model.root.baseline if isinstance(self.model.root, AdditiveNode) else ()

    def _repr_html_(self) -> str:
        from solah.explain.html import rules_table

        return rules_table(self)

    def _names_used(self) -> set[str]:
        return {name for rule in self for name in _attributes_in(rule)}

    def copy(self) -> Rules:
        """Return a list of the same rules."""
        return self[:]

    def _check_tree(self, name: str) -> None:
        known = [part.name for part in self.model.parts if part.kind in ("term", "tree")]
        if name not in known:
            raise ParameterError(f"the model has no rules {name!r}{did_you_mean(name, known)}")

    def _check_class(self, name: str) -> None:
        goal = self.model.goal
        known = [str(state) for state in goal.states]
        if not known:
            raise DataError(f"{goal.name!r} is a number, so it has no class {name!r}")
        if name not in known:
            raise DataError(f"{goal.name!r} has no class {name!r}{did_you_mean(name, known)}")

    def _check_attribute(self, name: str) -> None:
        known = [attribute.name for node in self.model.nodes for attribute in node.inputs]
        if name not in known:
            raise ColumnError.unknown(name, known, "the model")


def _attributes_in(rule: Rule) -> list[str]:
    return [condition.attribute for condition in rule.conditions]
