"""Write the help page of a verb as plain text, with one section per panel.

Typer's own panels look alike but import most of Rich, which takes longer than all the rest.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

_Section = dict[str, list[tuple[str, str]]]
# Most files need none of these, so only --help-all shows them.
RARE_PANEL = "Reading the file"
_EXAMPLE = "Example: "
_ARGUMENTS = "Arguments"
_OPTIONS = "Options"
_WIDEST_NAME = 26
_WIDEST_PAGE = 100
_IS_WHOLE = "solah.cli.help_all"


def _show_all(context: typer.Context, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        context.meta[_IS_WHOLE] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option("--help-all", help="Show all options.", callback=_show_all, is_eager=True),
]


class VerbCommand(TyperCommand):
    """A verb whose help page has a section for each panel of options, and ends with examples.

    Where it has many of them, ``--help`` shows those that matter most, and ``--help-all`` shows
    all.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings.setdefault("max_content_width", _WIDEST_PAGE)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments as they are named further down."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the verb does."""
        _write_text(self._about[0], formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        sections = _parameters(self, ctx)
        shown = getattr(self.callback, "shown_options", None)
        if shown is not None and not ctx.meta.get(_IS_WHOLE):
            some = _short_records(self, ctx, shown)
            sections = {_ARGUMENTS: sections[_ARGUMENTS], _OPTIONS: some}
        if not ctx.meta.get(_IS_WHOLE):
            sections.pop(RARE_PANEL, None)
        _write_sections(sections, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write how to see the options that are not shown, and the examples."""
        if getattr(self.callback, "shown_options", None) and not ctx.meta.get(_IS_WHOLE):
            formatter.write_paragraph()
            formatter.write_text("--help-all shows all options")
        _write_text(self._about[1], formatter)

    @property
    def _about(self) -> tuple[str, str]:
        """The text about the verb, and its examples."""
        text, sign, examples = (self.help or "").partition(_EXAMPLE)
        return text, sign + examples


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


def _write_text(text: str, formatter: Any) -> None:
    if text:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text.strip())


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
    return {**sections, _OPTIONS: others}


def _short_records(command: Any, ctx: Any, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the first sentence of the help of some options, in this order."""
    by_name = {parameter.name: parameter for parameter in command.get_params(ctx)}
    records = (by_name[name].get_help_record(ctx) for name in names)
    return [(option, _first_sentence(text)) for option, text in records]


def _first_sentence(text: str) -> str:
    """Cut an option's help after the first sentence; a default is kept, a range is not."""
    sentences, gap, extra = text.partition("  [")
    first = sentences.partition(". ")[0].removesuffix(".")
    return f"{first}.{gap}{extra}" if "default:" in extra else f"{first}."


def _write_sections(sections: _Section, formatter: Any) -> None:
    for title, records in sections.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records, col_max=_WIDEST_NAME)
