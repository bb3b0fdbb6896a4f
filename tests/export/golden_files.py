"""Generated files as they were written last, so that a reviewer sees what changes.

To write them again after a change that is meant: ``SOLAH_WRITE_GOLDEN=1 pytest tests/export``.
"""

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def check_golden(folder, files, *names):
    """Assert that files are those of a folder of golden files."""
    for name in names or files:
        golden = GOLDEN / folder / name
        if os.environ.get("SOLAH_WRITE_GOLDEN"):
            golden.write_text(files[name], encoding="utf-8")
        assert files[name] == golden.read_text(encoding="utf-8"), f"{golden} is another"
