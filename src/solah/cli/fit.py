"""``solah fit``: train a model on rows, and save it."""

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import option
from solah.cli.options import ColumnOptions, Data, Groups, Jobs, OutputFile, ReadingOptions
from solah.cli.parameters import ModelOptions
from solah.cli.policy import describe_policy, fitted_policy, read_policy, show_policy
from solah.cli.screen import Screen, plural
from solah.cli.signals import SignalOptions

if TYPE_CHECKING:
    from solah.cli.problem import Problem
    from solah.evaluation import ChosenPolicy
    from solah.model import CrossValidated, Model, Provenance

_SHOWN = 8
_PATTERN = "*?["

Policy = Annotated[
    list[str] | None,
    option(
        "Option of 'solah policy', chosen by cross-validation: max-error=5%. Repeatable.",
        metavar="NAME=VALUE",
    ),
]
Memory = Annotated[
    str | None,
    option(
        "Read the rows in passes, within this much memory. Default for folders and patterns.",
        metavar="SIZE",
    ),
]


def fit(
    data: Data,
    columns: ColumnOptions,
    options: ModelOptions,
    signals: SignalOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFile = Path("model.json"),
    groups: Groups = None,
    policy: Policy = None,
    memory: Memory = None,
    jobs: Jobs = None,
) -> None:
    """Train a rule model and save it.

    Example: solah fit patients.csv --target diagnosis --drop id --max-rules 20 -o model.json

    Many files: solah fit 'days/*.parquet' -t fault --memory 1GB

    Recordings: solah fit recordings/ -t activity --window 2s --signals rate=50
    """
    from solah.exceptions import ParameterError
    from solah.model import save_document

    signals.refuse_idle()
    wanted = read_policy(policy or ())
    if signals.are_wanted and memory is not None:
        raise ParameterError(
            "--memory does not work with --window, which makes rows of recordings; drop one of them"
        )
    path = Path(data)
    is_many = path.is_dir() or (not path.exists() and any(sign in data for sign in _PATTERN))
    is_scan = not signals.are_wanted and (memory is not None or is_many)
    if is_scan:
        from solah.cli.problem import pose_scan

        if policy:
            raise ParameterError(
                "--policy requires rows in memory, but these are read in passes; fit without it, "
                "then use 'solah policy'"
            )
        problem = pose_scan(data, columns, reading, memory, screen, groups)
    else:
        with screen.working("reading"):
            problem = read_problem(data, columns, signals, reading, groups)
    for note in problem.notes:
        screen.note(note)
    fitted = _fit(problem, options, wanted, screen, jobs)
    save_document(replace(fitted.model, provenance=_provenance(data, fitted)), output)
    if screen.json:
        screen.document(_document(fitted, output))
    _show(screen, fitted, output)
    show_policy(screen, fitted.model, fitted.chosen)
    _show_next(screen, "ROWS" if is_scan else data, output)


def read_problem(
    data: str,
    columns: ColumnOptions,
    signals: SignalOptions,
    reading: ReadingOptions,
    groups: str | None,
    *,
    is_evaluated: bool = False,
) -> "Problem":
    """Read all rows, or make them of recordings; these can be evaluated on two or more."""
    from solah.cli.problem import pose, read_source
    from solah.cli.signals import read_windows
    from solah.exceptions import DataError

    if signals.are_wanted:
        source = read_windows(data, columns, signals, reading, groups)
        if is_evaluated and source.groups is not None and len(set(source.groups.tolist())) < 2:
            raise DataError(
                "all windows are from one recording or group, whose windows share samples, so "
                "metrics would be too optimistic; evaluate on two recordings or more"
            )
        return pose(source, replace(columns, drop=None))
    return pose(read_source(data, reading), columns, groups)


@dataclass(frozen=True)
class _Fitted:
    """A fitted model: its name among the models, the estimator, and what it took."""

    problem: "Problem"
    name: str
    estimator: Any
    seconds: float
    chosen: "ChosenPolicy | None" = None

    @property
    def model(self) -> "Model":
        return self.estimator.model_  # type: ignore[no-any-return]


def _fit(
    problem: "Problem", options: ModelOptions, wanted: Any, screen: Screen, jobs: int | None
) -> _Fitted:
    """Fit the model that the user asks for, and choose its policy."""
    from solah.cli.parameters import make_model
    from solah.evaluation import groups_for
    from solah.exceptions import DataError
    from solah.model import Task
    from solah.signals import with_signals

    if wanted is not None and problem.task is Task.REGRESSION:
        raise DataError(
            "--policy is for classes, but the target is a number; drop --policy, or "
            "declare the target categorical (--type COL=categorical)"
        )
    name, estimator = make_model(options, problem.task, problem.kinds, problem.names, jobs=jobs)
    has_bar = problem.data is not None and hasattr(estimator, "verbose")
    if has_bar:
        estimator.set_params(verbose=screen.is_watched)
    has_bar |= problem.data is None  # one for each pass
    start = perf_counter()
    with nullcontext() if has_bar else screen.working("fitting"):
        given = groups_for(estimator, problem.groups)
        estimator.fit(problem.features, problem.y, **given)
    if getattr(estimator, "stop_reason_", "") == "interrupted":
        screen.note("interrupted: this is the best hierarchy that was found until then")
    if not estimator.model_.n_rules:
        screen.note("no feature helps to predict the target: all rows get the same prediction")
    if problem.signals is not None:
        estimator.model_ = with_signals(estimator.model_, problem.signals)
    seconds, chosen = perf_counter() - start, None
    if wanted is not None:
        estimator.model_, chosen = fitted_policy(wanted, estimator, problem, screen)
    return _Fitted(problem, name, estimator, seconds, chosen)


def _provenance(data: str, fitted: _Fitted) -> "Provenance":
    """Describe the training data, as far as it is known.

    Rows that are read in passes are not read once more for their digest.
    """
    import numpy as np

    from solah.model import Provenance
    from solah.model.encode import encode_target
    from solah.model.provenance import digest_columns, digest_data
    from solah.safe_text import file_name

    problem, model, modified = fitted.problem, fitted.model, ""
    if Path(data).is_file():
        changed = datetime.fromtimestamp(Path(data).stat().st_mtime, UTC)
        modified = changed.strftime("%Y-%m-%dT%H:%M:%SZ")
    known = Provenance(
        source=file_name(problem.source),
        modified=modified,
        rows=problem.n_rows,
        dropped=problem.left_out,
        cross_validated=_cross_validated(fitted),
    )
    if problem.data is None:
        return known
    counts: tuple[int, ...] = ()
    if model.target.classes:
        places = encode_target(problem.target, model.target)
        counts = tuple(np.bincount(places, minlength=model.target.size).tolist())
    return replace(
        known,
        digest=digest_data(problem.data),
        columns=digest_columns(model, problem.data, problem.target),
        classes=counts,
    )


def _cross_validated(fitted: _Fitted) -> "CrossValidated | None":
    """Return the cross-validated metrics of the chosen number of rules.

    None for windows of one recording: they share samples, and metrics would be too good.
    """
    from solah.model import CrossValidated

    problem, estimator = fitted.problem, fitted.estimator
    chosen = next((step for step in getattr(estimator, "path_", ()) if step.is_chosen), None)
    if chosen is None or (problem.signals is not None and problem.n_groups < 2):
        return None
    return CrossValidated(**chosen.named)


def _document(fitted: _Fitted, output: Path) -> dict[str, Any]:
    from solah.report import describe_hierarchy, describe_target, rule_depth

    problem, model, estimator = fitted.problem, fitted.model, fitted.estimator
    kinds: dict[str, Any] = dict(problem.kinds)
    if problem.data is None:
        kinds = {one.name: one.kind for one in model.features}
    path, found = getattr(estimator, "path_", ()), getattr(estimator, "screening_", None)
    choice = (
        {"reason": estimator.selection_reason_, "path": list(map(vars, path))} if path else None
    )
    return {
        "model": str(output),
        "kind": fitted.name,
        "data": problem.source,
        "rows": problem.n_rows,
        "feature_types": {name: getattr(kind, "value", kind) for name, kind in kinds.items()},
        "identifiers": list(problem.identifiers),
        "target": describe_target(model.target),
        "hierarchy": describe_hierarchy(model),
        "search": _search(estimator),
        "choice": choice,
        "screening": found and asdict(found),
        "dropped": getattr(estimator, "dropped_features_", None),
        "interactions": [list(term.features) for term in model.terms if len(term.features) > 1],
        "rules": model.n_rules,
        "branches": model.n_branches,
        "depth": rule_depth(model),
        "policy": describe_policy(model, fitted.chosen),
        "seconds": fitted.seconds,
    }


def _show(screen: Screen, fitted: _Fitted, output: Path) -> None:
    from solah.cli.parameters import name_models
    from solah.cli.views import facts
    from solah.report import draw_trees

    model, estimator = fitted.model, fitted.estimator
    shown = {
        **fitted.problem.facts(),
        "model": name_models({fitted.name: estimator}),
        **(_rule_facts if fitted.name == "rules" else _tree_facts)(fitted),
        "chosen": getattr(estimator, "selection_reason_", "") or None,
        "screened": getattr(estimator, "screening_", None),
        "dropped": _dropped(fitted),
        "time": f"{fitted.seconds:.2f} s",
        "written": output,
    }
    screen.say(facts({name: value for name, value in shown.items() if value is not None}))
    if hasattr(estimator, "hierarchy_"):
        screen.say("", draw_trees(model, screen.width))


def _show_next(screen: Screen, data: str, output: Path) -> None:
    from solah.cli.views import facts, heading

    model, rows = quote(str(output)), quote(data)
    lines = {
        f"solah rules {model}": "read its rules",
        f"solah predict {model} {rows}": "predict rows",
        f"solah explain {model} {rows} --row 1": "explain a prediction",
        f"solah report {model} {rows}": "write a page about it",
        f"solah export {model} {rows}": "export it to a device",
        f"solah evaluate {rows} …": "cross-validate it, with the same options",
    }
    screen.say("", heading("What to do next"), facts(lines))


def _tree_facts(fitted: _Fitted) -> dict[str, str | None]:
    """Describe how large trees are, and how they are wired."""
    from solah.report import rule_depth

    model, search = fitted.model, _search(fitted.estimator)
    wiring = tried = None
    if hasattr(fitted.estimator, "hierarchy_"):
        kind = "node" if model.sums else "tree"
        n_levels = fitted.estimator.hierarchy_.n_levels
        wiring = f"{plural(len(model.nodes), kind)}, {plural(n_levels, 'level')}"
    if search is not None and search["score"] is not None:
        name = {"auc": "AUC"}.get(search["scoring"], search["scoring"])
        tried = (
            f"{plural(search['evaluated'], 'hierarchy', 'hierarchies')} in "
            f"{plural(search['generations'], 'generation')}, best {name} {search['score']:.3f} "
            "(cross-validated)"
        )
    sizes = [plural(model.n_rules, "rule")]
    if model.trees:
        sizes.append(plural(model.n_branches, "branch", "branches"))
    return {
        "nodes" if model.sums else "trees": wiring,
        "size": f"{', '.join(sizes)}, at most {plural(rule_depth(model), 'condition')} a rule",
        "search": tried,
    }


def _rule_facts(fitted: _Fitted) -> dict[str, str | None]:
    """Describe an additive model: features, words, interactions and metrics."""
    model, problem = fitted.model, fitted.problem
    pairs = [term for term in model.terms if len(term.features) > 1]
    n_paired = sum(term.n_rules for term in pairs)
    used = _used(model)
    n_groups = sum(len(one.groups) for one in model.sums)
    sizes = {len(one.words) for one in used if one.is_continuous}
    where = {
        "supervised": f"where {model.target.name} changes",
        "quantile": "at quantiles",
        "uniform": "at equal distances",
    }[fitted.estimator.selection_.word_kind]
    counts = " to ".join(map(str, sorted({min(sizes, default=0), max(sizes, default=0)})))
    metrics, held_out = None, _cross_validated(fitted)
    if held_out is not None:
        chosen = next(step for step in fitted.estimator.path_ if step.is_chosen)
        (quality, loss), digits = chosen.metrics, ".3f" if model.target.classes else ".4g"
        metrics = f"{quality} {chosen.quality:.3f}, {loss} {chosen.loss:{digits}} (cross-validated"
        metrics += f", {problem.n_groups} groups kept together)" if problem.n_groups > 1 else ")"
    paired = f", {n_paired} of them with two conditions" if n_paired else ""
    grouped = f", in {plural(n_groups, 'group')}" if n_groups else ""
    return {
        "rules": f"{model.n_rules}{paired}",
        "features": f"{len(used)} of {len(problem.names)}{grouped}",
        "words": f"{counts} per feature, {where}" if sizes else None,
        "interactions": _some(" & ".join(term.features) for term in pairs) or "none",
        "held-out": metrics,
    }


def _used(model: "Model") -> list[Any]:
    """Return the features that rules use."""
    named = {one.name for node in model.nodes for one in node.inputs}
    return [one for one in model.features if one.name in named]


def _search(estimator: Any) -> dict[str, Any] | None:
    """Describe how a search went, where there was one."""
    history = getattr(estimator, "history_", None)
    if history is None:
        return None
    score = estimator.best_score_
    return {
        "scoring": estimator.search_.scoring,
        "score": None if score != score else score,
        "evaluated": int(history["n_evaluated"][-1]) if len(history["n_evaluated"]) else 0,
        "generations": max(len(history["generation"]) - 1, 0),
        "stopped_by": estimator.stop_reason_,
    }


def _dropped(fitted: _Fitted) -> str | None:
    """Name the features without a rule, those first that depend on the target most."""
    dropped = getattr(fitted.estimator, "dropped_features_", None)
    if dropped:
        names = sorted(dropped, key=lambda name: -dropped[name])
        shown = _some(f"{name} ({dropped[name]:.2f})" for name in names)
        return f"{shown} (dependence with the target)"
    used = {one.name for one in _used(fitted.model)}
    return _some(name for name in fitted.problem.names if name not in used) or None


def _some(texts: Iterable[str]) -> str:
    """List some texts, and how many more there are."""
    every = list(texts)
    more = f", and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return f"{', '.join(every[:_SHOWN])}{more}"
