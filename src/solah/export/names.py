"""Turn names of columns and models into names that C and MicroPython allow."""

from __future__ import annotations

import keyword
import re
import sys
import unicodedata
from typing import TYPE_CHECKING

from solah.exceptions import ParameterError, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST = 40
_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z]+")
# What distinguishes categories such as "-1" and "1", or "<=50K" and ">50K".
_SIGNS = (
    (re.compile("<=|≤"), " at most "),
    (re.compile(">=|≥"), " at least "),
    (re.compile("<"), " below "),
    (re.compile(">"), " above "),
    (re.compile(r"(?<![0-9A-Za-z])[-\u2212](?=[.0-9])"), " minus "),
)
_IDENTIFIER = re.compile(r"[A-Za-z][0-9A-Za-z_]*\Z")
_OF_THE_LANGUAGES = frozenset(
    re.findall(
        r"\w+",
        """
        auto bool break case char class const continue default delete do double else enum extern
        false float for friend goto if inline int long main namespace new nullptr operator private
        protected public register restrict return short signed sizeof static struct switch
        template this throw true try typedef union unsigned using virtual void volatile while
        """,
    )
).union(word.lower() for word in keyword.kwlist)
_HEADERS = frozenset(
    re.findall(
        r"\w+",
        """
        arduino assert complex ctype errno fenv inttypes iso646 limits locale math setjmp signal
        stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath
        threads time uchar wchar wctype
        """,
    )
)
# With what is generated behind them, they would be macros of headers: DT_UNKNOWN, KEY_H.
_MACROS = frozenset(
    (
        *("dt", "get_extended_fuse", "get_high_fuse", "get_lock", "get_low_fuse", "key"),
        *("spi_ioc_rd", "spi_ioc_wr", "spidev", "sreg"),
    )
)
_DEVICES = frozenset(
    ("aux", "con", "nul", "prn", *(f"{port}{i}" for port in ("com", "lpt") for i in range(10)))
)
_OF_BOARDS = frozenset(
    re.findall(
        r"\w+",
        """
        bluetooth btree cryptolib deflate esp esp32 framebuf machine micropython neopixel network
        openamp pyb rp2 uctypes umqtt vfs
        """,
    )
)


def check_identifier(name: str) -> str:
    """Return a name that the files and functions of a model can have, or refuse it."""
    if not _IDENTIFIER.match(name) or name.lower() in _OF_THE_LANGUAGES or len(name) > _MOST:
        raise ParameterError(
            "a name in C has letters, digits and underscores, begins with a letter, and is no "
            f"word of the language. Got {shorten(name)}; give another with --name."
        )
    return _refuse_taken(name, _taken_by(name))


def check_module(name: str) -> str:
    """Return a name that a module for MicroPython can have, or refuse it."""
    plain = check_identifier(name).lower()
    if plain in _OF_BOARDS or plain in map(str.lower, sys.stdlib_module_names):
        return _refuse_taken(name, f"Python or MicroPython has a module {plain!r}")
    return name


def identifier(text: str, fallback: str) -> str:
    """Make a name that `check_identifier` takes of any text; of one without letters the fallback.

    Examples
    --------
    >>> [identifier(text, "model") for text in ("Küche 2", "2nd", "色", "solah_tables", "int")]
    ['kuche_2', 'model_2nd', 'model', 'model_solah_tables', 'model_int']
    """
    words = _words(text)
    if not words or words[0].isdigit() or words in _OF_THE_LANGUAGES or _taken_by(words):
        words = f"{fallback}_{words}".strip("_")
    return words[:_MOST]


def distinct(texts: Iterable[str], fallback: str, reserved: Iterable[str] = ()) -> list[str]:
    """Make parts of identifiers of texts, all different: a repeated one gets a number.

    So does one that is reserved for something else.

    Examples
    --------
    >>> distinct(["Größe (cm)", "Größe cm", "色", "2nd"], "feature")
    ['groe_cm', 'groe_cm_2', 'feature', '2nd']
    >>> distinct(["-1", "1", "<=50K", ">50K", "name size"], "class", ["name_size"])
    ['minus_1', '1', 'at_most_50k', 'above_50k', 'name_size_2']
    """
    return _numbered((_words(text) or fallback for text in texts), reserved)


def distinct_states(states: Iterable[tuple[str, str]]) -> list[str]:
    """Make parts of identifiers of states, each behind the name of its feature, all different.

    Examples
    --------
    >>> distinct_states([("a_b", "c"), ("a", "b c"), ("a", "色")])
    ['a_b_c', 'a_b_c_2', 'a_state']
    """
    return _numbered((f"{_words(owner)}_{_words(state) or 'state'}" for owner, state in states), ())


def _numbered(names: Iterable[str], reserved: Iterable[str]) -> list[str]:
    """Put a number behind each name that is taken, so that all differ."""
    taken = set(reserved)
    last_number: dict[str, int] = {}
    found = []
    for plain in names:
        name = plain
        while name in taken:
            last_number[plain] = last_number.get(plain, 1) + 1
            name = f"{plain}_{last_number[plain]}"
        taken.add(name)
        found.append(name)
    return found


def _words(text: str) -> str:
    for sign, word in _SIGNS:
        text = sign.sub(word, text)
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return _NOT_IN_NAMES.sub("_", plain).strip("_").lower()[:_MOST]


def _taken_by(name: str) -> str | None:
    """Name who else has a name, also where capitals do not distinguish files."""
    plain = name.lower()
    if plain == "solah" or plain.startswith("solah_"):
        return "the names of the runtime's files and functions begin with 'solah'"
    if plain in _HEADERS:
        return f"there is a header {plain}.h that programs include"
    if plain in _MACROS:
        return f"headers of systems and boards have macros that begin with {plain.upper()}_"
    if plain in _DEVICES:
        return "on Windows no file can have this name"
    return None


def _refuse_taken(name: str, taken_by: str | None) -> str:
    if taken_by is not None:
        raise ParameterError(
            f"a model cannot be called {name!r}: {taken_by}. Give another name with --name."
        )
    return name
