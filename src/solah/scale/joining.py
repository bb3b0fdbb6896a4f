"""Join what is known of many tables: their columns, forms and numbers of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.exceptions import DataError
from solah.scale.forms import Form, forms_of, join_forms, see_same_columns

if TYPE_CHECKING:
    from solah.data import Table


class FormJoiner:
    """Joins the forms of tables as they come, and counts their rows.

    Parameters
    ----------
    error : type of DataError
        What to raise where columns do not fit together.
    """

    def __init__(self, error: type[DataError] = DataError) -> None:
        self.forms: dict[str, Form | None] = {}
        self.n_rows = 0
        self._error = error
        self._first = ""

    def add(self, table: Table, where: str) -> Table:
        """Take one more table into account; return it with its columns in the first one's order."""
        if not self.forms:
            self._first = where
        else:
            see_same_columns(table.names, self.forms, where, self._first, self._error)
            table = table.select(self.forms)
        if table.n_rows:
            self.forms = self._joined(forms_of(table), where)
        elif not self.forms:
            self.forms = dict.fromkeys(table.names)
        self.n_rows += table.n_rows
        return table

    def _joined(self, forms: dict[str, Form | None], where: str) -> dict[str, Form | None]:
        """Join the forms; those of tables without rows do not count."""
        if not self.n_rows:
            return forms
        try:
            return join_forms(self.forms, forms, where)
        except DataError as error:
            raise self._error(str(error)) from None
