"""``solah adapt``: update a model with a few labelled rows."""

from pathlib import Path
from typing import Annotated, Any

from solah.cli.command import READ, option, read_file
from solah.cli.options import ModelFile, OutputFile, ReadingOptions, Rows, Truth
from solah.cli.screen import Screen, plural

_BLOCK_ROWS = 256

DeviceState = Annotated[
    Path | None, read_file("Learned weights that a device with this model saved."), READ
]
Times = Annotated[int, option("Number of passes over the rows.", metavar="N", min=1)]
Pace = Annotated[float, option("How fast weights move; 2 is twice as fast.", metavar="X")]
Forgetting = Annotated[
    float, option("Share of the learned change that each row undoes.", metavar="SHARE")
]


def adapt(
    model: ModelFile,
    reading: ReadingOptions,
    screen: Screen,
    data: Rows = None,
    target: Truth = None,
    device_state: DeviceState = None,
    times: Times = 1,
    pace: Pace = 1.0,
    forgetting: Forgetting = 0.0,
    output: OutputFile = Path("adapted.json"),
) -> None:
    """Update a model with a few labelled rows, as a learning device does.

    Weights move towards the rows, one after the other; words, trees and hierarchy stay. So a model
    follows sensors that drift, without its training rows. The old weights stay in use until the new
    ones predict three more of the last rows correctly.

    Example: solah adapt model.json labelled.csv --times 5 -o adapted.json
    """
    from solah.cli.problem import read_source, true_classes
    from solah.cli.views import facts, heading
    from solah.exceptions import DataError, ParameterError
    from solah.export.online import Learner
    from solah.model import load_document, save_document
    from solah.model.encode import MISSING, encode, warn_of_unseen

    if data is None and device_state is None:
        raise ParameterError("there is nothing to learn from; pass DATA, --device-state, or both")
    document = load_document(model)
    learner = Learner(document, pace=pace, forgetting=forgetting)
    if device_state is not None:
        learner.restore(device_state.read_bytes())
    found: dict[str, Any] = {}
    if data is not None:
        table = read_source(data, reading, document).table
        column = table.column(target or document.target.name)
        truth = true_classes(document, column, screen, unseen_are="dropped")
        if n_missing := int((truth == MISSING).sum()):
            screen.note(f"dropped {plural(n_missing, 'row')} without a true class")
        known = truth >= 0
        if not known.any():
            raise DataError(f"{data} has no row with a true class to learn from")
        warn_of_unseen(table, document.features)
        rows, truth = encode(table, document.features)[known], truth[known]
        before = learner.simulator.decide(rows)[0]
        with screen.progress(times * len(rows), "rows") as advance:
            for time in range(times):
                for start in range(0, len(rows), _BLOCK_ROWS):
                    block = slice(start, start + _BLOCK_ROWS)
                    learner.learn(rows[block], truth[block])
                    advance(len(rows[block]))
                if time == 0:  # only the first pass predicts new rows
                    trust = learner.simulator.trust
        learner.simulator.trust = trust
        found = {
            "rows": len(rows),
            "times": times,
            "is_kept": not trust.is_earned,
            "accuracy_before": float((before == truth).mean()),
            "accuracy_after": float((learner.simulator.decide(rows)[0] == truth).mean()),
        }
    if not learner.simulator.is_trusted:
        screen.note(
            "kept the old weights: the new ones did not predict three more of the last rows "
            "correctly"
        )
    save_document(learner.model(), output)
    if screen.json:
        screen.document({"output": str(output), **found})
    screen.say(heading("Written"), f"  {output}")
    if found:
        lines = {
            "rows": f"{found['rows']:,}",
            "accuracy before": f"{found['accuracy_before']:.2%}",
            "accuracy after": f"{found['accuracy_after']:.2%}",
        }
        screen.say("", heading("On the rows it learned from (optimistic)"))
        screen.result(facts(lines))
