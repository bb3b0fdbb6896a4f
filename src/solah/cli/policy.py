"""``solah policy``: set when a model abstains and how decisions are debounced."""

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_type_hints

import typer

from solah.cli.command import READ, changed_flags, option
from solah.cli.options import ModelFile, OutputFile, ReadingOptions, Rows, Truth
from solah.cli.screen import Screen
from solah.exceptions import ParameterError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from solah.cli.problem import Problem
    from solah.evaluation import ChosenPolicy
    from solah.model import Model, Policy

AUTO = "auto"


def read_share(text: str) -> float:
    """Read a fraction: 0.05 or 5%."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"expected a fraction such as 0.05 or 5%; got {text!r}")
    return share


def _count_or_auto(text: str) -> int | str:
    if text != AUTO and not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a whole number nor 'auto'")
    return text if text == AUTO else int(text)


def _count(text: str) -> int:
    if not text.strip().isdecimal():
        raise typer.BadParameter(f"{text!r} is not a whole number")
    return int(text)


def _votes(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not found:
        raise typer.BadParameter(f"{text!r} is not of the form K/N, such as 2/3")
    return int(found[1]), int(found[2])


def _share(text: str) -> Any:
    return option(text, metavar="SHARE", parser=read_share)


@dataclass(frozen=True)
class PolicyOptions:
    """When a model abstains, and how decisions are debounced; an option group."""

    panel: ClassVar[str] = "The policy"

    max_error: Annotated[
        Any,
        _share(
            "Abstain at low probability, so that at most SHARE of decisions is wrong (95% "
            "confidence)."
        ),
    ] = None
    min_probability: Annotated[Any, _share("Abstain below this probability.")] = None
    min_completeness: Annotated[
        Any, _share("Abstain below this completeness, the share of importance with a value.")
    ] = None
    in_range: Annotated[
        bool, option("--in-range", "Abstain on values outside the training range.")
    ] = False
    max_unseen: Annotated[
        Any,
        option(
            "Abstain if more than N pairs of values never occurred together in training; auto: on "
            "at most 1% of held-out rows.",
            metavar="N|auto",
            parser=_count_or_auto,
        ),
    ] = None
    costs: Annotated[
        list[str] | None,
        option(
            "Cost of missing a class: fault=10. Default: 1 for each. Repeatable.",
            metavar="CLASS=COST",
        ),
    ] = None
    smoothing: Annotated[
        Any, option("Average scores over N decisions: 2, 4, 8, … 256.", metavar="N", parser=_count)
    ] = None
    hysteresis: Annotated[
        Any, _share("Lead in probability that another class needs to take over.")
    ] = None
    votes: Annotated[
        Any,
        option("Decide for the class of K of the last N decisions.", metavar="K/N", parser=_votes),
    ] = None
    min_hold: Annotated[
        Any, option("Hold a class for at least N decisions.", metavar="N", parser=_count)
    ] = None

    @property
    def needs_rows(self) -> bool:
        """Whether something is chosen by held-out rows."""
        return self.max_error is not None or self.max_unseen == AUTO

    @property
    def needs_domain(self) -> bool:
        """Whether the training domain is needed."""
        return self.in_range or self.max_unseen is not None

    def policy(self, model: "Model") -> "Policy":
        """Return what is not chosen by rows, as a policy for a model."""
        from solah.model import Policy

        if self.max_error is not None and self.min_probability is not None:
            raise ParameterError("--max-error chooses --min-probability; drop one of them")
        votes, window = self.votes or (1, 1)
        least = self.min_probability
        return Policy(
            min_probability=() if least is None else (least,) * len(model.target.classes),
            min_completeness=self.min_completeness or 0.0,
            stays_in_range=self.in_range,
            max_unseen=None if self.max_unseen == AUTO else self.max_unseen,
            smoothing=1 if self.smoothing is None else self.smoothing,
            hysteresis=self.hysteresis or 0.0,
            votes=votes,
            window=window,
            min_hold=1 if self.min_hold is None else self.min_hold,
        )

    def read_costs(self) -> dict[str, float]:
        """Read the cost of missing each class, up to the last equals sign."""
        found: dict[str, float] = {}
        for text in [part for given in self.costs or () for part in given.split(",")]:
            name, sign, cost = text.strip().rpartition("=")
            try:
                found[name] = float(cost)
            except ValueError:
                sign = ""
            if not sign or not name:
                raise ParameterError(f"--costs {text!r} is not of the form class=cost: fault=10")
        return found


def read_policy(words: "Iterable[str]") -> PolicyOptions | None:
    """Read a policy of ``name=value`` words, as its options take the values; None without words."""
    hints = get_type_hints(PolicyOptions, include_extras=True)
    found: dict[str, Any] = {}
    for word in words:
        flag, _, text = word.partition("=")
        name = flag.strip().lstrip("-").replace("-", "_")
        if name not in {one.name for one in fields(PolicyOptions)}:
            known = [one.name.replace("_", "-") for one in fields(PolicyOptions)]
            raise ParameterError(f"--policy has no {shorten(flag)}{did_you_mean(flag, known)}")
        parser = hints[name].__metadata__[0].parser
        value: Any
        try:
            value = parser(text) if parser else [text] if name == "costs" else text != "false"
        except typer.BadParameter as error:
            raise ParameterError(f"--policy {flag}: {error.format_message()}") from None
        found[name] = [*found.get(name, ()), *value] if name == "costs" else value
    return PolicyOptions(**found) if found else None


LearnedFrom = Annotated[
    str | None,
    option(
        "Training rows, for --in-range and --max-unseen.",
        metavar="DATA",
    ),
    READ,
]


def policy(
    model: ModelFile,
    wanted: PolicyOptions,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    training_rows: LearnedFrom = None,
    output: OutputFile = Path("trusted.json"),
) -> None:
    """Set when a model abstains and how decisions are debounced.

    solah chooses limits on DATA: rows that the model was not trained on. The options form the whole
    policy, and replace the one that the model has. 'solah fit --policy' chooses by
    cross-validation.

    Example: solah policy model.json held_out.csv --max-error 5% --votes 2/3 -o trusted.json
    """
    from solah.cli.problem import read_source
    from solah.evaluation import with_costs, with_policy
    from solah.learn.domain import learn_domain
    from solah.model import Policy, load_document, save_document
    from solah.model.policy import check_policy

    document = load_document(model)
    check_policy(Policy(), None, document.target)
    if not changed_flags(wanted):
        raise ParameterError("nothing to do; pass --max-error, --votes or the like")
    costs = wanted.read_costs()
    document = with_costs(document, costs) if costs else document
    if training_rows is not None:
        source = read_source(training_rows, reading, document)
        document = replace(document, domain=learn_domain(document, source.table))
    elif wanted.needs_domain and document.domain is None:
        flag = "--in-range" if wanted.in_range else "--max-unseen"
        raise ParameterError(
            f"{flag} needs the ranges of the training rows, which the model file lacks; pass "
            "--training-rows"
        )
    chosen = _chosen(document, wanted, data, target, reading)
    document = chosen.model if chosen else with_policy(document, wanted.policy(document))
    save_document(document, output)
    if screen.json:
        screen.document({"output": str(output), **(describe_policy(document, chosen) or {})})
    show_policy(screen, document, chosen)
    screen.say("", f"Written to {output}")


def _chosen(
    model: "Model",
    wanted: PolicyOptions,
    data: str | None,
    target: str | None,
    reading: ReadingOptions,
) -> "ChosenPolicy | None":
    """Choose limits by rows, where the options ask for it."""
    from solah.cli.problem import read_source
    from solah.evaluation import choose_policy
    from solah.model.provenance import is_trained_on

    if not wanted.needs_rows:
        if data is not None:
            raise ParameterError(
                "DATA is given, but no option uses it; drop it, or pass --max-error or "
                "--max-unseen auto"
            )
        return None
    flag, in_fit = "--max-unseen auto", "max-unseen=auto"
    if wanted.max_error is not None:
        flag, in_fit = "--max-error", f"max-error={wanted.max_error:g}"
    if data is None:
        raise ParameterError(f"{flag} requires DATA: rows that the model was not trained on")
    fixed = wanted.policy(model)
    source = read_source(data, reading, model)
    truth = source.table.column(target or model.target.name)
    if is_trained_on(model, source.table, truth):
        raise ParameterError(
            "the model was trained on these rows, which would understate its errors; pass other "
            f"rows, or choose by cross-validation with 'solah fit --policy {in_fit}'"
        )
    return choose_policy(
        model,
        source.table,
        truth,
        fixed,
        max_error=wanted.max_error,
        auto_unseen=wanted.max_unseen == AUTO,
    )


def fitted_policy(
    options: PolicyOptions, estimator: Any, problem: "Problem", screen: Screen
) -> "tuple[Model, ChosenPolicy | None]":
    """Give a fitted model its policy, chosen by cross-validation where that is asked for."""
    from solah.estimators import fit_policy
    from solah.evaluation import with_costs, with_policy
    from solah.learn.domain import learn_domain

    model, costs = estimator.model_, options.read_costs()
    policy = options.policy(model)
    if not options.needs_rows:
        priced = with_costs(model, costs) if costs else model
        domain = learn_domain(priced, problem.features) if options.needs_domain else None
        return with_policy(priced, policy, domain), None
    folds = 5
    with screen.progress(folds, "folds") as advance:
        chosen = fit_policy(
            estimator,
            problem.features,
            problem.target.values,
            policy,
            max_error=options.max_error,
            auto_unseen=options.max_unseen == AUTO,
            costs=costs,
            groups=problem.groups,
            folds=folds,
            on_fold=lambda _: advance(1),
        )
    return chosen.model, chosen


def describe_policy(model: "Model", chosen: "ChosenPolicy | None") -> dict[str, Any] | None:
    """Describe when a model abstains and what that was chosen by, for JSON."""
    from solah.model.json_fields import record_of

    if model.policy is None:
        return None
    return {"policy": record_of(model.policy)} if chosen is None else chosen.to_dict()


def show_policy(screen: Screen, model: "Model", chosen: "ChosenPolicy | None") -> None:
    """Show when a model abstains, what that was chosen by, and its effect."""
    from solah.cli.views import facts, heading
    from solah.explain.legend import spell_policy

    if model.policy is None:
        return
    if lines := spell_policy(model):
        screen.say("", heading("Abstention"), *lines)
    if chosen is None:
        return
    found = {"chosen by": f"{chosen.curve.n_rows:,} rows, {chosen.rows.method}"}
    found["wrong in all"] = f"{chosen.curve.risk[-1]:.2%} of these rows"
    if (limit := chosen.limit) is not None:
        found["decided"] = f"{limit.coverage:.1%} of these rows"
        found["wrong then"] = (
            f"{limit.risk:.2%} of those decided; with 95% confidence at most {limit.bound:.2%}, if "
            "rows to come are like these, and independent"
        )
    if chosen.model.domain is not None:
        found["out of range"] = f"{chosen.rows.out_of_range.mean():.2%} of these rows"
        found["unseen"] = f"{chosen.flagged_unseen:.2%} of these rows"
    screen.say("", facts(found))
