"""The model that a command fits, and its parameters, as the estimators declare them."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from solah.cli.command import READ, option, read_file
from solah.exceptions import DataError, ParameterError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from solah.model import Task

_RULES, _TREE, _WIRED = "rules", "tree", "hierarchy"
_ORGANISED, _GENETIC = "organised", "genetic"
_ABOUT = {
    _RULES: "additive model",
    _TREE: "one linguistic tree",
    _WIRED: "trees wired by the user",
    _ORGANISED: "rule models wired by the paper's algorithms",
    _GENETIC: "trees wired by a genetic search",
}
_HELP, _PAPER = "help", "@paper"
_SEARCH_SEED = 0
# Other options give them, or nothing on a command line could.
_NOT_SET = ("feature_types", "n_jobs", "verbose", "random_state", "estimator", "on_event")


def _take_settings(context: typer.Context, given: list[str] | None) -> list[str] | None:
    """List the parameters of the chosen model, if that is asked for."""
    if _HELP not in (given or ()) or context.resilient_parsing:
        return given
    kinds = [_estimator_class(name) for name in context.params.get("model") or [_RULES]]
    if context.info_name == "follow":
        from solah.stream import StreamLearner

        kinds.append(StreamLearner)
    typer.echo("\n\n".join(map(_describe, kinds)))
    raise typer.Exit


def _several_models(given: list[str] | None) -> list[str]:
    names = [name.strip() for text in given or () for name in text.split(",")]
    for name in names:
        if name not in _ABOUT:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, _ABOUT))}")
    return list(dict.fromkeys(names))


def _max_rules(text: str) -> int | str:
    if text in ("auto", "all"):
        return text
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a whole number nor 'auto' nor 'all'")
    return int(text)


@dataclass(frozen=True)
class ModelOptions:
    """How a model is set; what is None stays as the estimator has it."""

    panel: ClassVar[str] = "The model"

    model: Annotated[
        list[str] | None,
        option(
            "Additive rules, one linguistic tree, or a hierarchy: your own (--set hierarchy=…), "
            "self-organised or searched for. Default: rules. Repeatable in 'evaluate'.",
            metavar=f"<{'|'.join(_ABOUT)}>",
            callback=_several_models,
            is_eager=True,
        ),
    ] = None
    set: Annotated[
        list[str] | None,
        option(
            "Parameter of the model, such as max_features=5; 'help' lists them. @FILE reads a "
            "TOML file of them, @paper takes the paper's settings of trees. Repeatable.",
            metavar="NAME=VALUE",
            callback=_take_settings,
        ),
    ] = None
    max_rules: Annotated[
        Any,
        option(
            "Maximum number of rules. Default: auto, the fewest that lose no accuracy.",
            metavar="N|auto|all",
            parser=_max_rules,
        ),
    ] = None
    placement: Annotated[
        Path | None,
        read_file("Node file ('solah site plan'): feature groups follow the nodes."),
        READ,
    ] = None


def make_models(
    options: ModelOptions,
    task: Task,
    kinds: Mapping[str, Any],
    columns: Sequence[str] | None = None,
    *,
    jobs: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the estimators that the user asks for by name, set as the user sets them.

    Parameters
    ----------
    options : which models, and their settings
    task : classification or regression
    kinds : the feature types, as far as they are known
    columns : the features; None if unknown
    jobs : the number of threads; None for all processors
    settings : the words of --set, read; None to read them

    Raises
    ------
    DataError
        If a model for classes is asked for, and the target is a number.
    ParameterError
        If a parameter is unknown or cannot be read, or options do not go together.
    """
    from solah.estimators import PAPER
    from solah.kernels.choose import available_threads
    from solah.model import Task

    given = dict(read_settings(options.set) if settings is None else settings)
    is_number, is_paper = task is Task.REGRESSION, _PAPER in (options.set or ())
    names = options.model or []
    if not names:
        wired = _TREE if is_number else _ORGANISED
        names = [_WIRED if "hierarchy" in given else wired if is_paper else _RULES]
    if _WIRED in names and "hierarchy" not in given:
        raise ParameterError(
            "--model hierarchy requires --set hierarchy='z <- a, b; y <- z, c'; --model organised "
            "finds one"
        )
    classes = {name: _estimator_class(name, is_number=is_number) for name in names}
    if options.max_rules is not None:
        if "max_rules" in given:
            raise ParameterError("'max_rules' is set twice: by --set and by its own option")
        given["max_rules"] = None if options.max_rules == "all" else options.max_rules
    if options.placement is not None:
        if others := [name for name in names if name != _RULES]:
            raise ParameterError(f"--placement is for --model {_RULES}, not for {others[0]}")
        for name in ("feature_groups", "interaction_cst"):
            if name in given:
                raise ParameterError(f"--placement sets {name!r}; drop one of them")
        nodes = _nodes_of(options.placement, columns)
        given |= {"feature_groups": nodes, "interaction_cst": [*nodes.values()]}
        if not is_number:
            given.setdefault("robust_to", "groups")
    for key in given:
        if not any(key in _parameters(kind) for kind in classes.values()):
            known = [one for kind in classes.values() for one in _listed(kind)]
            shown = ", ".join(kind.__name__ for kind in classes.values())
            raise ParameterError(f"{key!r} is not a parameter of {shown}{did_you_mean(key, known)}")
    found = {}
    for name, kind in classes.items():
        owners = _parameters(kind)
        own = {"feature_types": dict(kinds), "n_jobs": jobs or available_threads()}
        own |= {"random_state": _SEARCH_SEED} if name == _GENETIC else {}
        own |= {key: value for key, value in given.items() if key in owners}
        own = {key: _as_declared(*owners[key], value) for key, value in own.items()}
        nested = {key: own.pop(key) for key in [*own] if "__" in key}
        paper = PAPER if is_paper and name != _RULES else {}
        found[name] = kind.with_settings(paper, **own).set_params(**nested)
    return found


def make_model(*given: Any, **more: Any) -> tuple[str, Any]:
    """Return the one estimator that the user asks for, and its name; see :func:`make_models`."""
    models = make_models(*given, **more)
    if len(models) > 1:
        raise ParameterError(f"one model is trained, not {len(models)}; pass one --model")
    return next(iter(models.items()))


def name_models(estimators: Mapping[str, Any]) -> str:
    """Name models, and describe each."""
    return ", ".join(f"{name} ({_ABOUT[name]})" for name in estimators)


def _estimator_class(name: str, *, is_number: bool = False) -> Any:
    from solah import estimators

    for_classes = {
        _RULES: estimators.RuleClassifier,
        _TREE: estimators.LinguisticTreeClassifier,
        _WIRED: estimators.LinguisticHierarchyClassifier,
        _ORGANISED: estimators.SelfOrganisedHierarchyClassifier,
        _GENETIC: estimators.GeneticHierarchyClassifier,
    }
    for_numbers = {_RULES: estimators.RuleRegressor, _TREE: estimators.LinguisticTreeRegressor}
    if is_number and name not in for_numbers:
        raise DataError(
            f"--model {name} is for classes, but the target is a number; declare it "
            f"with --type COL=categorical"
        )
    return for_numbers[name] if is_number else for_classes[name]


def _nodes_of(file: Path, columns: Sequence[str] | None) -> dict[str, list[str]]:
    """Read which node measures which feature; each feature needs one."""
    from solah.site.placement import load_placement

    nodes = {node: list(names) for node, names in load_placement(file).nodes.items()}
    placed = [name for names in nodes.values() for name in names]
    if columns is not None and (nowhere := [name for name in columns if name not in placed]):
        raise ParameterError(
            f"{file} has no node for {shorten(nowhere[0])}; give it one, or drop the column with "
            "--drop"
        )
    if columns is not None and (strange := [name for name in placed if name not in columns]):
        raise ParameterError(
            f"{file} places {shorten(strange[0])}, which is not a feature"
            f"{did_you_mean(strange[0], columns)}"
        )
    return nodes


def read_settings(words: Iterable[str] | None) -> dict[str, Any]:
    """Read the words of --set: ``name=value`` and ``@file.toml``."""
    import tomllib

    found: dict[str, Any] = {}
    for word in words or ():
        if word == _PAPER:
            continue
        if word.startswith("@"):
            try:
                pairs = tomllib.loads(Path(word[1:]).read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ParameterError(f"{word[1:]} is not TOML: {error}") from None
        else:
            name, sign, text = word.partition("=")
            if not sign or not name.strip():
                raise ParameterError(
                    f"--set {shorten(word)} is not of the form name=value, such as interactions=0; "
                    "--set help lists the parameters"
                )
            pairs = {name.strip(): _read_value(text, name.strip())}
        for name, value in pairs.items():
            if name in found:
                raise ParameterError(f"--set gives {name!r} twice")
            found[name] = value
    return found


# A word where JSON requires quotes, as YAML allows: {age: 1}, [a, b c].
_BARE = re.compile(r"""(?<=[\[{,:])\s*([^\s"'\[\]{},:][^"\[\]{},:]*?)\s*(?=[\]},:])""")


def _read_value(text: str, name: str) -> Any:
    """Read JSON, in which words need no quotes; text is itself."""
    text = text.strip()

    def quoted(found: re.Match[str]) -> str:
        word = found[1]
        try:
            json.loads(word)
        except ValueError:
            return {"None": "null", "True": "true", "False": "false"}.get(word, json.dumps(word))
        return json.dumps(word) if text[found.end(1) :].lstrip().startswith(":") else word

    is_nested = text.startswith(("[", "{"))
    plain = {"None": "null", "True": "true", "False": "false"}.get(text, text)
    try:
        return json.loads(_BARE.sub(quoted, text) if is_nested else plain)
    except (ValueError, RecursionError) as error:
        if is_nested:
            raise ParameterError(f"--set {name}: invalid JSON: {shorten(text)} ({error})") from None
        return text


def _as_declared(owner: Any, name: str, value: Any) -> Any:
    """Return a value in the type of the parameter: a list where words behind commas are given."""
    from solah.sklearn_private import StrOptions

    declared = owner._parameter_constraints.get(name, ())
    takes_text = any(isinstance(one, StrOptions) or one in (str, "str") for one in declared)
    if not isinstance(value, str) or takes_text:
        return value
    is_list = any(getattr(one, "__name__", "") in ("Sequence", "list") for one in declared)
    return [one.strip() for one in value.split(",")] if is_list or "," in value else value


def _parameters(kind: Any) -> dict[str, tuple[Any, str]]:
    """Return the class that declares each parameter, and its name there.

    The parameters of a part have two names: ``tree__max_depth`` and ``max_depth``.
    """
    owners = {name: (kind, name) for name in _defaults(kind)}
    for part, of_part in getattr(kind, "_parts", {}).items():
        for name in _defaults(of_part):
            owners[f"{part}__{name}"] = (of_part, name)
            owners.setdefault(name, (of_part, name))
    return owners


def _defaults(kind: Any) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.items()
    return {name: one.default for name, one in parameters if one.default is not one.empty}


def _listed(kind: Any) -> dict[str, tuple[Any, str]]:
    """Return the parameters that --set lists: those of parts with both names."""
    parts = getattr(kind, "_parts", {})
    found = {}
    for name, (owner, own) in _parameters(kind).items():
        is_hidden = own in _NOT_SET or (owner is not kind and own in ("class_weight", "thresholds"))
        if not is_hidden and name not in parts and (owner is kind or "__" in name):
            found[name] = (owner, own)
    return found


def _describe(kind: Any) -> str:
    """List the parameters of a class, with the first sentence of their documentation."""
    lines = [f"Parameters of {kind.__name__}, for --set NAME=VALUE:", ""]
    for name, (owner, own) in _listed(kind).items():
        text = _documentation(owner).get(own, "")
        lines.append(f"  {name} (default: {_defaults(owner)[own]})")
        lines += [f"      {text}"] if text else []
    return "\n".join(lines)


def _documentation(kind: Any) -> dict[str, str]:
    """Return the first sentence about each parameter of a class."""
    import solah

    section = (inspect.getdoc(kind) or "").partition("Parameters\n----------\n")[2]
    section = re.split(r"\n\n?\w[\w ]*\n-{3,}\n", section)[0]
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section):
        head, _, body = entry.partition("\n")
        body = " ".join(body.split())
        names = head.partition(" : ")[0].split(", ")
        other = re.match(r"As in :class:`~?solah\.(\w+)`", body)
        elsewhere = _documentation(getattr(solah, other[1])) if other else {}
        plain = re.sub(r":\w+:`~?(?:solah\.)?([^`]*)`", r"\1", body)
        sentence = re.split(r"(?<=[.])\s", plain)[0].replace("``", "")
        found |= {name: elsewhere.get(name, sentence) for name in names}
    return found
