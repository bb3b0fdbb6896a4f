"""``solah info``: describe this installation, or a model."""

import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from solah.cli.command import READ, argument
from solah.cli.screen import Screen

if TYPE_CHECKING:
    from solah.model import Model

_EXTRA = re.compile(r"""^([\w.-]+).*;.*extra\s*==\s*['"]([\w.-]+)['"]""")
_PACKAGES = ("solah", "numpy", "scikit-learn")


def info(
    screen: Screen,
    model: Annotated[
        Path | None, argument("MODEL", "A model file. Default: describe the installation."), READ
    ] = None,
) -> None:
    """Describe this installation: versions, kernel, threads and extras; or a model.

    For a model: its target and size, pinned rules, policy and edits.

    Example: solah info --json
    """
    from solah.cli.views import facts
    from solah.kernels.choose import available_threads
    from solah.model import load_document

    if model is not None:
        _show_model(load_document(model), screen)
        return
    installation = {
        "versions": {package: _version(package) for package in _PACKAGES}
        | {"python": platform.python_version()},
        "kernel": _kernel(whole_path=screen.verbose),
        "threads": available_threads(),
        "extras": _extras(),
    }
    if screen.json:
        screen.document(installation)
    screen.result(facts(_rows(installation)))


def _show_model(model: "Model", screen: Screen) -> None:
    from solah.cli.views import facts, heading
    from solah.explain import rules_of
    from solah.explain.legend import spell_policy
    from solah.model.json_fields import record_of

    rules = rules_of(model)
    moved = [feature.name for feature in model.features if feature.is_moved]
    about = {
        "target": model.target.name,
        "classes": ", ".join(map(str, model.target.classes)) or None,
        "features": len(model.features),
        "rules": len(rules),
        "pinned rules": sum(rule.is_pinned for rule in rules),
        "moved words": ", ".join(moved) or None,
        "policy": "; ".join(spell_policy(model)) or None,
        "made by": model.generator,
    }
    if screen.json:
        screen.document({**about, "edits": [record_of(edit) for edit in model.edits]})
    screen.result(facts({name: value for name, value in about.items() if value}))
    if model.edits:
        screen.say("", heading("Edits"))
        screen.result(*map(str, model.edits))


def _kernel(*, whole_path: bool) -> dict[str, Any]:
    """Find which kernel is in use, and why."""
    from solah.kernels import choose, native

    chosen, library = choose.kernel(), native.find_library()
    if chosen.name == native.name:
        reason = "compiled C"
    elif native.load() is not None:
        reason = f"NumPy, as {native.ENVIRONMENT_VARIABLE} asks for"
    elif library is None:
        reason = "NumPy, as solah was installed without a C compiler"
    else:
        reason = "NumPy, as the compiled library cannot be loaded"
    return {
        "name": chosen.name,
        "reason": reason,
        "library": library and (str(library) if whole_path else library.name),
        "interface": native.ABI_VERSION,
    }


def _extras() -> dict[str, dict[str, str | None]]:
    """List the optional packages of each extra with their version, None where not installed."""
    from importlib.metadata import requires

    extras: dict[str, dict[str, str | None]] = {}
    for requirement in requires("solah") or ():
        if match := _EXTRA.match(requirement):
            package, extra = match.groups()
            extras.setdefault(extra, {})[package] = _version(package)
    return extras


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _rows(installation: dict[str, Any]) -> dict[str, str]:
    """Put the installation into lines."""
    kernel = installation["kernel"]
    rows = dict(installation["versions"])
    rows["kernel"] = f"{kernel['name']} ({kernel['reason']})"
    if kernel["library"]:
        rows["library"] = f"{kernel['library']}, interface {kernel['interface']}"
    rows["threads"] = str(installation["threads"])
    for extra, packages in installation["extras"].items():
        rows[f"extra {extra}"] = (
            f"not installed; to get it: pip install 'solah[{extra}]'"
            if None in packages.values()
            else ", ".join(f"{name} {version}" for name, version in packages.items())
        )
    return rows
