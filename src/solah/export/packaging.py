"""Package the files of an export as an Arduino library or a Zephyr module."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Literal

from solah.export.c_writer import source_environment
from solah.export.names import distinct
from solah.model.format import model_hash

if TYPE_CHECKING:
    from solah.export.exporting import Export
    from solah.model.document import Model

Package = Literal["arduino", "zephyr"]

_LAYOUTS: dict[Package, dict[str, str]] = {
    "arduino": {
        "library.properties": "arduino.properties.j2",
        "examples/decide/decide.ino": "arduino.ino.j2",
    },
    "zephyr": {
        "CMakeLists.txt": "zephyr.cmake.j2",
        "Kconfig": "zephyr.kconfig.j2",
        "zephyr/module.yml": "zephyr.yml.j2",
    },
}


def package_c(model: Model, export: Export, kind: Package) -> dict[str, str]:
    """Lay out an export as a library.

    Parameters
    ----------
    model : the model
    export : its C
    kind : ``"arduino"`` or ``"zephyr"``

    Returns
    -------
    files : dict of path to text
        The C in ``src/``, and beside it what the build system wants.
    """
    values = {
        "name": export.name,
        "NAME": export.name.upper(),
        "version": version("solah"),
        "hash": model_hash(model),
        "goal": model.goal.name,
        "is_fixed": export.numbers == "q15",
        "is_number": not model.goal.states,
        "learns": export.learns,
        "attribute": _measured(model),
    }
    beside = {
        path: source_environment().get_template(template).render(**values)
        for path, template in _LAYOUTS[kind].items()
    }
    return {**beside, **{f"src/{name}": text for name, text in export.files.items()}}


def _measured(model: Model) -> str:
    """Return the first attribute that is measured as the header names it; "" without one."""
    names = distinct((one.name for one in model.attributes), "attribute")
    pairs = zip(names, model.attributes, strict=True)
    return next((name.upper() for name, one in pairs if not one.is_coded), "")
