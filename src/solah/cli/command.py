"""Commands made of functions: shared groups of options, help pages and files that stay whole."""

from __future__ import annotations

import inspect
import os
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from solah.exceptions import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_STREAM = "-"
_EXAMPLE = "Example: "
_WIDEST_NAME = 26
_WIDEST_PAGE = 100


class FileUse(Enum):
    """What a command does with the file that a parameter names; part of the parameter's type."""

    READ = "read"
    WRITTEN = "written"


READ, WRITTEN = FileUse.READ, FileUse.WRITTEN


def option(*words: str, **settings: Any) -> Any:
    """Return an option: its flags, unless named as the parameter, and its help."""
    *flags, text = words
    return typer.Option(*" ".join(flags).split(), help=text, show_default=False, **settings)


def argument(name: str, text: str, **settings: Any) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=name, help=text, show_default=False, **settings)


def read_file(text: str) -> Any:
    """Return an option that names an existing file."""
    return option(text, metavar="FILE", exists=True, dir_okay=False)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Spread every parameter whose type is a dataclass over the options that are its fields.

    Options that several commands share are declared once, as fields of such a group. The group's
    ``panel`` is their section of the help page. Files that a type marks as read or written are
    compared before the work begins.
    """
    hints = get_type_hints(function, include_extras=True)
    own = inspect.signature(function).parameters
    groups = {name: hints[name] for name in own if is_dataclass(hints[name])}
    spread: list[inspect.Parameter] = []
    shared: list[inspect.Parameter] = []  # of many commands, so behind the command's own
    for name, parameter in own.items():
        if name not in groups:
            spread.append(_keyword(name, hints[name], parameter.default))
            continue
        place = shared if groups[name].panel == "Options" else spread
        kinds = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            mark = _option_of(kinds[field.name])
            mark.rich_help_panel = mark.rich_help_panel or groups[name].panel
            place.append(_keyword(field.name, kinds[field.name], default))
    spread += shared
    uses = {parameter.name: _mark_of(parameter.annotation, FileUse) for parameter in spread}

    def run(**values: Any) -> None:
        files: dict[Any, list[Any]] = {READ: [], WRITTEN: [], None: []}
        for name, value in values.items():
            given = value if isinstance(value, list) else [value]
            files[uses[name]] += [one for one in given if one is not None]
        refuse_overwriting(files[WRITTEN], files[READ])
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    return run


def changed_flags(group: Any) -> list[str]:
    """Return the flags of a group of options that differ from their defaults."""
    changed = [one.name for one in fields(group) if getattr(group, one.name) != one.default]
    return [f"--{name.replace('_', '-')}" for name in changed]


def _keyword(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=hint)


def _mark_of(hint: Any, kind: type) -> Any:
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, kind)), None)


def _option_of(hint: Any) -> Any:
    return _mark_of(hint, typer.models.OptionInfo)


class CommandPage(TyperCommand):
    """A command whose plain help page has a section per panel of options, and ends with examples.

    Typer's own panels look alike but import most of Rich, which takes longer than all the rest.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings.setdefault("max_content_width", _WIDEST_PAGE)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Name the arguments as they are named further down."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write how the command is called, also where it has no name of its own."""
        path = " ".join(ctx.command_path.split())
        formatter.write_usage(path, " ".join(self.collect_usage_pieces(ctx)))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write what the command does."""
        _write_text((self.help or "").partition(_EXAMPLE)[0], formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        _write_sections(_sections(self, ctx), formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        _, sign, examples = (self.help or "").partition(_EXAMPLE)
        _write_text(sign + examples, formatter)


class CommandGroup(TyperGroup):
    """A group whose help page has a section for each panel of commands.

    Where ``default`` is among its commands, that one runs unless another is named.
    """

    default = "print"

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; without its name, the default one."""
        if self.default in self.commands and args[0] not in self.commands:
            return "", self.commands[self.default], args
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leave all words to the default command, if there is one."""
        if self.default in self.commands:
            args = ["--", *(args or [self.default])]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, one in self.commands.items():
            panel = getattr(one, "rich_help_panel", None) or "Commands"
            sections.setdefault(panel, []).append((name, (one.help or "").partition("\n")[0]))
        _write_sections(sections | _sections(self, ctx), formatter)


def _sections(one: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Sort the parameters by their panel: arguments, those of groups, and other options."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    others: list[tuple[str, str]] = []
    for parameter in one.get_params(ctx):
        if (record := parameter.get_help_record(ctx)) is None:
            continue
        text, default = parameter.help or record[1], parameter.default
        is_plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
        if is_plain and default != "" and "Default" not in text:
            text += f" Default: {default}."
        if parameter.param_type_name == "argument":
            sections["Arguments"].append((record[0].partition(" ")[0], text))
        elif (panel := parameter.rich_help_panel or "Options") == "Options":
            others.append((record[0], text))
        else:
            sections.setdefault(panel, []).append((record[0], text))
    return sections | {"Options": others}


def _write_text(text: str, formatter: Any) -> None:
    if text:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text.strip())


def _write_sections(sections: dict[str, list[tuple[str, str]]], formatter: Any) -> None:
    for title, records in sections.items():
        if records:
            with formatter.section(title):
                formatter.write_dl(records, col_max=_WIDEST_NAME)


def refuse_overwriting(
    outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Refuse to write a file that is also read, or to write one file twice.

    Files are compared, not names: links and relative paths do not hide that two are one.

    Parameters
    ----------
    outputs : the files to write; those that do not exist yet destroy nothing
    inputs : files, folders and patterns that are read

    Raises
    ------
    ParameterError
        If an output is one of the inputs, or another output.
    """
    written = [Path(output) for output in outputs if os.fspath(output) != _STREAM]
    for place, file in enumerate(written):
        if any(_are_one(file, other) for other in written[:place]):
            raise ParameterError(f"{file} would be written twice; give each output its own file")
    there = [file for file in written if file.exists()]
    for given in inputs if there else ():
        for file in _files_of(os.fspath(given)):
            for output in there:
                if file.samefile(output):
                    also = "" if str(given) == str(output) else f" (as {given})"
                    raise ParameterError(
                        f"{output} is also read{also}, and writing it would destroy it; "
                        "give another file to write"
                    )


def _are_one(file: Path, other: Path) -> bool:
    are_there = file.exists() and other.exists()
    return file.samefile(other) if are_there else file.resolve() == other.resolve()


def _files_of(given: str) -> Iterator[Path]:
    """Yield the files that are read where a file, a folder or a pattern is given."""
    if given == _STREAM:
        return
    if os.path.isfile(given):
        yield Path(given)
        return
    from solah.scale.sources import find_files

    try:
        yield from (file for file in find_files(given) if file.exists())
    except (OSError, ValueError):  # a text may be too long for a name
        return  # what is wrong with it is reported where it is read
