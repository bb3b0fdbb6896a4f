"""``solah publish``: send a plan to every node of a running network."""

from pathlib import Path
from typing import Annotated

from solah.cli.broker_options import BrokerOptions, PlanFile, Root
from solah.cli.screen import Screen
from solah.cli.verb import options_in

_network_option = options_in("The network")

At = Annotated[
    int | None,
    _network_option(
        "--at",
        min=0,
        help="The first row that the new model decides; by default --ahead rows behind the newest.",
    ),
]
Ahead = Annotated[
    int,
    _network_option("--ahead", min=0, help="How many rows the nodes have to take the model over."),
]
Sign = Annotated[
    Path | None,
    _network_option(
        "--sign",
        metavar="FILE",
        help="Sign it with this Ed25519 private key.",
        exists=True,
        dir_okay=False,
    ),
]


def publish(
    plan: PlanFile,
    broker: BrokerOptions,
    screen: Screen,
    at: At = None,
    ahead: Ahead = 500,
    sign: Sign = None,
    root: Root = "solah",
) -> None:
    """Send a new plan and model to all nodes of a running network, which take it over together.

    The broker keeps it, so that nodes which start later get it too. All nodes decide rows from one
    number on with the new model, and none is decided by both.

    Example: solah publish --plan new.json --broker mqtt://hub --sign operator.pem
    """
    from solah.exceptions import ParameterError
    from solah.network.bundle import load_bundle
    from solah.network.publishing import newest_row, publish_bundle
    from solah.network.topics import Topics

    bundle = load_bundle(plan)
    if bundle.signature and sign is None:
        raise ParameterError(
            f"{plan} is signed, and the row from which it decides is part of that; give --sign"
        )
    topics, where = Topics(bundle.plan.site, root), broker.find()
    start = newest_row(where, topics) + ahead if at is None else at
    bundle = bundle.starting_at(start)
    if sign is not None:
        bundle = bundle.signed(sign)
    publish_bundle(where, topics, bundle)
    if screen.json:
        screen.document({"site": topics.site, "model": bundle.hash, "from": bundle.starts})
    screen.say(f"model {bundle.hash} is with the broker; it decides from row {bundle.starts:,} on")
