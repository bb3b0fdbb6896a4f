"""A verb in, its help page out: plain text, a section a panel.

Typer's own panels look alike but import most of Rich, which takes longer than all the rest.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

_Section = dict[str, list[tuple[str, str]]]
_ARGUMENTS = "Arguments"
_WIDEST_NAME = 26


class VerbCommand(TyperCommand):
    """A verb whose help page has a section for each panel of options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments as they are named further down."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        _write_sections(_parameters(self, ctx), formatter)


class VerbGroup(TyperGroup):
    """The program, whose help page has a section for each panel of verbs."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs, then the options."""
        sections: _Section = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None) or "Verbs"
            summary = (command.help or "").partition("\n")[0]
            sections.setdefault(panel, []).append((name, summary))
        _write_sections(sections | _parameters(self, ctx), formatter)


def _parameters(command: Any, ctx: Any) -> _Section:
    """Sort the parameters by their panel; arguments come first, and what has no panel last."""
    sections: _Section = {_ARGUMENTS: []}
    others: list[tuple[str, str]] = []
    for parameter in command.get_params(ctx):
        if (record := parameter.get_help_record(ctx)) is None:
            continue
        if parameter.param_type_name == "argument":
            sections[_ARGUMENTS].append((record[0].partition(" ")[0], record[1]))
        elif panel := parameter.rich_help_panel:
            sections.setdefault(panel, []).append(record)
        else:
            others.append(record)
    return {**sections, "Options": others}


def _write_sections(sections: _Section, formatter: Any) -> None:
    for title, records in sections.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records, col_max=_WIDEST_NAME)
