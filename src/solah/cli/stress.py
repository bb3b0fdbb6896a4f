"""``solah stress``: how decisions hold up when readings are wrong or missing."""

from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.options import Data, ModelFile, ReadingOptions
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    from rich.table import Table as Grid

    from solah.explain import Stress

_stress_option = options_in("How much")

Noise = Annotated[
    float,
    _stress_option(
        min=0.0,
        max=1.0,
        help="Deviation of the noise, as a share of an attribute's range; of states, the share "
        "that is drawn again.",
    ),
]
Budget = Annotated[
    float,
    _stress_option(
        min=0.0, max=1.0, help="How far an adversary may move a reading, as a share of its range."
    ),
]
Seed = Annotated[int, _stress_option(min=0, help="What the noise is drawn with.")]
Target = Annotated[
    str | None,
    _stress_option(
        "-t", "--target", metavar="COL", help="The column of true classes, if not the model's own."
    ),
]


def stress(
    model: ModelFile,
    data: Data,
    reading: ReadingOptions,
    screen: Screen,
    target: Target = None,
    noise: Noise = 0.1,
    budget: Budget = 0.1,
    seed: Seed = 0,
) -> None:
    """Measure what decisions can stand: lost, noisy and maliciously moved readings.

    For each attribute alone: how often some value of it flips the decision, and the accuracy when
    it is lost, noisy, or pushed by an adversary who knows the model. Then all of them together.

    Example: solah stress model.json test.csv --budget 0.05
    """
    from solah.cli.problems import true_classes
    from solah.cli.sources import read_source
    from solah.cli.wording import plural
    from solah.explain import stress as measure
    from solah.explain.robustness import n_steps
    from solah.model import load_document
    from solah.model.encode import MISSING, encode, warn_of_unseen

    document = load_document(model)
    table = read_source(data, reading.read_options(), document).table
    truth = true_classes(document, table.column(target or document.goal.name), screen)
    known = truth != MISSING
    if n_unknown := int((~known).sum()):
        verb = "is" if n_unknown == 1 else "are"
        screen.note(f"{plural(n_unknown, 'row')} without a true class {verb} left out")
    warn_of_unseen(table, document.attributes)
    rows = encode(table, document.attributes)[known]
    with screen.progress(n_steps(document, len(rows)), "steps") as advance:
        found = measure(
            document, rows, truth[known], noise=noise, budget=budget, seed=seed, advance=advance
        )
    if screen.json:
        screen.document(_as_json(found))
    _show(screen, found)


def _as_json(found: "Stress") -> dict[str, Any]:
    return {**vars(found), "attributes": [dict(vars(one)) for one in found.attributes]}


def _show(screen: Screen, found: "Stress") -> None:
    from solah.cli.views import facts, heading
    from solah.cli.wording import plural

    share = f"{100 * found.noise:g} %", f"{100 * found.budget:g} %"
    screen.say(heading(f"What decisions can stand, {plural(found.n_rows, 'row')}"), "")
    screen.result(
        facts(
            {
                "accuracy as it is": f"{found.accuracy:.3f}",
                f"all readings noisy ({share[0]} of the range)": f"{found.noisy:.3f}",
                f"all readings pushed ({share[1]} of the range)": f"{found.pushed:.3f}",
            }
        )
    )
    screen.say(
        "", heading("Each attribute alone: how often it can flip, and the accuracy when it is")
    )
    screen.result(_by_attribute(found))
    screen.say(
        "",
        "An adversary knows the model and moves readings one after the other, so a cleverer one",
        "may do more. Scores on rows that the model learnt from flatter it.",
    )


def _by_attribute(found: "Stress") -> "Grid":
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2))
    grid.add_column()
    for _ in range(4):
        grid.add_column(justify="right")
    grid.add_row("", *(Text(name, "dim") for name in ("flips", "lost", "noisy", "pushed")))
    for one in sorted(found.attributes, key=lambda one: (-one.flips, one.lost)):
        figures = (
            f"{100 * one.flips:.1f} %",
            *(f"{x:.3f}" for x in (one.lost, one.noisy, one.pushed)),
        )
        grid.add_row(Text(one.attribute), *figures)
    return grid
