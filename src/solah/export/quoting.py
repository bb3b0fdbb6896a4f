"""Quote texts for generated files, so that they cannot break out of their place.

Names of targets, features, states and nodes come from the maker of the model. In a generated file
each is in a comment, in a string or on a line of its own, and must not end it.
"""

from __future__ import annotations

import json
import re

from solah.safe_text import CONTROL

# What ends or begins a comment, and what begins a trigraph, is torn apart.
_TORN = re.compile(r"\*(?=/)|/(?=\*)|\?(?=\?)")
# The bytes that every compiler of C99 takes in one string.
_LONGEST_STRING = 4095
# What could end a script in a page, or a line of it, or show a line in another order.
_UNSAFE_IN_SCRIPT = re.compile(f"[<>&]|{CONTROL.pattern}")


def one_line(text: str) -> str:
    r"""Write a text on one line; a character that cannot be seen is written as its number.

    Examples
    --------
    >>> one_line("two\nlines and\u2028three"), one_line("left\u202eright\x00")
    ('two lines and three', 'left<U+202E>right<U+0000>')
    """
    seen = (
        sign if sign.isprintable() or sign.isspace() else f"<U+{ord(sign):04X}>" for sign in text
    )
    return " ".join("".join(seen).split())


def comment(text: str) -> str:
    r"""Write a text into a comment of C, Python or CMake, which it can neither end nor continue.

    In Python it must not be on the first two lines: a comment there may name an encoding.

    Examples
    --------
    >>> comment("a */ b /* c ??/"), comment("ends with \\")
    ('a * / b / * c ? ?/', 'ends with <U+005C>')
    """
    return _TORN.sub(r"\g<0> ", one_line(text).replace("\\", "<U+005C>"))


def kconfig(text: str) -> str:
    """Write a text into a quoted string of Kconfig, which expands ``$`` even there.

    Examples
    --------
    >>> kconfig('put "$(shell,date)"')
    "put '<U+0024>(shell,date)'"
    """
    return comment(text).replace('"', "'").replace("$", "<U+0024>")


def json_string(text: str, most: int = 200) -> str:
    r"""Write a text on one line as a string of JSON or YAML; a long one is cut.

    Examples
    --------
    >>> print(json_string('put "so"'), json_string("süß" * 9, 6))
    "put \"so\"" "süßsü…"
    """
    line = one_line(text)
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return json.dumps(line, ensure_ascii=False)


def c_string(text: str) -> str:
    r"""Write a text as a string of C, byte by byte where it is not plain; a very long one is cut.

    Examples
    --------
    >>> print(c_string('why "so"?'), c_string("süß"))
    "why \042so\042\077" "s\303\274\303\237"
    """
    encoded = text.encode()
    if len(encoded) > _LONGEST_STRING:
        more = "…".encode()
        whole = encoded[: _LONGEST_STRING - len(more)].decode(errors="ignore")
        encoded = whole.encode() + more
    written = ""
    for byte in encoded:
        plain = 0x20 <= byte < 0x7F and chr(byte) not in '"\\?'
        # Three octal digits end by themselves; a hexadecimal escape would swallow what follows.
        written += chr(byte) if plain else f"\\{byte:03o}"
    return f'"{written}"'


def script_json(value: object) -> str:
    r"""Write a value as JSON that neither ends the script around it nor changes its order.

    Examples
    --------
    >>> print(script_json({"name": "</script>\u202e"}))
    {"name":"\u003c/script\u003e\u202e"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE_IN_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def sql_name(name: str) -> str:
    """Write a name of a table or a column in SQL.

    Examples
    --------
    >>> print(sql_name('x"; DROP TABLE readings; --'))
    "x""; DROP TABLE readings; --"
    """
    return '"' + name.replace('"', '""') + '"'


def sql_string(text: str) -> str:
    """Write a text as a string of SQL.

    Examples
    --------
    >>> print(sql_string("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"
