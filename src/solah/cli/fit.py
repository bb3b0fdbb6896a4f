"""``solah fit``: learns a model from rows, and writes it as a document."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Any

from solah.cli.follow import FollowOptions, follow
from solah.cli.model_options import AUTO, ModelOptions, OneModel
from solah.cli.options import ColumnOptions, Data, Groups, Jobs, OutputFile, ReadingOptions
from solah.cli.overwriting import refuse_overwriting
from solah.cli.policy_options import (
    PolicyOptions,
    describe_policy,
    fitted_policy,
    refuse_number,
    refuse_policy,
    show_policy,
)
from solah.cli.scale import ScaleOptions, scanned
from solah.cli.screen import Screen
from solah.cli.signals import SignalOptions, refuse_idle_signals
from solah.cli.verb import many_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.cli.models import Estimator
    from solah.cli.problems import Problem
    from solah.cli.scale import ScanProblem
    from solah.evaluation import ChosenPolicy
    from solah.model import Attribute, Model
    from solah.scale import Scan


_SHOWN = 8


@dataclass(frozen=True)
class _Learnt:
    """What was learnt: the model's name among the models, the estimator, and what it took."""

    problem: "Problem | ScanProblem"
    n_rows: int | None
    kinds: dict[str, str]
    name: str
    estimator: "Estimator"
    seconds: float
    output: Path
    chosen: "ChosenPolicy | None" = None

    @property
    def model(self) -> "Model":
        return self.estimator.model_

    @property
    def depth(self) -> int:
        from solah.report import rule_depth

        return rule_depth(self.model)

    @property
    def asked_for(self) -> list["Attribute"]:
        """The attributes that rules ask for."""
        named = {one.name for node in self.model.nodes for one in node.inputs}
        return [one for one in self.model.attributes if one.name in named]

    @property
    def interactions(self) -> list[list[str]]:
        """The attributes that have rules of several conditions, where rules add up."""
        return [list(term.features) for term in self.model.terms if len(term.features) > 1]

    @property
    def clusters(self) -> tuple[tuple[str, ...], ...] | None:
        groups = getattr(self.estimator, "feature_groups_", None)
        return getattr(self.estimator, "clusters_", groups)

    @property
    def given_clusters(self) -> int | str | None:
        """The paper's k."""
        groups = getattr(self.estimator, "feature_groups", None)
        given = getattr(self.estimator, "n_clusters", groups)
        return given if isinstance(given, int | str) else None


@many_options(
    *("target", "drop", "leave_out", "model", "max_rules", "max_attributes", "interactions"),
    *("class_weight", "groups", "memory", "follow", "settings", "json", "output"),
    settings=True,
)
def fit(
    data: Data,
    columns: ColumnOptions,
    choice: OneModel,
    options: ModelOptions,
    scale: ScaleOptions,
    following: FollowOptions,
    signals: SignalOptions,
    wanted: PolicyOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFile = Path("model.json"),
    groups: Groups = None,
    jobs: Jobs = None,
) -> None:
    """Learn rules in words, and write them as a model document.

    By default, rules that add up, in groups that organise themselves; or trees (--model).

    Example: solah fit patients.csv --target diagnosis --drop id -o model.json

    Many files: solah fit 'days/*.parquet' -t fault --memory 1GB

    Recordings: solah fit recordings/ -t activity --window 2s --rate 50
    """
    from solah.cli.provenance import provenance_of
    from solah.model import save_document

    _refuse_idle(scale, following, signals, groups)
    refuse_overwriting([output, *scale.files(), *following.files()], [data])
    if following.follow:
        refuse_policy(wanted, "is for rows that are all there, and --follow has none yet")
        follow(data, columns, choice, options, following, reading, screen, output, jobs)
        return
    is_scan = scale.is_for(data) and not signals.are_wanted
    if is_scan:
        refuse_policy(wanted, "is for rows in memory, and these are passed over")
        with scanned(data, columns, reading, scale, screen, groups) as (rows, passed):
            learnt = _fit_scan(rows, passed, choice, options, screen, output, jobs)
    else:
        with screen.working("reading"):
            problem = _posed(data, columns, signals, reading, groups)
        for note in problem.notes:
            screen.note(note)
        learnt = _fit_table(problem, choice, options, wanted, screen, output, jobs)
    origin = provenance_of(data, learnt.problem, learnt.n_rows, learnt.estimator)
    save_document(replace(learnt.model, provenance=origin), output)
    if screen.json:
        screen.document(_document(learnt))
    _show(screen, learnt)
    show_policy(screen, learnt.model, learnt.chosen)
    _show_next(screen, "ROWS" if is_scan else data, output)


def _refuse_idle(
    scale: ScaleOptions, following: FollowOptions, signals: SignalOptions, groups: str | None
) -> None:
    """Refuse options that nothing comes of: those of streams without one, others with one."""
    from solah.exceptions import ParameterError

    refuse_idle_signals(signals)
    for flag in ["--follow"] if following.follow else scale.given():
        if signals.are_wanted:
            raise ParameterError(f"{flag} is for rows, and --window makes them of recordings")
    if following.follow and groups is not None:
        raise ParameterError(
            "--groups is for folds, and --follow draws none; leave one of them out"
        )
    if following.given() and not following.follow:
        raise ParameterError(f"{following.given()[0]} is for --follow, which is not there")
    if following.follow and scale.given():
        raise ParameterError(
            f"{scale.given()[0]} is for rows that are passed over, and --follow learns them one by "
            "one; leave it out (--state remembers what was learnt)"
        )


def _posed(
    data: str,
    columns: ColumnOptions,
    signals: SignalOptions,
    reading: ReadingOptions,
    groups: str | None,
) -> "Problem":
    """Read all rows, or make them of recordings."""
    from solah.cli.problems import pose
    from solah.cli.signals import read_windows
    from solah.cli.sources import read_source

    if signals.are_wanted:
        source = read_windows(data, columns, signals, reading, groups)
        return pose(source, replace(columns, drop=None))
    return pose(read_source(data, reading.read_options()), columns, groups)


def _fit_table(
    problem: "Problem",
    choice: OneModel,
    options: ModelOptions,
    wanted: PolicyOptions,
    screen: Screen,
    output: Path,
    jobs: int | None,
) -> _Learnt:
    """Learn from rows in memory."""
    from solah.cli.models import make_models
    from solah.signals import with_signals

    refuse_number(wanted, problem)
    ((name, estimator),) = make_models(problem, choice.wishes, options, jobs).items()
    start = perf_counter()
    _learn(estimator, problem, screen)
    if problem.signals is not None:
        estimator.model_ = with_signals(estimator.model_, problem.signals)
    seconds, chosen = perf_counter() - start, None
    if wanted.given():
        estimator.model_, chosen = fitted_policy(wanted, estimator, problem, screen)
    return _Learnt(
        problem,
        problem.attributes.n_rows,
        {name: kind.value for name, kind in problem.kinds.items()},
        name,
        estimator,
        seconds,
        output,
        chosen,
    )


def _fit_scan(
    rows: "Scan",
    problem: "ScanProblem",
    choice: OneModel,
    options: ModelOptions,
    screen: Screen,
    output: Path,
    jobs: int | None,
) -> _Learnt:
    """Learn from rows that are passed over."""
    from solah.cli.models import make_models
    from solah.evaluation import groups_for

    ((name, estimator),) = make_models(problem, choice.wishes, options, jobs).items()
    start = perf_counter()
    estimator.fit(rows, problem.target, **groups_for(estimator, problem.groups))
    kinds = {one.name: one.kind.value for one in estimator.model_.attributes}
    seconds = perf_counter() - start
    return _Learnt(problem, problem.n_rows, kinds, name, estimator, seconds, output)


def _learn(estimator: "Estimator", problem: "Problem", screen: Screen) -> None:
    """Learn, and show that something is done; some estimators have a bar of their own."""
    from solah.evaluation import groups_for

    has_bar = hasattr(estimator, "verbose")
    if has_bar:
        estimator.set_params(verbose=screen.is_watched)
    with nullcontext() if has_bar else screen.working("learning"):
        given = groups_for(estimator, problem.groups)
        estimator.fit(problem.attributes, problem.goal, **given)
    if getattr(estimator, "stop_reason_", "") == "interrupted":
        screen.note("interrupted: this is the best hierarchy that was found until then")


def _document(learnt: _Learnt) -> dict[str, Any]:
    from solah.report import describe_goal, describe_hierarchy

    problem, model = learnt.problem, learnt.model
    return {
        "model": str(learnt.output),
        "kind": learnt.name,
        "data": problem.source,
        "rows": learnt.n_rows,
        "kinds": learnt.kinds,
        "identifiers": list(problem.identifiers),
        "goal": describe_goal(model.goal),
        "hierarchy": describe_hierarchy(model),
        "clusters": learnt.clusters,
        "given_clusters": learnt.given_clusters,
        "search": _search(learnt.estimator),
        "choice": _choice(learnt.estimator),
        "screening": _screening(learnt.estimator),
        "left_out": getattr(learnt.estimator, "dropped_features_", None),
        "interactions": learnt.interactions,
        "rules": model.n_rules,
        "branches": model.n_branches,
        "depth": learnt.depth,
        "policy": describe_policy(model, learnt.chosen),
        "seconds": learnt.seconds,
    }


def _show(screen: Screen, learnt: _Learnt) -> None:
    from solah.cli.models import adds_up, spell_models
    from solah.cli.problems import spell_identifiers
    from solah.cli.views import facts
    from solah.report import draw_trees

    problem, estimator = learnt.problem, learnt.estimator
    is_hierarchy = hasattr(estimator, "hierarchy_")
    shown = {
        "data": problem.shape,
        "goal": problem.aim,
        "identifiers": spell_identifiers(problem.identifiers),
        "model": spell_models([learnt.name], {learnt.name: estimator}),
        **(_spell_rules(learnt) if adds_up(estimator) else _spell_trees(learnt)),
        "chosen": getattr(estimator, "selection_reason_", "") or None,
        "screened": getattr(estimator, "screening_", None),
        "left out": _spell_left_out(learnt),
        "time": f"{learnt.seconds:.2f} s",
        "written": learnt.output,
    }
    screen.say(facts({name: value for name, value in shown.items() if value is not None}))
    if is_hierarchy:
        screen.say("", draw_trees(learnt.model, screen.width))


def _show_next(screen: Screen, data: str, output: Path) -> None:
    """Say what can be done with the model."""
    from solah.cli.views import facts, heading

    model, rows = quote(str(output)), quote(data)
    screen.say("", heading("What to do next"))
    screen.say(
        facts(
            {
                f"solah rules {model}": "read its rules",
                f"solah predict {model} {rows}": "decide on rows",
                f"solah explain {model} {rows} --row 1": "see why it decides as it does",
                f"solah report {model} {rows}": "see all about it in the browser",
                f"solah export {model} {rows}": "bring it to a device",
                "solah evaluate": "measure it on unseen rows, with the same data and options",
            }
        )
    )


def _spell_trees(learnt: _Learnt) -> dict[str, str | None]:
    """Say how large trees are, and how they are wired."""
    from solah.cli.wording import plural

    model = learnt.model
    sizes = plural(model.n_rules, "rule"), plural(model.n_branches, "branch", "branches")
    return {
        "trees": _spell_wiring(learnt) if hasattr(learnt.estimator, "hierarchy_") else None,
        "size": f"{', '.join(sizes)}, at most {plural(learnt.depth, 'condition')} a rule",
        "search": _spell_search(learnt.estimator),
    }


def _spell_rules(learnt: _Learnt) -> dict[str, str | None]:
    """Say what rules that add up are made of: attributes, words, interactions."""
    from solah.cli.wording import plural

    model = learnt.model
    n_paired = sum(term.n_rules for term in model.terms if len(term.features) > 1)
    conditions = f", {n_paired} of them with two conditions" if n_paired else ""
    n_asked, n_groups = len(learnt.asked_for), sum(len(one.groups) for one in model.sums)
    groups = f", in {plural(n_groups, 'group')}" if n_groups > 0 else ""
    return {
        "rules": f"{model.n_rules}{conditions}",
        "asks for": f"{n_asked} of {plural(len(learnt.problem.names), 'attribute')}{groups}",
        "words": _spell_words(learnt),
        "interactions": _some(" & ".join(pair) for pair in learnt.interactions) or "none",
        "unseen rows": _spell_unseen(learnt),
    }


def _spell_words(learnt: _Learnt) -> str | None:
    """Say how many words measurements have, and where they stand."""
    sizes = [len(one.words) for one in learnt.asked_for if one.is_continuous]
    if not sizes:
        return None
    least, most = min(sizes), max(sizes)
    each = f"{least}" if least == most else f"{least} to {most}"
    where = {
        "supervised": f"learnt: they stand where {learnt.model.goal.name} changes",
        "quantile": "from equal shares of the rows",
        "uniform": "from equal distances",
    }[learnt.estimator.selection_.word_kind]
    of = f"each of {len(sizes)} measurements" if len(sizes) > 1 else "the only measurement"
    return f"{each} for {of}, {where}"


def _spell_unseen(learnt: _Learnt) -> str | None:
    """Say what so many rules are worth on rows that they were not learnt from."""
    from solah.cli.provenance import out_of_fold

    unseen = out_of_fold(learnt.estimator, learnt.problem)
    if unseen is None:
        return None
    n_groups = learnt.problem.n_groups
    how = f"out of fold, {n_groups} groups kept together" if n_groups > 1 else "out of fold"
    if unseen.r2 is not None:
        return f"R² {unseen.r2:.3f}, RMSE {unseen.rmse:.4g} ({how})"
    return f"accuracy {unseen.accuracy:.3f}, log-loss {unseen.log_loss:.3f} ({how})"


def _choice(estimator: "Estimator") -> dict[str, Any] | None:
    """Tell which numbers of rules were compared, and why one was chosen."""
    path = getattr(estimator, "path_", ())
    if not path:
        return None
    return {"reason": estimator.selection_reason_, "path": [dict(vars(step)) for step in path]}


def _search(estimator: "Estimator") -> dict[str, Any] | None:
    """Gather how a search went, where there was one."""
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


def _screening(estimator: "Estimator") -> dict[str, Any] | None:
    """Tell which attributes were kept of very many, where that was asked for."""
    found = getattr(estimator, "screening_", None)
    if found is None:
        return None
    left_out = dict(zip(found.left_out, found.left_out_relevance, strict=True))
    return {"kept": list(found.kept), "least_kept": found.least_kept, "left_out": left_out}


def _spell_search(estimator: "Estimator") -> str | None:
    from solah.cli.wording import plural

    search = _search(estimator)
    if search is None or search["score"] is None:
        return None
    tried = plural(search["evaluated"], "hierarchy", "hierarchies")
    generations = plural(search["generations"], "generation")
    name = {"auc": "AUC"}.get(search["scoring"], search["scoring"])
    return f"{tried} in {generations}, best {name} {search['score']:.3f} (cross-validated)"


def _spell_left_out(learnt: _Learnt) -> str | None:
    """Name the attributes that no rule speaks of, those first that tell most about the goal."""
    left_out = getattr(learnt.estimator, "dropped_features_", None)
    if left_out:
        names = sorted(left_out, key=lambda name: -left_out[name])
        shown = _some(f"{name} ({left_out[name]:.2f})" for name in names)
        return f"{shown} (dependence with the goal)"
    asked = {one.name for one in learnt.asked_for}
    return _some(name for name in learnt.problem.names if name not in asked) or None


def _some(texts: "Iterable[str]") -> str:
    """List some texts, and say how many more there are."""
    every = list(texts)
    more = f", and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    return f"{', '.join(every[:_SHOWN])}{more}"


def _spell_wiring(learnt: _Learnt) -> str:
    """Say how many trees, clusters and levels there are, as the paper counts them."""
    from solah.cli.wording import plural

    said = [
        plural(len(learnt.model.trees), "tree"),
        f"{learnt.model.hierarchy.n_levels} levels (the attributes' among them)",
    ]
    if learnt.clusters is not None:
        asked = "" if learnt.given_clusters == AUTO else f"; k was {learnt.given_clusters}"
        said.append(f"{plural(len(learnt.clusters), 'cluster')} (K{asked})")
    return ", ".join(said)
