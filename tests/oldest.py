"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

    python tests/oldest.py > constraints.txt

Those of the package and of its extras; what is only there for tests may be of any version.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_BOUND = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)")


def oldest(project: Path = PROJECT) -> list[str]:
    """Return a line for each dependency; refuse one without a lower bound, or with two."""
    content = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = content["optional-dependencies"].values()
    lines: dict[str, str] = {}
    for text in [*content["dependencies"], *(text for extra in extras for text in extra)]:
        if text.startswith("solah["):  # the extra that has all others
            continue
        bound = _BOUND.fullmatch(text)
        if bound is None:
            raise SystemExit(f"{text!r} has no plain lower bound: name>=version")
        name, version = bound.groups()
        if lines.setdefault(name, version) != version:
            raise SystemExit(f"{name} has two lower bounds: {lines[name]} and {version}")
    return [f"{name}=={version}" for name, version in sorted(lines.items())]


if __name__ == "__main__":
    print("\n".join(oldest()))
