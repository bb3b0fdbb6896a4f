"""``solah stress``: measure robustness to missing, noisy and adversarial values."""

from typing import TYPE_CHECKING, Annotated

from solah.cli.command import option
from solah.cli.options import Data, ModelFile, ReadingOptions, Seed, Truth
from solah.cli.screen import Screen, plural

if TYPE_CHECKING:
    from solah.explain import Stress

_SHARE = {"metavar": "SHARE", "min": 0.0, "max": 1.0}

Noise = Annotated[
    float,
    option(
        "Noise as a share of the range; for categories, the share drawn again at random.", **_SHARE
    ),
]
Budget = Annotated[
    float, option("How far an adversary may move a value, as a share of its range.", **_SHARE)
]


def stress(
    model: ModelFile,
    data: Data,
    reading: ReadingOptions,
    screen: Screen,
    target: Truth = None,
    noise: Noise = 0.1,
    budget: Budget = 0.1,
    seed: Seed = 0,
) -> None:
    """Measure robustness to missing, noisy and adversarial values.

    For each feature alone: how often some value of it flips the prediction, and the accuracy when
    it is missing, noisy, or moved by an adversary who knows the model. Then all of them together.

    Example: solah stress model.json test.csv --budget 0.05
    """
    from solah.cli.problem import read_source, true_classes
    from solah.explain import stress as measure
    from solah.explain.robustness import n_steps
    from solah.model import load_document
    from solah.model.encode import MISSING, encode, warn_of_unseen

    document = load_document(model)
    table = read_source(data, reading, document).table
    truth = true_classes(document, table.column(target or document.target.name), screen)
    known = truth != MISSING
    if n_unknown := int((~known).sum()):
        screen.note(f"dropped {plural(n_unknown, 'row')} without a true class")
    warn_of_unseen(table, document.features)
    rows = encode(table, document.features)[known]
    with screen.progress(n_steps(document, len(rows)), "steps") as advance:
        found = measure(
            document, rows, truth[known], noise=noise, budget=budget, seed=seed, advance=advance
        )
    if screen.json:
        features = [dict(vars(one)) for one in found.features]
        screen.document({**vars(found), "features": features})
    _show(screen, found)


def _show(screen: Screen, found: "Stress") -> None:
    from solah.cli.views import columns_of, facts, heading

    noise, budget = f"{100 * found.noise:g}%", f"{100 * found.budget:g}%"
    screen.say(heading(f"Robustness, {plural(found.n_rows, 'row')}"), "")
    screen.result(
        facts(
            {
                "accuracy": f"{found.accuracy:.3f}",
                f"all values noisy ({noise} of the range)": f"{found.noisy:.3f}",
                f"all values moved ({budget} of the range)": f"{found.adversarial:.3f}",
            }
        )
    )
    lines = [
        (one.feature, f"{100 * one.flips:.1f}%", *(f"{x:.3f}" for x in figures))
        for one in sorted(found.features, key=lambda one: (-one.flips, one.missing))
        for figures in [(one.missing, one.noisy, one.adversarial)]
    ]
    screen.say("", heading("Each feature alone: how often it can flip, and the accuracy"))
    screen.result(columns_of(("", "flips", "missing", "noisy", "moved"), lines))
    screen.say(
        "",
        "An adversary knows the model and moves values one after the other, so a cleverer one",
        "may do more. Metrics on training rows are too good.",
    )
