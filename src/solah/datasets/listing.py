"""The list of known data sets, with what is known of each without reading it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from solah.datasets import registry
from solah.datasets.places import locate

if TYPE_CHECKING:
    from solah.datasets.entries import Entry


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set.

    Attributes
    ----------
    name : str
        The name to load it by.
    aliases : tuple of str
        Other names it goes by.
    rows, attributes, classes : int
        Its shape.
    source : str
        Where it comes from.
    licence : str
        Under which terms, as far as is known.
    at_hand : bool
        Whether it loads without a network.
    where : str
        ``"scikit-learn"``, ``"SOLAH_DATA"`` (the folder of that variable), ``"cache"``,
        ``"download"`` (it will be fetched on the first load) or ``"by hand"``.
    """

    name: str
    aliases: tuple[str, ...]
    rows: int
    attributes: int
    classes: int
    source: str
    licence: str
    at_hand: bool
    where: str


def available() -> tuple[DatasetInfo, ...]:
    """List the data sets that can be loaded by name.

    Returns
    -------
    tuple of DatasetInfo
        One for each set; shapes are known facts, no file is read.

    Examples
    --------
    >>> from solah.datasets import available
    >>> [info.name for info in available() if info.where == "scikit-learn"]
    ['iris', 'wdbc', 'wine']
    """
    return tuple(_describe(entry) for entry in registry.ENTRIES)


def _describe(entry: Entry) -> DatasetInfo:
    location = locate(entry)
    return DatasetInfo(
        name=entry.name,
        aliases=entry.aliases,
        rows=entry.n_rows,
        attributes=entry.n_attributes,
        classes=len(entry.classes),
        source=entry.source,
        licence=entry.licence,
        at_hand=location.is_at_hand,
        where=str(location.place),
    )
