"""Package the files of an export as a library of Arduino, PlatformIO, Zephyr or ESP-IDF."""

from __future__ import annotations

import re
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from solah.export.c_writer import (
    feature_enumerators,
    source_environment,
    state_enumerators,
    training_range,
)
from solah.export.names import distinct
from solah.export.self_test import self_test, size_of_samples
from solah.model.format import model_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

    from solah.export.c_export import Export
    from solah.model.document import Model

Package = Literal["arduino", "platformio", "zephyr", "esp-idf"]

_SKETCHES = {
    "examples/decide/decide.ino": "arduino.ino.j2",
    "examples/self_test/self_test.ino": "arduino_test.ino.j2",
}
_LAYOUTS: dict[Package, dict[str, str]] = {
    "arduino": {"library.properties": "arduino.properties.j2", **_SKETCHES},
    "platformio": {"library.json": "platformio.json.j2", **_SKETCHES},
    "zephyr": {
        "CMakeLists.txt": "zephyr.cmake.j2",
        "Kconfig": "zephyr.kconfig.j2",
        "zephyr/module.yml": "zephyr.yml.j2",
    },
    "esp-idf": {
        "CMakeLists.txt": "esp_idf.cmake.j2",
        "idf_component.yml": "esp_idf.yml.j2",
        "examples/self_test/CMakeLists.txt": "esp_idf_example.cmake.j2",
        "examples/self_test/main/CMakeLists.txt": "esp_idf_main.cmake.j2",
        "examples/self_test/main/idf_component.yml": "esp_idf_main.yml.j2",
        "examples/self_test/main/main.c": "esp_idf_main.c.j2",
    },
}
_N_ANALOG = 6  # A0 to A5, which most boards have
_FIRST_DIGITAL, _LAST_DIGITAL = 2, 12


def package_c(
    model: Model,
    export: Export,
    kind: Package,
    test: Mapping[str, str] | None = None,
    url: str | None = None,
) -> dict[str, str]:
    """Lay out an export as a library.

    Parameters
    ----------
    model : the model
    export : its C
    kind : ``"arduino"``, ``"platformio"``, ``"zephyr"`` or ``"esp-idf"``
    test : what :func:`~solah.export.self_test` wrote for it; None to write it here
    url : the address of the library's page, which Arduino's Library Manager requires

    Returns
    -------
    files : dict of path to text
        The C in ``src/``, and beside it what the build system wants, the licence, and examples:
        for Arduino and PlatformIO a sketch that reads pins, and one that tests the board.
    """
    test = self_test(model, export) if test is None else test
    values = {
        "name": export.name,
        "NAME": export.name.upper(),
        "kind": kind,
        "version": _plain_version(version("solah")),
        "url": url,
        "hash": model_hash(model),
        "target": model.target.name,
        "is_fixed": export.numbers == "q15",
        "is_number": not model.target.classes,
        "learns": export.learns,
        "tested": bool(test),
        **_inputs(model, export),
    }
    beside = {
        path: source_environment().get_template(template).render(**values)
        for path, template in {"README.md": "package.md.j2", **_LAYOUTS[kind]}.items()
        if test or "self_test" not in path
    }
    licence = files("solah.export").joinpath("templates", "LICENSE.txt").read_text(encoding="utf-8")
    sources = {f"src/{name}": text for name, text in {**export.files, **test}.items()}
    return {**beside, "LICENSE": licence, **sources}


def _plain_version(text: str) -> str:
    """Return a version as these tools read them, of three numbers."""
    numbers = re.findall(r"\d+", text.partition("+")[0])[:3]
    return ".".join([*numbers, "0", "0"][:3])


def _inputs(model: Model, export: Export) -> dict[str, Any]:
    """Give pins to what a sketch reads: samples of channels, or readings."""
    if export.signals is not None:
        measured = export.signals.measured
        names = [name.upper() for name in distinct((one.name for one in measured), "channel")]
        sizes = [size_of_samples(model, export.signals, one.name) for one in measured]
        analog = [
            {"enumerator": name, "name": one.name, "low": -size, "high": size}
            for name, one, size in zip(names, measured, sizes, strict=True)
        ]
        unread = analog[_N_ANALOG:]
        rate = export.signals.rate
        return {"rate": rate, "analog": _with_pins(analog), "digital": [], "unread": unread}
    states = state_enumerators(model)
    analog, digital, others = [], [], []
    for name, one in zip(feature_enumerators(model), model.features, strict=True):
        about: dict[str, Any] = {"enumerator": name, "name": one.name}
        if not one.is_coded:
            low, high = training_range(one)
            analog.append({**about, "low": low, "high": high})
        elif len(one.categories) == 2:
            digital.append({**about, "states": [state for state, _ in states[one.name]]})
        else:
            others.append(about)
    n_digital = _LAST_DIGITAL - _FIRST_DIGITAL + 1
    for place, about in enumerate(digital[:n_digital]):
        about["pin"] = _FIRST_DIGITAL + place
    return {
        "rate": None,
        "analog": _with_pins(analog),
        "digital": digital[:n_digital],
        "unread": [*analog[_N_ANALOG:], *digital[n_digital:], *others],
    }


def _with_pins(analog: list[dict[str, Any]]) -> list[dict[str, Any]]:
    pinned = analog[:_N_ANALOG]
    return [{**about, "pin": f"A{place}"} for place, about in enumerate(pinned)]
