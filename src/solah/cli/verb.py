"""Turn a function with groups of options into one that Typer makes a verb of."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from solah.cli.helptext import RARE_PANEL, HelpAll
from solah.cli.overwriting import READ, WRITTEN, FileUse, refuse_overwriting
from solah.cli.settings_file import SettingsFile

if TYPE_CHECKING:
    from collections.abc import Callable


def options_in(panel: str) -> Callable[..., Any]:
    """Return ``typer.Option`` for options that stand together on the help page."""
    return partial(typer.Option, rich_help_panel=panel)


def many_options(
    *shown: str, settings: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a verb that has many options.

    Its ``--help`` shows the options named here, in this order, and ``--help-all`` shows all. With
    ``settings``, ``--settings`` reads them from a file.
    """

    def mark(function: Callable[..., None]) -> Callable[..., None]:
        function.shown_options = shown  # type: ignore[attr-defined]
        function.takes_settings = settings  # type: ignore[attr-defined]
        return function

    return mark


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Spread every parameter whose type is a dataclass over the options that are its fields.

    Options that several verbs share are declared once, as fields of such a group, and a verb
    gets them together as one value. Typer sees a plain function with an option a field. What is
    marked in a type as read or written is compared before the work begins.
    """
    hints = get_type_hints(function, include_extras=True)
    own = inspect.signature(function).parameters
    groups = {name: hints[name] for name in own if is_dataclass(hints[name])}
    spread = [
        parameter
        for name in own
        for parameter in (
            _options(groups[name]) if name in groups else [_keyword(own[name], hints[name])]
        )
    ]
    shown = getattr(function, "shown_options", None)
    takes_settings = getattr(function, "takes_settings", False)
    more = {"settings": _option("settings", SettingsFile, None)} if takes_settings else {}
    if shown is not None or any(map(_is_rare, spread)):
        more["help_all"] = _option("help_all", HelpAll, False)
    spread += more.values()
    uses = {parameter.name: _use_of(parameter.annotation) for parameter in spread}

    def run(**values: Any) -> None:
        given = [
            (uses[name], file)
            for name, value in values.items()
            for file in (value if isinstance(value, list) else [value])
            if file is not None
        ]
        read, written = ([file for use, file in given if use is one] for one in (READ, WRITTEN))
        refuse_overwriting(written, read)
        for name in more:  # Typer has done what they ask for
            del values[name]
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.shown_options = shown  # type: ignore[attr-defined]
    return run


def _options(group: type) -> list[inspect.Parameter]:
    """Make a parameter of each field of a group."""
    hints = get_type_hints(group, include_extras=True)
    return [
        _option(
            field.name,
            hints[field.name],
            inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    ]


def _is_rare(parameter: inspect.Parameter) -> bool:
    """Tell whether an option stands in the panel that ``--help`` leaves out."""
    marks = getattr(parameter.annotation, "__metadata__", ())
    return any(getattr(mark, "rich_help_panel", None) == RARE_PANEL for mark in marks)


def _option(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _use_of(hint: Any) -> FileUse | None:
    """Return what is done with the file that a parameter names, if it names one."""
    marks = getattr(hint, "__metadata__", ())
    return next((mark for mark in marks if isinstance(mark, FileUse)), None)


def _keyword(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint)
