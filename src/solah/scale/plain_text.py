"""Cut plain lines of delimited text with PyArrow, many at once.

Plain lines have no quotes, and no spaces around their cells: PyArrow and ``data/fields.py`` cut
them alike. All other lines, and those that are wrong in any way, are left to the latter, which
names the line of an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from solah.data.text_columns import BulkCells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from solah.data.dialect import Dialect
    from solah.data.text_columns import Cells

_DELIMITERS = frozenset(",;|\t")


def cut_plain(block: str, dialect: Dialect, rows: int) -> list[list[Cells]] | None:
    """Cut lines into columns, for at most that many rows each; None where they are not plain."""
    import pyarrow as pa
    from pyarrow import csv

    if not _is_plain(block, dialect):
        return None
    names = [str(j) for j in range(dialect.n_fields)]
    data = pa.py_buffer(block.encode())
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=names),
            csv.ParseOptions(delimiter=dialect.delimiter, quote_char=False),
            csv.ConvertOptions(check_utf8=False, column_types=dict.fromkeys(names, pa.string())),
        )
    except pa.ArrowInvalid:
        return None
    columns = [column.combine_chunks() for column in table.columns]
    return [
        [_ArrowCells(column.slice(start, rows)) for column in columns]
        for start in range(0, table.num_rows, rows)
    ]


def _is_plain(block: str, dialect: Dialect) -> bool:
    delimiter = dialect.delimiter
    if delimiter not in _DELIMITERS or dialect.trailing or dialect.decimal_comma:
        return False
    strange = ('"', "\0", f" {delimiter}", f"{delimiter} ", "\n ", " \n", " \r")
    return (
        not any(one in block for one in strange)
        and " " not in (block[:1], block[-1:])
        and block.count("\r") == block.count("\r\n")
    )


class _ArrowCells(BulkCells):
    def __init__(self, cells: Any) -> None:
        self._cells = cells

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells.to_pylist())

    def numbers(self, missing: frozenset[str]) -> NDArray[np.float64] | None:
        """Return the cells as numbers; None where ``float`` may read one of them otherwise."""
        import pyarrow as pa
        from pyarrow import compute

        is_missing = compute.is_in(self._cells, value_set=pa.array(sorted(missing), pa.string()))
        known = compute.if_else(is_missing, None, self._cells)
        try:
            numbers = known.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            return None
        n_finite = np.count_nonzero(np.isfinite(numbers))
        return numbers if n_finite + known.null_count == len(numbers) else None
