"""``solah fit``: learns a model from rows, and writes it as a document."""

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from solah.cli.follow import FollowOptions, follow
from solah.cli.model_options import AUTO, HierarchyOptions, OneModel, TreeOptions
from solah.cli.options import ColumnOptions, Data, Jobs, OutputFile, ReadingOptions
from solah.cli.overwriting import refuse_overwriting
from solah.cli.scale import ScaleOptions, scanned
from solah.cli.screen import Screen
from solah.cli.verb import many_options

if TYPE_CHECKING:
    from solah.cli.models import Estimator
    from solah.cli.problems import Problem
    from solah.cli.scale import ScanProblem
    from solah.data import Column, Table
    from solah.model import Model
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

    @property
    def model(self) -> "Model":
        return self.estimator.model_

    @property
    def depth(self) -> int:
        return max(tree.shape.depth for tree in self.model.trees)

    @property
    def clusters(self) -> tuple[tuple[str, ...], ...] | None:
        return getattr(self.estimator, "clusters_", None)

    @property
    def given_clusters(self) -> int | str | None:
        """The paper's k."""
        return getattr(self.estimator, "n_clusters", None)


@many_options(
    *("target", "drop", "model", "hierarchy", "labels", "max_rules", "max_depth", "class_weight"),
    *("memory", "follow", "settings", "jobs", "json", "output"),
)
def fit(
    data: Data,
    columns: ColumnOptions,
    choice: OneModel,
    wiring: HierarchyOptions,
    trees: TreeOptions,
    scale: ScaleOptions,
    following: FollowOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: OutputFile = Path("model.json"),
    jobs: Jobs = None,
) -> None:
    """Learn linguistic trees, organised in a hierarchy, and write them as a model document.

    Example: solah fit patients.csv --target diagnosis --drop id -o model.json

    Many files, in bounded memory: solah fit 'days/*.parquet' -t fault --memory 1GB
    """
    _refuse_idle(scale, following)
    refuse_overwriting([output, *scale.files(), *following.files()], [data])
    if following.follow:
        follow(data, columns, choice, wiring, trees, following, reading, screen, output, jobs)
        return
    if scale.is_for(data):
        with scanned(data, columns, reading, scale, screen) as (rows, problem):
            learnt = _fit_scan(rows, problem, choice, wiring, trees, screen, output, jobs)
    else:
        learnt = _fit_table(data, columns, choice, wiring, trees, reading, screen, output, jobs)
    learnt.estimator.save(output)
    if screen.json:
        screen.document(_document(learnt))
    _show(screen, learnt)
    screen.say(
        "",
        f"To print it: solah rules {output}",
        "To measure it on unseen rows: solah evaluate, with the same data and options",
    )


def _refuse_idle(scale: ScaleOptions, following: FollowOptions) -> None:
    """Refuse options that nothing comes of: those of streams without one, others with one."""
    from solah.exceptions import ParameterError

    if following.given() and not following.follow:
        raise ParameterError(f"{following.given()[0]} is for --follow, which is not there")
    if following.follow and scale.given():
        raise ParameterError(
            f"{scale.given()[0]} is for rows that are passed over, and --follow learns them one by "
            "one; leave it out (--state remembers what was learnt)"
        )


def _fit_table(
    data: str,
    columns: ColumnOptions,
    choice: OneModel,
    wiring: HierarchyOptions,
    trees: TreeOptions,
    reading: ReadingOptions,
    screen: Screen,
    output: Path,
    jobs: int | None,
) -> _Learnt:
    """Read all rows, and learn from them."""
    from solah.cli.models import make_models
    from solah.cli.problems import pose
    from solah.cli.sources import read_source

    with screen.working("reading"):
        problem = pose(read_source(data, reading.read_options()), columns)
    ((name, estimator),) = make_models(problem, choice.wishes, wiring, trees, jobs).items()
    start = perf_counter()
    _learn(estimator, problem.attributes, problem.goal, screen)
    return _Learnt(
        problem,
        problem.attributes.n_rows,
        {name: kind.value for name, kind in problem.kinds.items()},
        name,
        estimator,
        perf_counter() - start,
        output,
    )


def _fit_scan(
    rows: "Scan",
    problem: "ScanProblem",
    choice: OneModel,
    wiring: HierarchyOptions,
    trees: TreeOptions,
    screen: Screen,
    output: Path,
    jobs: int | None,
) -> _Learnt:
    """Learn from rows that are passed over."""
    from solah.cli.models import make_models

    ((name, estimator),) = make_models(problem, choice.wishes, wiring, trees, jobs).items()
    start = perf_counter()
    estimator.fit(rows, problem.target)
    kinds = {one.name: one.kind.value for one in estimator.model_.attributes}
    seconds = perf_counter() - start
    return _Learnt(problem, problem.n_rows, kinds, name, estimator, seconds, output)


def _learn(estimator: "Estimator", attributes: "Table", goal: "Column", screen: Screen) -> None:
    """Learn, and show that something is done; a search has a bar of its own."""
    searches = hasattr(estimator, "verbose")
    if searches:
        estimator.set_params(verbose=screen.is_watched)
    with nullcontext() if searches else screen.working("learning"):
        estimator.fit(attributes, goal)
    if getattr(estimator, "stop_reason_", "") == "interrupted":
        screen.note("interrupted: this is the best hierarchy that was found until then")


def _document(learnt: _Learnt) -> dict[str, Any]:
    from solah.report import describe_choice, describe_goal, describe_hierarchy

    problem, model = learnt.problem, learnt.model
    return {
        "model": str(learnt.output),
        "kind": learnt.name,
        "data": problem.source,
        "rows": learnt.n_rows,
        "kinds": learnt.kinds,
        "goal": describe_goal(model.goal),
        "hierarchy": describe_hierarchy(model),
        "clusters": learnt.clusters,
        "given_clusters": learnt.given_clusters,
        "search": _search(learnt.estimator),
        "choice": describe_choice(learnt.estimator),
        "screening": _screening(learnt.estimator),
        "rules": model.n_rules,
        "branches": model.n_branches,
        "depth": learnt.depth,
        "seconds": learnt.seconds,
    }


def _show(screen: Screen, learnt: _Learnt) -> None:
    from solah.cli.models import spell_models
    from solah.cli.views import facts
    from solah.cli.wording import plural
    from solah.report import draw_trees

    problem, model = learnt.problem, learnt.model
    is_hierarchy = hasattr(learnt.estimator, "hierarchy_")
    sizes = plural(model.n_rules, "rule"), plural(model.n_branches, "branch", "branches")
    shown = {
        "data": problem.shape,
        "goal": problem.aim,
        "model": spell_models([learnt.name], problem),
        "trees": _spell_wiring(learnt) if is_hierarchy else None,
        "size": f"{', '.join(sizes)}, at most {plural(learnt.depth, 'condition')} a rule",
        "search": _spell_search(learnt.estimator),
        "chosen": getattr(learnt.estimator, "selection_reason_", "") or None,
        "screened": getattr(learnt.estimator, "screening_", None),
        "left out": _spell_left_out(learnt.estimator),
        "time": f"{learnt.seconds:.2f} s",
        "written": learnt.output,
    }
    screen.say(facts({name: value for name, value in shown.items() if value is not None}))
    if is_hierarchy:
        screen.say("", draw_trees(model, screen.width))


def _search(estimator: "Estimator") -> dict[str, Any] | None:
    """Gather how a search went, where there was one."""
    history = getattr(estimator, "history_", None)
    if history is None:
        return None
    score = estimator.best_score_
    return {
        "scoring": estimator.scoring,
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


def _spell_left_out(estimator: "Estimator") -> str | None:
    """Name the attributes that no rule speaks of, those first that tell most about the goal."""
    left_out = getattr(estimator, "left_out_", None)
    if not left_out:
        return None
    names = sorted(left_out, key=lambda name: -left_out[name])
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown = ", ".join(f"{name} ({left_out[name]:.2f})" for name in names[:_SHOWN])
    return f"{shown}{more} (dependence with the goal)"


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
