"""Options that choose a model and set it, declared once for all verbs that learn."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from solah.cli.overwriting import READ
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from collections.abc import Mapping

_model_option = options_in("The model")
_adding_option = options_in("Rules that add up, --model solah")
_stack_option = options_in("Hierarchies of trees; with --model solah, any of these stacks trees")
_tree_option = options_in("Trees; with --model solah, any of these stacks trees")
_search_option = options_in("The search, --model genetic")

AUTO, ALL = "auto", "all"
ModelName = Literal["tree", "hierarchy", "solah", "genetic"]
MODELS: tuple[str, ...] = get_args(ModelName)
_PLACEMENTS = ("quantile", "uniform")


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
            help="Rules that add up, in groups that organise themselves (solah, the default); one "
            "tree; a hierarchy of trees wired by hand, or the best that a genetic search finds. "
            "Numbers are learnt by solah or a tree.",
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


def _or_words(read: Callable[[str], float], *words: str) -> Callable[[str], float | str]:
    """Make a parser of numbers that takes some words as well."""

    def parse(text: str) -> float | str:
        try:
            return text if text in words else read(text)
        except ValueError:
            whole = "whole number" if read is int else "number"
            others = " nor ".join(map(repr, words))
            raise typer.BadParameter(f"{text!r} is neither a {whole} nor {others}") from None

    return parse


def _interactions(text: str) -> int | str | list[tuple[str, str]]:
    """Read how many pairs there may be, or which: ``a:b,c:d``."""
    if text == AUTO:
        return text
    if text.isdecimal():
        return int(text)
    pairs = [tuple(name.strip() for name in pair.split(":")) for pair in text.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise typer.BadParameter(
            f"{text!r} is neither a whole number nor 'auto', nor pairs of columns such as a:b,c:d"
        )
    return [(first, second) for first, second in pairs]


def _costs(given: list[str] | None) -> dict[str, float] | None:
    """Read ``column=cost``, the column up to the last equals sign."""
    return _numbers_by_name(given, "--attribute-cost", "column=cost, as in camera=5")


def _thresholds(given: list[str] | None) -> dict[str, float] | None:
    """Read ``class=share``, the class up to the last equals sign."""
    return _numbers_by_name(given, "--threshold", "class=share, as in sick=0.2")


def _numbers_by_name(given: list[str] | None, flag: str, form: str) -> dict[str, float] | None:
    if not given:
        return None
    found: dict[str, float] = {}
    for text in given:
        name, equals, number = text.rpartition("=")
        if name in found:
            what = form.partition("=")[0]
            raise typer.BadParameter(f"{flag} names the {what} {name!r} twice")
        try:
            found[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise typer.BadParameter(f"{flag} {text!r} is not of the form {form}")
    return found


# A comma ends a constraint where the next one follows; others are part of a name.
_DIRECTION = re.compile(r"\s*(.+?)=([+-]?1)(?:@(.+?))?(?:,(?=[^,]*=[+-]?1(?:@|,|$))|$)")


def _directions(given: list[str] | None) -> dict[str, Any] | None:
    """Read ``column=1`` or, for a class, ``column=1@class``, several of them behind commas."""
    if not given:
        return None
    plain: dict[str, int] = {}
    by_class: dict[str, dict[str, int]] = {}
    for text in given:
        found = _DIRECTION.findall(text)
        if _DIRECTION.sub("", text) or not found:
            raise typer.BadParameter(
                f"--monotonic {text!r} is not of the form column=1, column=-1 or, for a class, "
                "column=1@class"
            )
        for name, sign, state in found:
            directions = by_class.setdefault(state, {}) if state else plain
            if name in directions:
                raise typer.BadParameter(f"--monotonic names the column {name!r} twice")
            directions[name] = int(sign)
    if plain and by_class:
        raise typer.BadParameter("--monotonic must name a class for each column, or for none")
    return by_class or plain


def _sets(given: list[str] | None) -> list[list[str]] | None:
    return [_split(text) for text in given] if given else None


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _words_by_hand(given: list[str] | None) -> dict[str, Any] | None:
    """Read ``column=word,word`` or ``column=word:peak,word:peak``."""
    if not given:
        return None
    found: dict[str, Any] = {}
    for text in given:
        name, _, rest = text.partition("=")
        words = [word.rpartition(":") if ":" in word else (word, "", "") for word in _split(rest)]
        if name in found:
            raise typer.BadParameter(f"--words-of names the column {name!r} twice")
        try:
            peaks = {word: float(peak) for word, colon, peak in words if colon}
        except ValueError:
            peaks = {}
        is_form = bool(name) and all(word for word, _, _ in words)
        if not is_form or len(peaks) not in (0, len(words)) or (":" in rest and not peaks):
            raise typer.BadParameter(
                f"--words-of {text!r} is not of the form column=word,word or "
                "column=word:peak,word:peak, as in CO2=fresh:400,stale:1400"
            )
        found[name] = peaks or [word for word, _, _ in words]
    return found


def _groups(given: list[str] | None) -> dict[str, list[str]] | None:
    """Read ``name=column,column``, the name up to the first equals sign."""
    if not given:
        return None
    found: dict[str, list[str]] = {}
    for text in given:
        name, _, columns = text.partition("=")
        members = [column.strip() for column in columns.split(",")]
        if not name.strip() or not all(members):
            raise typer.BadParameter(
                f"--group {text!r} is not of the form name=column,column, as in air=CO2,humidity"
            )
        if name.strip() in found:
            raise typer.BadParameter(f"--group names the group {name.strip()!r} twice")
        found[name.strip()] = members
    return found


def _placement(text: str) -> str | Path:
    """Read where the words of trees stand, or the name of a file that says what is where."""
    if text in _PLACEMENTS:
        return text
    if Path(text).suffix.lower() not in (".json", ".yaml", ".yml"):
        raise typer.BadParameter(
            f"{text!r} is neither 'quantile' nor 'uniform', nor a file (.yaml or .json) that says "
            "what is measured where"
        )
    if not Path(text).is_file():
        raise typer.BadParameter(f"there is no file {text}")
    return Path(text)


@dataclass(frozen=True)
class ModelOptions:
    """How a model is set; what is None stays as the estimator has it."""

    words: Annotated[
        Literal["auto", "supervised", "quantile", "uniform"] | None,
        _adding_option(
            help="Where words stand: where the goal changes, at equal shares of the rows, or at "
            "equal distances. Auto (default): quantiles, and learnt ones where clearly better.",
        ),
    ] = None
    interactions: Annotated[
        Any,
        _adding_option(
            metavar="N|auto|PAIRS",
            parser=_interactions,
            help="How many pairs of attributes may have rules of two conditions; or which, as in "
            "a:b,c:d. Auto (default) takes as many as help.",
        ),
    ] = None
    max_rules: Annotated[
        Any,
        _model_option(
            metavar="N|auto|all",
            parser=_or_words(int, AUTO, ALL),
            help="The most rules. For --model solah, auto (default) takes the fewest that unseen "
            "rows cannot tell from the best; trees have all by default, and join branches that say "
            "nearly the same.",
        ),
    ] = None
    max_attributes: Annotated[
        int | None,
        _adding_option(
            min=1, metavar="N", help="The most attributes (sensors) that rules may ask for."
        ),
    ] = None
    attribute_cost: Annotated[
        list[str] | None,
        _adding_option(
            metavar="COL=COST",
            help="What an attribute costs, such as camera=5; others cost 1. Dear ones are left "
            "out first. Repeat it for more.",
        ),
    ] = None
    required: Annotated[
        list[str] | None,
        _adding_option(
            metavar="COL",
            help="An attribute that stays in the model, whatever the budget is. Repeat it, or use "
            "commas.",
        ),
    ] = None
    monotonic: Annotated[
        list[str] | None,
        _adding_option(
            metavar="COL=1|-1",
            help="Let the belief in the second class, or the number, never fall (1) or never rise "
            "(-1) as a column rises: age=1. Of several classes, name one: age=1@ill. Repeat it, or "
            "use commas.",
        ),
    ] = None
    interaction_set: Annotated[
        list[str] | None,
        _adding_option(
            metavar="COLS",
            help="Columns that may have rules of two conditions with each other, such as a,b,c; "
            "all that are in no set are one. Repeat it for more.",
        ),
    ] = None
    may_lose: Annotated[
        Literal["groups", "features", "nothing"] | None,
        _adding_option(
            help="What may be lost when the model decides, all readings of a group or single "
            "attributes: rules are then fitted to such rows, too. A file of --placement means "
            "groups, unless it is nothing.",
        ),
    ] = None
    words_of: Annotated[
        list[str] | None,
        _adding_option(
            metavar="COL=WORDS",
            help="The words of a column by hand, from low to high, with or without their peaks: "
            "CO2=fresh:400,stale:1400. Repeat it for more.",
        ),
    ] = None
    clusters: Annotated[
        Any,
        _adding_option(
            metavar="N|each|auto",
            parser=_or_words(int, "each", AUTO),
            help="The paper's k: the larger, the smaller the groups of attributes; 'each' makes "
            "none.",
        ),
    ] = None
    group: Annotated[
        list[str] | None,
        _adding_option(
            metavar="NAME=COLS",
            help="A group of attributes by hand, such as air=CO2,humidity. Repeat it for more.",
        ),
    ] = None
    fusion: Annotated[
        Literal["add", "tree"] | None,
        _adding_option(
            help="Add up what rules say (default), or stack trees, as the paper does. Options of "
            "trees and hierarchies stack trees as well.",
        ),
    ] = None
    hierarchy: Annotated[
        str | None,
        _model_option(
            metavar="FILE|TEXT",
            help="A hierarchy by hand: a .json, .yaml or .txt file, or text such as "
            "'z1 <- a, b; y <- z1, c'.",
        ),
        READ,
    ] = None
    class_weight: Annotated[
        Literal["balanced"] | None,
        _model_option(help="Let rare classes weigh as much as others."),
    ] = None
    threshold: Annotated[
        list[str] | None,
        _model_option(
            metavar="CLASS=SHARE",
            help="Decide for a class from this belief on, such as sick=0.2. Repeat it for more.",
        ),
    ] = None
    paper: Annotated[
        bool,
        _model_option(
            "--paper", help="Trees with the settings of the paper; options beside it win."
        ),
    ] = False
    level_gap: Annotated[
        Any,
        _stack_option(
            metavar="X|auto",
            parser=_or_words(float, AUTO),
            help="The paper's theta: the larger, the fewer levels.",
        ),
    ] = None
    top: Annotated[
        Literal["fuse", "merge"] | None,
        _stack_option(help="Put a tree on top of the last ones (default), or make one of them."),
    ] = None
    bias_corrected: Annotated[
        bool,
        _stack_option(
            "--bias-corrected", help="Measure dependence without bias: fairer with few rows."
        ),
    ] = False
    screen: Annotated[
        float | None,
        _stack_option(
            metavar="NUMBER",
            help="With very many attributes, keep so many that depend on the goal most; or, below "
            "1, those with this dependence at least.",
        ),
    ] = None
    node: Annotated[
        Literal["tree", "cmac"] | None,
        _stack_option(help="Trees (default), or tables of all combinations of words."),
    ] = None
    belief_labels: Annotated[
        int | None,
        _stack_option(
            min=2,
            max=5,
            metavar="N",
            help="Describe what trees believe with N words, from unlikely to likely; by default "
            "beliefs are taken as they are.",
        ),
    ] = None
    cross_fit: Annotated[
        int | None,
        _stack_option(
            min=2,
            metavar="N",
            help="Let trees learn from what those below believe of rows they have not learnt "
            "from, in N folds; by default they take all.",
        ),
    ] = None
    labels: Annotated[
        int | None,
        _tree_option(metavar="N", help="Words for each measurement; 3 by default."),
    ] = None
    placement: Annotated[
        Any,
        _tree_option(
            metavar="FILE|quantile|uniform",
            parser=_placement,
            help="A file that says what is measured where, as 'solah plan' takes it: groups follow "
            "the devices. For trees, words at equal shares of the rows (quantile, the default) or "
            "at equal distances (uniform).",
        ),
        READ,
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
        float | None,
        _tree_option(
            metavar="ROWS",
            help="Stop below this many rows, or below this share if less than 1; 0.01 by default.",
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
    rule_cost: Annotated[
        float | None,
        _tree_option(
            metavar="NATS",
            help="What a rule must be worth to stay, in log-likelihood; 0 by default.",
        ),
    ] = None
    population: Annotated[
        int | None,
        _search_option(min=3, metavar="N", help="Hierarchies a generation; 20 by default."),
    ] = None
    generations: Annotated[
        int | None, _search_option(min=0, metavar="N", help="Generations; 20 by default.")
    ] = None
    time_budget: Annotated[
        float | None, _search_option(min=0.001, metavar="SECONDS", help="End it after so long.")
    ] = None
    cascade: Annotated[
        bool, _search_option("--cascade", help="Search among chains of trees only.")
    ] = False

    @cached_property
    def devices(self) -> "Mapping[str, tuple[str, ...]] | None":
        """What is measured at each device, by the file of --placement; None without one."""
        from solah.network.placement import load_placement

        return load_placement(self.placement).nodes if isinstance(self.placement, Path) else None

    def _by_device(self, devices: "Mapping[str, tuple[str, ...]]") -> dict[str, Any]:
        """Return groups that follow the devices, with interactions only within each."""
        for flag, value in (("--group", self.group), ("--interaction-set", self.interaction_set)):
            if value is not None:
                raise typer.BadParameter(f"--placement makes groups of devices; leave {flag} out")
        groups = {node: list(names) for node, names in devices.items()}
        return {"group": groups, "interaction_set": list(groups.values()), "placement": None}

    def given(self) -> dict[str, Any]:
        """Return what the user set, by the names of the options, in the types of the estimators."""
        read: dict[str, Any] = {
            "attribute_cost": _costs(self.attribute_cost),
            "threshold": _thresholds(self.threshold),
            "group": _groups(self.group),
            "required": [name for text in self.required or () for name in _split(text)] or None,
            "monotonic": _directions(self.monotonic),
            "interaction_set": _sets(self.interaction_set),
            "words_of": None,
        }
        if self.words_of:
            if self.words is not None:
                raise typer.BadParameter("--words-of is for --words auto; leave out --words")
            read["words"] = _words_by_hand(self.words_of)
        if self.screen is not None and self.screen >= 1:
            read["screen"] = int(self.screen)
        if self.devices is not None:
            read |= self._by_device(self.devices)
        values = {name: getattr(self, name) for name in self.__dataclass_fields__} | read
        del values["paper"]
        return {name: one for name, one in values.items() if one is not None and one is not False}
