"""Tables of named columns, read from arrays, frames and files, and the types of their columns.

    frames.py    a data frame or a NumPy array  -> Table
    files.py     a file, by suffix              -> Table, or a stream of them
      delimited.py (dialect.py, textfile.py) · arff.py
    kinds.py     Table                          -> Table and a Kind for each column
    cells.py     a cell                         -> missing, a number, a boolean or a category
    spelling.py  text                           -> numbers, and back
    json_reader.py  JSON  -> checked values (documents and messages, not tables)

Missing values are NaN in numbers and None in text, whatever they were before.
"""

from solah.data.cells import MISSING_WORDS, State, join_tables, to_numbers, to_text
from solah.data.files import iter_tables, read_table
from solah.data.frames import as_array, as_column, from_array, from_arrow, from_frame, is_frame
from solah.data.kinds import MAX_CATEGORIES, MAX_STATES, Declared, infer_types, states_of
from solah.data.options import ReadOptions
from solah.data.table import Column, Kind, Table

__all__ = [
    "MAX_CATEGORIES",
    "MAX_STATES",
    "MISSING_WORDS",
    "Column",
    "Declared",
    "Kind",
    "ReadOptions",
    "State",
    "Table",
    "as_array",
    "as_column",
    "from_array",
    "from_arrow",
    "from_frame",
    "infer_types",
    "is_frame",
    "iter_tables",
    "join_tables",
    "read_table",
    "states_of",
    "to_numbers",
    "to_text",
]
