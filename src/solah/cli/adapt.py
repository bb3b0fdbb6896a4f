"""``solah adapt``: update a model with a few labelled rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.options import ModelFile, OutputFile, ReadingOptions
from solah.cli.overwriting import READ
from solah.cli.screen import Screen
from solah.cli.verb import options_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from solah.kernels.arrays import Float
    from solah.learn.online import Learner
    from solah.model import Model

    Places = NDArray[np.intp]

_learning_option = options_in("Learning")
_BLOCK_ROWS = 256

Labelled = Annotated[
    str | None,
    typer.Argument(
        metavar="DATA",
        help="Rows with their true classes: a file, or a data set by name.",
        show_default=False,
    ),
    READ,
]
Target = Annotated[
    str | None,
    _learning_option(
        "-t", "--target", metavar="COL", help="The column of true classes, if not the model's own."
    ),
]
Memory = Annotated[
    Path | None,
    _learning_option(
        "--memory",
        metavar="FILE",
        help="What a device with this model learnt and saved; rows are learnt on top of it.",
        exists=True,
        dir_okay=False,
    ),
    READ,
]
Times = Annotated[int, _learning_option(min=1, help="How often to go through the rows.")]
PaceOption = Annotated[
    float, _learning_option("--pace", help="How fast rules move; 2 is twice as fast.")
]
Forgetting = Annotated[
    float,
    _learning_option(
        "--forgetting", help="The share of what was learnt that a row takes back; 0 for none."
    ),
]


def adapt(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Labelled = None,
    target: Target = None,
    memory: Memory = None,
    times: Times = 1,
    pace: PaceOption = 1.0,
    forgetting: Forgetting = 0.0,
    output: OutputFile = Path("adapted.json"),
) -> None:
    """Let a model learn from a few labelled rows, as a device that learns does.

    What rules say moves towards the rows, one after the other; words, trees and hierarchy stay. So
    a model follows sensors that drift, without the rows that it was fitted on. With --memory, what
    a device learnt on its own comes home into the model document.

    Example: solah adapt model.json labelled.csv --times 5 -o adapted.json
    """
    from solah.exceptions import ParameterError
    from solah.learn.online import Learner
    from solah.model import load_document, save_document

    if data is None and memory is None:
        raise ParameterError("there is nothing to learn from: give DATA, --memory, or both")
    document = load_document(model)
    learner = Learner(document, pace=pace, forgetting=forgetting)
    if memory is not None:
        learner.restore(memory.read_bytes())
    found: dict[str, Any] = {}
    if data is not None:
        rows, truth = _labelled_rows(document, data, target, reading, screen)
        found = _learn(learner, rows, truth, times, screen)
    save_document(learner.model(), output)
    if screen.json:
        screen.document({"output": str(output), **found})
    _show(screen, output, found)


def _labelled_rows(
    model: "Model", data: str, target: str | None, reading: ReadingOptions, screen: Screen
) -> "tuple[Float, Places]":
    """Read the rows whose class is one of the model's."""
    from solah.cli.problems import true_classes
    from solah.cli.sources import read_source
    from solah.cli.wording import plural
    from solah.exceptions import DataError
    from solah.model.encode import MISSING, encode, warn_of_unseen

    table = read_source(data, reading.read_options(), model).table
    column = table.column(target or model.goal.name)
    truth = true_classes(model, column, screen, unseen_are="left out")
    if n_missing := int((truth == MISSING).sum()):
        verb = "is" if n_missing == 1 else "are"
        screen.note(f"{plural(n_missing, 'row')} without a true class {verb} left out")
    known = truth >= 0
    if not known.any():
        raise DataError(f"{data} has no row with a true class to learn from")
    warn_of_unseen(table, model.attributes)
    return encode(table, model.attributes)[known], truth[known]


def _learn(
    learner: "Learner", rows: "Float", truth: "Places", times: int, screen: Screen
) -> dict[str, Any]:
    before = learner.twin.decide(rows)[0]
    with screen.progress(times * len(rows), "rows") as advance:
        for _ in range(times):
            for start in range(0, len(rows), _BLOCK_ROWS):
                block = slice(start, start + _BLOCK_ROWS)
                learner.learn(rows[block], truth[block])
                advance(len(rows[block]))
    return {
        "rows": len(rows),
        "times": times,
        "accuracy_before": float((before == truth).mean()),
        "accuracy_after": float((learner.twin.decide(rows)[0] == truth).mean()),
    }


def _show(screen: Screen, output: Path, found: dict[str, Any]) -> None:
    from solah.cli.views import facts, heading

    screen.say(heading("Written"), f"  {output}")
    if not found:
        return
    screen.say("", heading("On the rows that it learnt from, which flatter it"))
    screen.result(
        facts(
            {
                "rows": f"{found['rows']:,}",
                "accuracy before": f"{100 * found['accuracy_before']:.2f} %",
                "accuracy after": f"{100 * found['accuracy_after']:.2f} %",
            }
        )
    )
