"""Plain words: what a newcomer reads holds none that has to be decoded."""

import re
from pathlib import Path

from typer.main import get_command

from solah.cli.main import app, main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PRIVATE = re.compile(
    r"\b(choirs?|voices?|loudness|loudly|speaks?|spoken|hears?|heard|surpris\w+|credits?|wish\w*|"
    r"shelf|workshops?|anew)\b",
    re.IGNORECASE,
)


def test_pages_hold_no_private_words():
    for page in PAGES:
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        assert PRIVATE.findall(re.sub(r"`[^`]*`", "", text)) == [], page


def test_help_texts_hold_no_private_words(capsys):
    for verb in get_command(app).commands:
        main([verb, "--help"])
        main([verb, "--help"])
        assert PRIVATE.findall(capsys.readouterr().out) == [], verb
