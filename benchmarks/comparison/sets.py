"""Load the labelled rows of a data set, up to a maximum, and list the names of sets."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from comparison.sensor_sets import SENSORS as SENSOR_ENTRIES
from comparison.sensor_sets import load
from reproduction import data
from solah.datasets.registry import ENTRIES
from solah.exceptions import ParameterError, did_you_mean

if TYPE_CHECKING:
    from solah.datasets import Dataset

TWELVE = (
    "breast_cancer_ljubljana",
    "wisconsin_original",
    "ecoli",
    "glass",
    "heart_c_weka",
    "heart_statlog",
    "hepatitis",
    "wine",
    "liver_disorders",
    "diabetes_pima",
    "ionosphere",
    "sonar",
)
EIGHT = (
    "breast_277",
    "liver_disorders",
    "heart_statlog",
    "ionosphere",
    "diabetes_pima",
    "sonar",
    "wine",
    "wisconsin_683",
)
SENSORS = (
    "iot_occupancy",
    "iot_room_occupancy",
    "iot_wall_following_robot",
    "iot_gas_sensor_drift_part",
    "iot_hapt_windows",
)
GROUPS = {"eight": EIGHT, "twelve": TWELVE, "sensors": SENSORS}
TITLES = {
    "eight": "The eight sets",
    "twelve": "The paper's twelve sets",
    "sensors": "The sensor sets",
    "named": "The sets that were named",
}
WITHOUT_MISSING = {"breast_277": "breast_cancer_ljubljana", "wisconsin_683": "wisconsin_original"}
"""Sets as KEEL has them: the rows of another set that have all their values."""

KNOWN = (*ENTRIES, *SENSOR_ENTRIES, *data.PAPER_ONLY)

_SAMPLE_SEED = 0


def choose_sets(names: list[str]) -> dict[str, tuple[str, ...]]:
    """Sort names of groups and of sets into groups of sets; raise for one that nobody knows."""
    canonical = {name: name for name in WITHOUT_MISSING}
    for entry in KNOWN:
        canonical |= dict.fromkeys((entry.name, *entry.aliases), entry.name)
    groups: dict[str, tuple[str, ...]] = {}
    for name in names:
        if name in GROUPS:
            groups[name] = GROUPS[name]
        elif name in canonical:
            named = (*groups.get("named", ()), canonical[name])
            groups["named"] = tuple(dict.fromkeys(named))
        else:
            known = (*GROUPS, *canonical)
            raise ParameterError(f"there is no set {name!r}{did_you_mean(name, known)}")
    return groups


def source_of(name: str) -> str:
    """Return the name of the data set that a set is made from."""
    return WITHOUT_MISSING.get(name, name)


@lru_cache(maxsize=2)
def load_rows(name: str, most: int) -> Dataset:
    """Load a set; of more rows than ``most``, a seeded sample in the same proportions.

    The classes keep their shares, where there are groups within each group; the rows stay in
    their order.
    """
    is_sensor = any(entry.name == name for entry in SENSOR_ENTRIES)
    material = load(name) if is_sensor else data.load_rows(source_of(name))
    if name in WITHOUT_MISSING:
        missing = np.any([column.missing() for column in material.table.columns], axis=0)
        material = take_rows(material, np.flatnonzero(~missing))
    if material.table.n_rows > most:
        material = take_rows(material, sample_rows(material.target, material.groups, most))
    return replace(material, name=name)


def take_rows(material: Dataset, rows: np.ndarray) -> Dataset:
    """Keep the rows at these places."""
    return replace(
        material,
        table=material.table.take(rows),
        target=material.target[rows],
        groups=None if material.groups is None else material.groups[rows],
    )


def sample_rows(target: np.ndarray, groups: np.ndarray | None, most: int) -> np.ndarray:
    """Draw the places of ``most`` rows, the same share of every class in every group."""
    strata = np.unique(target, return_inverse=True)[1]
    if groups is not None:
        numbers = np.unique(groups, return_inverse=True)[1]
        strata = strata + (strata.max() + 1) * numbers
    # The position of a shuffled row within its stratum, from 0 (always in) to just below 1.
    position = np.empty(len(target))
    rng = np.random.default_rng(_SAMPLE_SEED)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        position[rows] = rng.permutation(len(rows)) / len(rows)
    return np.sort(np.argsort(position, kind="stable")[:most])
