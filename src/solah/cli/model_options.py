"""Options that choose a model and set it, declared once for all verbs that learn."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args

import typer

from solah.cli.overwriting import READ
from solah.cli.verb import options_in

_model_option = options_in("The model")
_tree_option = options_in("The trees")

AUTO = "auto"
ModelName = Literal["tree", "hierarchy", "solah", "genetic"]
MODELS: tuple[str, ...] = get_args(ModelName)


def _several_models(given: list[str] | None) -> list[str]:
    """Split names at commas, and refuse those that are none."""
    names = [name.strip() for text in given or () for name in text.split(",")]
    for name in names:
        if name not in MODELS:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, MODELS))}")
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class OneModel:
    """Which model is learnt."""

    model: Annotated[
        ModelName | None,
        _model_option(
            help="One tree, a hierarchy of trees wired by hand, one that organises itself "
            "(solah, the default for classes), or the best that a genetic search finds. "
            "A number takes a tree.",
        ),
    ] = None

    @property
    def wishes(self) -> list[str]:
        """The model that the user named, if any."""
        return [self.model] if self.model else []


@dataclass(frozen=True)
class SeveralModels:
    """Which models are measured side by side."""

    model: Annotated[
        list[str] | None,
        _model_option(
            metavar=f"<{'|'.join(MODELS)}>",
            help="As in 'solah fit'; several are measured side by side, on the same folds. "
            "Repeat it, or use commas.",
            callback=_several_models,
        ),
    ] = None

    @property
    def wishes(self) -> list[str]:
        """The models that the user named."""
        return self.model or []


def _or_auto(read: Callable[[str], float], *words: str) -> Callable[[str], float | str]:
    """Make a parser of numbers that takes 'auto' as well, and other words."""
    known = (*words, AUTO)

    def parse(text: str) -> float | str:
        try:
            return text if text in known else read(text)
        except ValueError:
            whole = "whole number" if read is int else "number"
            others = " nor ".join(map(repr, known))
            raise typer.BadParameter(f"{text!r} is neither a {whole} nor {others}") from None

    return parse


@dataclass(frozen=True)
class HierarchyOptions:
    """How trees are wired; what is None stays as the estimator has it."""

    hierarchy: Annotated[
        str | None,
        _model_option(
            metavar="FILE|TEXT",
            help="A hierarchy by hand: a .json, .yaml or .txt file, or text such as "
            "'z1 <- a, b; y <- z1, c'.",
        ),
        READ,
    ] = None
    clusters: Annotated[
        Any,
        _model_option(
            metavar="N|each|auto",
            parser=_or_auto(int, "each"),
            help="The paper's k: the larger, the smaller the clusters of attributes; 'each' gives "
            "every attribute a tree of its own.",
        ),
    ] = None
    fusion: Annotated[
        Literal["weigh", "tree", "auto"] | None,
        _model_option(
            help="Weigh what trees say (default for --model solah), or let a tree split on it."
        ),
    ] = None
    penalty: Annotated[
        Any,
        _model_option(
            metavar="ROWS|auto",
            parser=_or_auto(float),
            help="How cautiously branches speak where they are weighed; chosen by default for "
            "--model solah, else 2.",
        ),
    ] = None
    level_gap: Annotated[
        Any,
        _model_option(
            metavar="X|auto",
            parser=_or_auto(float),
            help="The paper's theta: the larger, the fewer levels.",
        ),
    ] = None
    top: Annotated[
        Literal["fuse", "merge"] | None,
        _model_option(help="Put a tree on top of the last ones (default), or make one of them."),
    ] = None
    bias_corrected: Annotated[
        bool,
        _model_option(
            "--bias-corrected", help="Measure dependence without bias: fairer with few rows."
        ),
    ] = False
    screen: Annotated[
        float | None,
        _model_option(
            metavar="NUMBER",
            help="With very many attributes, keep so many that depend on the goal most; or, below "
            "1, those with this dependence at least.",
        ),
    ] = None
    node: Annotated[
        Literal["tree", "cmac"] | None,
        _model_option(help="Trees (default), or tables of all combinations of words."),
    ] = None

    belief_labels: Annotated[
        int | None,
        _model_option(
            min=2,
            max=5,
            metavar="N",
            help="Describe what trees believe with N words, from unlikely to likely; by default "
            "beliefs are taken as they are.",
        ),
    ] = None
    cross_fit: Annotated[
        int | None,
        _model_option(
            min=2,
            metavar="N",
            help="Let trees learn from what those below believe of rows they have not learnt "
            "from, in N folds; by default they take all.",
        ),
    ] = None
    population: Annotated[
        int | None,
        _model_option(
            min=3, metavar="N", help="Hierarchies a generation of the search; 20 by default."
        ),
    ] = None
    generations: Annotated[
        int | None,
        _model_option(min=0, metavar="N", help="Generations of the search; 20 by default."),
    ] = None
    time_budget: Annotated[
        float | None,
        _model_option(
            min=0.001,
            metavar="SECONDS",
            help="End the search, or the choice of settings, after so long.",
        ),
    ] = None
    cascade: Annotated[
        bool, _model_option("--cascade", help="Search among chains of trees only.")
    ] = False

    def given(self) -> dict[str, Any]:
        """Return what the user set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values["bias_corrected"] = self.bias_corrected or None
        values["cascade"] = self.cascade or None
        if self.screen is not None and self.screen >= 1:
            values["screen"] = int(self.screen)
        return {name: value for name, value in values.items() if value is not None}


def _thresholds(given: list[str] | None) -> dict[str, float] | None:
    """Read ``class=share``, the class up to the last equals sign."""
    if not given:
        return None
    found: dict[str, float] = {}
    for text in given:
        name, equals, share = text.rpartition("=")
        if name in found:
            raise typer.BadParameter(f"--threshold names the class {name!r} twice")
        try:
            found[name] = float(share)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise typer.BadParameter(
                f"--threshold {text!r} is not of the form class=share, as in sick=0.2"
            )
    return found


@dataclass(frozen=True)
class TreeOptions:
    """How trees are grown; what is None stays as the estimator has it."""

    labels: Annotated[
        Any,
        _tree_option(
            metavar="N|auto",
            parser=_or_auto(int),
            help="Words for each measurement; chosen by default for --model solah, else 3.",
        ),
    ] = None
    placement: Annotated[
        Literal["quantile", "uniform", "auto"] | None,
        _tree_option(help="Words at equal shares of the rows (default), or at equal distances."),
    ] = None
    criterion: Annotated[
        Literal["information_gain", "gain_ratio"] | None,
        _tree_option(help="What the next attribute of a branch has most of."),
    ] = None
    purity: Annotated[
        float | None,
        _tree_option(metavar="SHARE", help="Stop where one class has this share; 1 by default."),
    ] = None
    min_support: Annotated[
        Any,
        _tree_option(
            metavar="ROWS|auto",
            parser=_or_auto(float),
            help="Stop below this many rows, or below this share if less than 1; chosen by default "
            "for --model solah, else 0.01.",
        ),
    ] = None
    max_depth: Annotated[
        int | None,
        _tree_option(metavar="N", help="The most conditions a rule may have; no limit by default."),
    ] = None
    leaves: Annotated[
        Literal["counted", "refitted"] | None,
        _tree_option(help="Beliefs as counted (default), or as they make the classes most likely."),
    ] = None
    shrinkage: Annotated[
        float | None,
        _tree_option(
            min=0,
            metavar="ROWS",
            help="How much of its parent's belief a branch takes on; 0 by default.",
        ),
    ] = None
    class_weight: Annotated[
        Literal["balanced"] | None,
        _tree_option(help="Let rare classes weigh as much as others."),
    ] = None
    threshold: Annotated[
        list[str] | None,
        _tree_option(
            metavar="CLASS=SHARE",
            help="Decide for a class from this belief on, such as sick=0.2. Repeat it for more.",
        ),
    ] = None
    max_rules: Annotated[
        int | None,
        _tree_option(
            min=1,
            metavar="N",
            help="The most rules: branches that say nearly the same are joined.",
        ),
    ] = None
    rule_cost: Annotated[
        Any,
        _tree_option(
            metavar="NATS|auto",
            parser=_or_auto(float),
            help="What a rule must be worth to stay, in log-likelihood; 0 by default.",
        ),
    ] = None
    paper: Annotated[
        bool, _tree_option("--paper", help="Settings of the paper; options beside it win.")
    ] = False

    def given(self) -> dict[str, Any]:
        """Return what the user set, under the names of the estimators' parameters."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        del values["paper"]
        values["n_labels"] = values.pop("labels")
        values["thresholds"] = _thresholds(values.pop("threshold"))
        return {name: value for name, value in values.items() if value is not None}
