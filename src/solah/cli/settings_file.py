"""Options that are read from a TOML file, for verbs that have many of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from solah.cli.overwriting import READ
from solah.exceptions import ParameterError, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_SETTINGS = ("settings", "help_all")


def _take(context: typer.Context, file: Path | None) -> Path | None:
    """Let what the file says hold where the command line says nothing."""
    if file is not None:
        options = {
            _long_name(one): one
            for one in context.command.params
            if one.param_type_name == "option" and one.name not in _NOT_SETTINGS
        }
        context.default_map = read_settings(file, options, str(context.info_name))
    return file


SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="A TOML file of options, such as max-rules = 12; the command line wins.",
        callback=_take,
        is_eager=True,
        exists=True,
        dir_okay=False,
    ),
    READ,
]


def read_settings(file: Path, options: Mapping[str, Any], verb: str) -> dict[str, Any]:
    """Read a file of options.

    Parameters
    ----------
    file : the TOML file
    options : the verb's options, by their long names without the leading dashes
    verb : the verb's name

    Returns
    -------
    settings : dict of parameter name to value, spelt as on a command line
    """
    import tomllib

    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file} is not TOML: {error}") from None
    settings: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("_", "-")
        if name not in options:
            raise ParameterError(
                f"{file}: 'solah {verb}' has no option {shorten(key)}{did_you_mean(key, options)}"
            )
        if options[name].name in settings:
            raise ParameterError(f"{file} sets {name!r} twice")
        settings[options[name].name] = _spelt(options[name], value, f"{file}: {key!r}")
    return settings


def _long_name(option: Any) -> str:
    return str(max(option.opts, key=len)).lstrip("-")


def _spelt(option: Any, value: Any, where: str) -> Any:
    """Spell a value as a command line would, so that it is checked in the same way."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise ParameterError(f"{where} is true or false. Got {shorten(value)}.")
        return value
    if option.multiple:
        values = value if isinstance(value, list) else [value]
        return [_spelt_one(one, where) for one in values]
    return _spelt_one(value, where)


def _spelt_one(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ParameterError(f"{where} is a text or a number. Got {shorten(value)}.")
    return str(value)
