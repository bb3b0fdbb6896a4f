"""The options that say when a model is to decide; those of ``solah fit`` and ``solah policy``."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.cli.models import Estimator
    from solah.cli.problems import Problem
    from solah.cli.screen import Screen
    from solah.evaluation import ChosenPolicy
    from solah.model import Model, Policy

_doubt_option = options_in("Don't know")
_settling_option = options_in("Decisions one after the other")
AUTO = "auto"


def read_share(text: str) -> float:
    """Read a share: 0.05 or 5%."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"{text!r} is no share, such as 0.05 or 5%")
    return share


def _count_or_auto(text: str) -> int | str:
    if text != AUTO and not text.isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a whole number nor 'auto'")
    return text if text == AUTO else int(text)


def _votes(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not found:
        raise typer.BadParameter(f"{text!r} is not of the form K/N, such as 2/3")
    return int(found[1]), int(found[2])


@dataclass(frozen=True)
class PolicyOptions:
    """When a model is to decide; an option group."""

    max_error: Annotated[
        Any,
        _doubt_option(
            metavar="SHARE",
            parser=read_share,
            help="Hold back decisions with little belief, so many that at most this share of the "
            "others is wrong (with 95% confidence): 5%, or 0.05.",
        ),
    ] = None
    min_belief: Annotated[
        Any,
        _doubt_option(
            metavar="SHARE", parser=read_share, help="Hold back decisions with less belief."
        ),
    ] = None
    min_known: Annotated[
        Any,
        _doubt_option(
            metavar="SHARE",
            parser=read_share,
            help="Hold back decisions if less than this share of the evidence is known.",
        ),
    ] = None
    in_range: Annotated[
        bool,
        _doubt_option(
            "--in-range",
            help="Hold back decisions on readings beyond those of the training rows.",
        ),
    ] = False
    max_unseen: Annotated[
        Any,
        _doubt_option(
            metavar="N|auto",
            parser=_count_or_auto,
            help="Hold back decisions if more pairs of readings than this never occurred so "
            "together in training; 'auto' holds back 1% of the rows not learnt from, at most.",
        ),
    ] = None
    costs: Annotated[
        list[str] | None,
        _doubt_option(
            metavar="CLASS=COST",
            help="What it costs to miss a class, others costing 1: fault=10. Repeat it, or use "
            "commas.",
        ),
    ] = None
    smoothing: Annotated[
        int | None,
        _settling_option(
            metavar="N", help="Average evidence over so many decisions: 2, 4, 8, … 256."
        ),
    ] = None
    margin: Annotated[
        Any,
        _settling_option(
            metavar="SHARE",
            parser=read_share,
            help="By how much belief another class must lead the settled one.",
        ),
    ] = None
    settle: Annotated[
        Any,
        _settling_option(
            metavar="K/N", parser=_votes, help="Settle for what K of the last N decisions say."
        ),
    ] = None
    dwell: Annotated[
        int | None,
        _settling_option(
            metavar="N", help="For how many decisions a settled one stays at the least."
        ),
    ] = None

    def given(self) -> list[str]:
        """Return the flags that the user set."""
        changed = [one.name for one in fields(self) if getattr(self, one.name) != one.default]
        return [f"--{name.replace('_', '-')}" for name in changed]

    @property
    def needs_rows(self) -> bool:
        """Whether something is chosen by rows that were not learnt from."""
        return self.max_error is not None or self.max_unseen == AUTO

    @property
    def needs_domain(self) -> bool:
        """Whether it counts what the training rows held."""
        return self.in_range or self.max_unseen is not None

    def policy(self, model: Model) -> Policy:
        """Return what is not chosen by rows, as a policy for a model."""
        from solah.exceptions import ParameterError
        from solah.model import Policy

        if self.max_error is not None and self.min_belief is not None:
            raise ParameterError("--max-error chooses --min-belief; leave one of them out")
        votes, window = self.settle or (1, 1)
        least = () if self.min_belief is None else (self.min_belief,) * len(model.goal.states)
        return Policy(
            min_belief=least,
            min_known=self.min_known or 0.0,
            stays_in_range=self.in_range,
            max_unseen=None if self.max_unseen == AUTO else self.max_unseen,
            smoothing=1 if self.smoothing is None else self.smoothing,
            margin=self.margin or 0.0,
            votes=votes,
            window=window,
            dwell=1 if self.dwell is None else self.dwell,
        )

    def read_costs(self) -> dict[str, float]:
        """Read what it costs to miss classes, each up to the last equals sign."""
        from solah.exceptions import ParameterError

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


def refuse_policy(options: PolicyOptions, why: str) -> None:
    """Refuse a policy where there are no rows to choose it by."""
    from solah.exceptions import ParameterError

    if options.given():
        raise ParameterError(
            f"{options.given()[0]} {why}; fit without it, and use 'solah policy' afterwards"
        )


def refuse_number(options: PolicyOptions, problem: Problem) -> None:
    """Refuse a policy for a number, before it is learnt."""
    from solah.exceptions import DataError
    from solah.model import Task

    if options.given() and problem.task is Task.REGRESSION:
        raise DataError(f"{options.given()[0]} is for classes, and the target is taken as a number")


def fitted_policy(
    options: PolicyOptions, estimator: Estimator, problem: Problem, screen: Screen
) -> tuple[Model, ChosenPolicy | None]:
    """Give a fitted model its policy, chosen by rows out of fold where that is asked for."""
    from solah.estimators import fit_policy
    from solah.evaluation import with_costs, with_policy
    from solah.learn.domain import learn_domain

    model, costs = estimator.model_, options.read_costs()
    policy = options.policy(model)
    if not options.needs_rows:
        priced = with_costs(model, costs) if costs else model
        domain = learn_domain(priced, problem.attributes) if options.needs_domain else None
        return with_policy(priced, policy, domain), None
    folds = 5
    with screen.progress(folds, "folds") as advance:
        chosen = fit_policy(
            estimator,
            problem.attributes,
            problem.goal.values,
            policy,
            max_error=options.max_error,
            auto_unseen=options.max_unseen == AUTO,
            costs=costs,
            groups=problem.groups,
            folds=folds,
            on_fold=lambda _: advance(1),
        )
    return chosen.model, chosen


def describe_policy(model: Model, chosen: ChosenPolicy | None) -> dict[str, Any] | None:
    """Tell when a model decides and what that was chosen by, ready for JSON."""
    from solah.model.policy import policy_record

    if model.policy is None:
        return None
    return {"policy": policy_record(model.policy)} if chosen is None else chosen.to_dict()


def show_policy(screen: Screen, model: Model, chosen: ChosenPolicy | None) -> None:
    """Say when a model decides, what that was chosen by, and what comes of it."""
    from solah.cli.views import facts, heading
    from solah.explain.legend import spell_policy

    if model.policy is None:
        return
    screen.say("", heading("When it decides"), *spell_policy(model))
    if chosen is not None:
        screen.say("", facts(_chosen_by(chosen)))


def _chosen_by(chosen: ChosenPolicy) -> dict[str, str]:
    found = {"chosen by": f"{chosen.curve.n_rows:,} rows, {chosen.rows.method}"}
    found["wrong in all"] = f"{chosen.curve.risk[-1]:.2%} of these rows"
    if chosen.limit is not None:
        limit = chosen.limit
        found["decided"] = f"{limit.coverage:.1%} of these rows"
        found["wrong then"] = (
            f"{limit.risk:.2%} of those decided; with 95% confidence at most {limit.bound:.2%}, if "
            "rows to come are like these, and independent"
        )
    if chosen.model.domain is not None:
        found["out of range"] = f"{chosen.rows.out_of_range.mean():.2%} of these rows"
        found["unseen"] = f"{chosen.flagged_unseen:.2%} of these rows"
    return found
