"""Shows the report page in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Self

from solah.atomic import write_whole
from solah.report.page import render_page

if TYPE_CHECKING:
    import os

    from solah.model.document import Model

_HEIGHT = 720


@dataclass(frozen=True)
class PageInNotebook:
    """A report page that a notebook shows in a frame of its own, without a network.

    Attributes
    ----------
    html : the whole page
    """

    html: str

    @classmethod
    def of(cls, model: Model, X: Any = None, y: Any = None) -> Self:
        """Return the page of a model, with example rows if there are any."""
        from solah.report.page_summary import summarise_page

        return cls(render_page(summarise_page(model, X, y)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_whole(path, self.html)

    def __repr__(self) -> str:
        return f"<PageInNotebook: {len(self.html) / 1000:,.0f} kB; a notebook shows it>"

    def _repr_html_(self) -> str:
        # The frame has an origin of its own, so that the page cannot touch the notebook.
        return (
            f'<iframe title="Report on the model" srcdoc="{escape(self.html)}" '
            'sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )
