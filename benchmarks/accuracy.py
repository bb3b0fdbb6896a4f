"""Accuracy of our models and other models, and how many rules they need.

    python benchmarks/accuracy.py [--sets eight,twelve,sensors] [--models solah,tree,...]
        [--seeds 0,1,2] [--folds 10] [--rows 20000] [--jobs N] [--timing] [-o results/accuracy]

Sets are groups or names of data sets; SOLAH_DATA is the folder they are read from. All models see
the same folds. A finished cell (a set, a model and a seed) is kept in the results folder, so the
same command goes on where it was stopped; a cell is computed again when its settings, its package
or the source of our own models have changed. Results: accuracy.json, accuracy.md and, with
matplotlib, a figure for each group.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from comparison.models import MODELS, choose_models
from comparison.page import render_bars, render_group, render_timing, write_results
from comparison.running import Comparison, Request
from comparison.sets import GROUPS, choose_sets
from comparison.speed import measure_speed
from comparison.summary import summarise
from rich.console import Console

from reproduction.data import how_to_get
from solah.exceptions import SolahError
from solah.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    options = _read_options(arguments)
    console = Console(stderr=True)
    try:
        work = Comparison.plan(_request(options), options.output)
        _announce(work)
        summary = _measure(work, options, console)
    except SolahError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        _say(f"finished cells are kept in {options.output}; the same command goes on from there")
        return 130
    files, notes = write_results(summary, options.output)
    _show(summary)
    news = [note for note in summary["notes"] if note not in (*work.obstacles, *work.too_large)]
    _say(*news, *notes, *(f"written: {file}" for file in files))
    return 0


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=f"Models: {', '.join(MODELS)}.",
    )
    add = parser.add_argument
    add("--sets", type=_names, default=list(GROUPS), help="groups or data sets; all groups")
    add("--models", type=_names, default=None, help="all that are installed")
    add("--seeds", type=_numbers, default=(0, 1, 2), help="0,1,2")
    add("--folds", type=_from(2), default=10, help="10")
    add("--rows", type=_from(100), default=20_000, help="the most rows of a set, 20000")
    add("--jobs", type=int, default=-1, help="processes; by default one a processor")
    add("--timing", action="store_true", help="time the default fit on Pima and on many rows too")
    add("-o", "--output", type=Path, default=Path("results/accuracy"), help="results/accuracy")
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if not names:
        raise argparse.ArgumentTypeError("give one name at least")
    return names


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(number) for number in text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be numbers such as 0,1,2, got {text!r}") from None


def _from(least: int) -> Any:
    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"must be {least} at least, got {text}")
        return int(text)

    return number


def _request(options: argparse.Namespace) -> Request:
    return Request(
        choose_sets(options.sets),
        choose_models(options.models),
        options.seeds,
        options.folds,
        options.rows,
    )


def _announce(work: Comparison) -> None:
    if work.missing:
        _say(f"not available, so skipped: {how_to_get(work.missing)}")
    _say(*work.obstacles, *work.too_large)


def _measure(work: Comparison, options: argparse.Namespace, console: Console) -> dict[str, Any]:
    # Timed first, while nothing else of ours is running.
    timing, notes = measure_speed() if options.timing else ([], [])
    with show_progress(console, len(work.cells), "cells") as advance:
        results = work.run(options.jobs, advance)
    summary = summarise(work, results, timing)
    summary["notes"] += notes
    return summary


def _show(summary: dict[str, Any]) -> None:
    for name in summary["groups"]:
        print("\n".join(render_group(name, summary)))
    print("\n".join([*render_timing(summary), *render_bars(summary)]))


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
