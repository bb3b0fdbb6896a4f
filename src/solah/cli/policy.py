"""``solah policy``: say when a model decides, and when it does not know."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from solah.cli.options import ModelFile, OutputFile, ReadingOptions, Rows, Truth
from solah.cli.overwriting import READ
from solah.cli.policy_options import AUTO, PolicyOptions, describe_policy, show_policy
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from solah.evaluation import ChosenPolicy
    from solah.model import Model

LearntFrom = Annotated[
    str | None,
    options_in("Don't know")(
        "--learnt-from",
        metavar="DATA",
        help="The training rows, where the model does not know yet what they held (for --in-range "
        "and --max-unseen).",
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
    learnt_from: LearntFrom = None,
    output: OutputFile = Path("trusted.json"),
) -> None:
    """Say when a model decides, when it does not know, and when it changes its mind.

    Limits are chosen by rows of DATA that the model was not learnt from. The options are the whole
    policy: one that the model has is replaced. 'solah fit' has the same options, and chooses by
    rows out of fold.

    Example: solah policy model.json held_out.csv --max-error 5% --settle 2/3 -o trusted.json
    """
    from solah.evaluation import with_costs, with_policy
    from solah.exceptions import ParameterError
    from solah.model import Policy, load_document, save_document
    from solah.model.policy import check_policy

    document = load_document(model)
    check_policy(Policy(), None, document.goal)
    if not wanted.given():
        raise ParameterError("there is nothing to do: give --max-error, --settle or the like")
    costs = wanted.read_costs()
    document = with_costs(document, costs) if costs else document
    document = _with_domain(document, wanted, learnt_from, reading)
    chosen = _chosen(document, wanted, data, target, reading, screen)
    document = chosen.model if chosen else with_policy(document, wanted.policy(document))
    save_document(document, output)
    if screen.json:
        screen.document({"output": str(output), **(describe_policy(document, chosen) or {})})
    show_policy(screen, document, chosen)
    screen.say("", f"Written to {output}")


def _with_domain(
    model: "Model", wanted: PolicyOptions, learnt_from: str | None, reading: ReadingOptions
) -> "Model":
    """Learn what the training rows held, where it is needed and not known."""
    from dataclasses import replace

    from solah.cli.sources import read_source
    from solah.exceptions import ParameterError
    from solah.learn.domain import learn_domain

    if learnt_from is not None:
        source = read_source(learnt_from, reading.read_options(), model)
        return replace(model, domain=learn_domain(model, source.table))
    if wanted.needs_domain and model.domain is None:
        flag = "--in-range" if wanted.in_range else "--max-unseen"
        raise ParameterError(
            f"{flag} needs to know what the training rows held, and the model does not tell; name "
            "them with --learnt-from"
        )
    return model


def _chosen(
    model: "Model",
    wanted: PolicyOptions,
    data: str | None,
    target: str | None,
    reading: ReadingOptions,
    screen: Screen,
) -> "ChosenPolicy | None":
    from solah.cli.sources import read_source
    from solah.evaluation import choose_policy
    from solah.exceptions import ParameterError
    from solah.model.provenance import is_learnt_from

    if not wanted.needs_rows:
        if data is not None:
            raise ParameterError(
                "nothing is chosen by DATA; leave it out, or give --max-error or --max-unseen auto"
            )
        return None
    flag = "--max-error" if wanted.max_error is not None else "--max-unseen auto"
    if data is None:
        raise ParameterError(f"{flag} is chosen by rows that the model was not learnt from: DATA")
    fixed = wanted.policy(model)
    source = read_source(data, reading.read_options(), model)
    truth = source.table.column(target or model.goal.name)
    if is_learnt_from(model, source.table, truth):
        raise ParameterError(
            f"the model was learnt from these rows, so that errors would seem too rare; give "
            f"others, or choose out of fold with 'solah fit {flag} …'"
        )
    return choose_policy(
        model,
        source.table,
        truth,
        fixed,
        max_error=wanted.max_error,
        auto_unseen=wanted.max_unseen == AUTO,
    )
