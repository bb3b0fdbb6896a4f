"""Open a path as lines of text: compression, encodings, and plain errors."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from solah.exceptions import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

    from solah.data.options import ReadOptions

# A longer line is refused before it fills the memory: the file is probably not a table.
MAX_LINE = 1 << 24

_BLOCK = 1 << 20
_ALWAYS_READ, _MOST_GROWTH = 1 << 24, 100
_BROKEN_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)
# The mark of UTF-32 begins with that of UTF-16, so it is looked for first.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Lines(NamedTuple):
    """The first lines of a file.

    Attributes
    ----------
    lines : the lines, from the first that is not blank on
    is_whole : whether the file has no more
    n_blank : how many blank lines come before them
    """

    lines: tuple[str, ...]
    is_whole: bool
    n_blank: int = 0


def first_lines(path: Path, options: ReadOptions, count: int) -> Lines:
    """Read the first lines, fewer when they are long."""
    taken: list[str] = []
    size = n_blank = 0
    with open_text(path, options) as stream:
        for line in lines_of(stream, path):
            if not taken and line.isspace():
                n_blank += 1
                continue
            if len(taken) == count or size > _BLOCK:
                return Lines(tuple(taken), False, n_blank)
            taken.append(line)
            size += len(line)
    return Lines(tuple(taken), True, n_blank)


@contextmanager
def open_text(path: Path, options: ReadOptions) -> Iterator[TextIO]:
    """Open a file as text, decompressed; whatever fails within becomes a FileFormatError."""
    try:
        with _open_bytes(path) as raw:
            yield io.TextIOWrapper(raw, _choose_encoding(raw, options.encoding), newline="")
    except UnicodeError as error:
        raise _undecodable(path, options, error) from None
    except _BROKEN_GZIP as error:
        raise FileFormatError(f"{path} is not a complete gzip file: {error}") from error
    except OSError as error:
        raise FileFormatError(f"{path} cannot be read: {error.strerror or error}") from error


def lines_of(stream: TextIO, path: Path) -> Iterator[str]:
    """Yield the lines, each with its end; a file that is not text is refused."""
    number = 0
    while line := stream.readline(MAX_LINE):
        number += 1
        refuse_nul(line, path, number)
        if line[-1] in "\r\n":
            yield line
        elif len(line) < MAX_LINE:
            yield line + "\n"  # the last line
        else:
            raise FileFormatError(
                f"{path}, line {number} is longer than {MAX_LINE:,} characters; is it a table?"
            )


def refuse_nul(text: str, path: Path, line: int, before: str = "") -> None:
    """Refuse a NUL character; ``before`` is what the file has from that line on before the text."""
    if "\0" in text:
        line += count_lines(before + text[: text.index("\0")])
        raise FileFormatError(f"{path}, line {line} has a NUL character; is it a text file?")


def count_lines(text: str) -> int:
    """Count the line ends of a text, however they are written."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _open_bytes(path: Path) -> io.BufferedReader:
    if path.suffix.lower() == ".gz":
        # GzipFile reads and peeks as a BufferedReader does, without being one.
        return cast("io.BufferedReader", _BoundedGzip(path))
    return path.open("rb")


class _BoundedGzip(gzip.GzipFile):
    """A gzip file that may grow only so far: little data can be decompressed to very much."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path = path
        self._most = max(_ALWAYS_READ, _MOST_GROWTH * path.stat().st_size)

    def read(self, size: int | None = -1) -> bytes:
        """Read a number of bytes."""
        return self._bounded(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        """Read some bytes."""
        return self._bounded(super().read1(size))

    def _bounded(self, data: bytes) -> bytes:
        if self.tell() > self._most:
            raise FileFormatError(
                f"{self._path} grows to more than {_MOST_GROWTH} times its size when it is "
                "decompressed; decompress it first if you trust it"
            )
        return data


def _choose_encoding(raw: io.BufferedReader, encoding: str | None) -> str:
    if encoding is not None:
        return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    start = raw.peek(4)
    return next((name for mark, name in _MARKS if start.startswith(mark)), "utf-8-sig")


def _undecodable(path: Path, options: ReadOptions, error: UnicodeError) -> FileFormatError:
    """Return the error, with the first byte that cannot be decoded where it can be found."""
    try:
        with _open_bytes(path) as raw:
            # Without -sig: that decoder counts from behind the mark.
            name = _choose_encoding(raw, options.encoding).removesuffix("-sig")
            position, byte = _first_bad_byte(raw, name)
        found = f"the byte at position {position} is 0x{byte:02x}"
    except (*_BROKEN_GZIP, OSError, LookupError, UnicodeError):  # it has no mark, or no position
        name, found = options.encoding or "utf-8", str(error)
    return FileFormatError(
        f"{path} is not {name.upper()} text: {found}; "
        f"pass its encoding, for example --read encoding=latin-1"
    )


def _first_bad_byte(raw: IO[bytes], encoding: str) -> tuple[int, int]:
    """Find the byte: an error gives its position only within a block."""
    decoder = codecs.getincrementaldecoder(encoding)()
    position, block = 0, b"-"
    while block:
        block = raw.read(_BLOCK)
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            return position - pending + error.start, error.object[error.start]
        position += len(block)
    raise LookupError("all bytes can be decoded")
