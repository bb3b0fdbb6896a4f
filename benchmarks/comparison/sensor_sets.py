"""The sensor data sets of the benchmarks: files in the folder of SOLAH_DATA, made from others'.

solah does not know them by name, as nobody else has these files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solah.datasets.loading import load_entry
from solah.datasets.registry import Entry, find_entry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from solah.datasets import Dataset


def load(name: str) -> Dataset:
    """Load a sensor set, or a set that solah knows, by its name or an alias."""
    found = [entry for entry in SENSORS if name in (entry.name, *entry.aliases)]
    return load_entry(found[0] if found else find_entry(name))


def _sizes(names: Sequence[str], *sizes: int) -> dict[str, int]:
    return dict(zip(names, sizes, strict=True))


SENSORS = (
    Entry(
        name="iot_gas_sensor_drift_part",
        aliases=("gas_drift",),
        classes={
            "acetaldehyde": 592,
            "acetone": 1779,
            "ammonia": 681,
            "ethanol": 1316,
            "ethylene": 1664,
            "toluene": 665,
        },
        n_features=128,
        source="UCI 'Gas Sensor Array Drift Dataset', batches 1-6, 8 and 9 of 10",
        groups=_sizes(
            tuple(f"batch{number}" for number in (1, 2, 3, 4, 5, 6, 8, 9)),
            *(445, 1244, 1586, 161, 197, 2300, 294, 470),
        ),
    ),
    Entry(
        name="iot_hapt_windows",
        aliases=("hapt",),
        classes={
            "LAYING": 1910,
            "SITTING": 1736,
            "STANDING": 1926,
            "WALKING": 1660,
            "WALKING_DOWNSTAIRS": 1317,
            "WALKING_UPSTAIRS": 1468,
            "LIE_TO_SIT": 54,
            "LIE_TO_STAND": 50,
            "SIT_TO_LIE": 77,
            "SIT_TO_STAND": 12,
            "STAND_TO_LIE": 112,
            "STAND_TO_SIT": 39,
        },
        n_features=64,
        source=(
            "statistics of 2.56 s windows of UCI 'Smartphone-Based Recognition of Human "
            "Activities and Postural Transitions'"
        ),
        groups=_sizes(
            tuple(f"user{number}" for number in range(1, 31)),
            *(350, 304, 340, 315, 306, 322, 298, 274, 288, 288, 320, 325, 330, 328, 327),
            *(358, 381, 386, 358, 363, 416, 322, 370, 394, 415, 393, 378, 376, 345, 391),
        ),
    ),
    Entry(
        name="iot_occupancy",
        aliases=("occupancy",),
        classes={"empty": 15810, "occupied": 4750},
        n_features=5,
        source="UCI 'Occupancy Detection'",
        groups={"datatraining": 8143, "datatest": 2665, "datatest2": 9752},
    ),
    Entry(
        name="iot_room_occupancy",
        aliases=("room_occupancy",),
        classes={"0": 8228, "1": 459, "2": 748, "3": 694},
        n_features=16,
        source="UCI 'Room Occupancy Estimation'",
    ),
    Entry(
        name="iot_skab_water_pump",
        aliases=("skab", "water_pump"),
        classes={"anomaly": 13067, "normal": 24334},
        n_features=8,
        source="SKAB, the Skoltech Anomaly Benchmark (GitHub waico/SKAB)",
        licence="GPL-3.0, according to its repository",
        groups=_sizes(
            (
                *(f"other/{number}.csv" for number in range(1, 15)),
                *(f"valve1/{number}.csv" for number in range(16)),
                *(f"valve2/{number}.csv" for number in range(4)),
            ),
            *(745, 780, 1137, 1191, 1155, 1147, 1090, 1147, 1144, 1327, 1190, 1048, 923, 905),
            *(1147, 1145, 1075, 1148, 1095, 1154, 1154, 1094),
            *(1144, 1148, 1146, 1141, 1140, 1140, 1139, 1150),
            *(1125, 1063, 1129, 995),
        ),
    ),
)
