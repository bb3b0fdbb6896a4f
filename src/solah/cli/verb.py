"""A function with groups of options in, a function that Typer makes a verb of out."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from solah.cli.overwriting import READ, WRITTEN, FileUse, refuse_overwriting

if TYPE_CHECKING:
    from collections.abc import Callable


def options_in(panel: str) -> Callable[..., Any]:
    """Return ``typer.Option`` for options that stand together on the help page."""
    return partial(typer.Option, rich_help_panel=panel)


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
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    return run


def _options(group: type) -> list[inspect.Parameter]:
    """Make a parameter of each field of a group."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def _use_of(hint: Any) -> FileUse | None:
    """Return what is done with the file that a parameter names, if it names one."""
    marks = getattr(hint, "__metadata__", ())
    return next((mark for mark in marks if isinstance(mark, FileUse)), None)


def _keyword(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint)
