"""Choose the output's format from the options and the file's suffix."""

from collections.abc import Mapping
from pathlib import Path

from solah.cli.options import STDOUT


def choose_format(
    chosen: str | None, output: Path, by_suffix: Mapping[str, str], *, as_json: bool
) -> str:
    """Take the format that the user says, or that the file's name says; text on the screen.

    Parameters
    ----------
    chosen : what stands behind ``--format``
    output : where to write
    by_suffix : the formats there are, by how a file's name ends
    as_json : whether ``--json`` is given
    """
    from solah.exceptions import ParameterError

    if as_json and chosen not in (None, "json"):
        raise ParameterError(f"--json and --format {chosen} are two formats; choose one")
    if as_json or chosen is not None:
        return chosen or "json"
    if output == STDOUT:
        return "text"
    if (suffix := output.suffix.lower()) not in by_suffix:
        raise ParameterError(
            f"{output} does not end in {', '.join(by_suffix)}; say what to write with --format"
        )
    return by_suffix[suffix]
