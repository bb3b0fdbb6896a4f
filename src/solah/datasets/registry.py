"""The data sets that solah knows by name: their shapes, sources, licences and declared kinds.

A set has a ``RawFile`` only if its SHA-256 was checked twice: computed from a byte-identical copy
of the repository's file, and found equal to a checksum that others had published for the same
address. Users bring the files of sets without one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from solah.exceptions import DatasetError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

TARGET = "class"
"""The name of the target's column wherever solah itself names it."""

_UCI_LICENCE = "UCI lists donated sets as CC BY 4.0; see the set's own page"
_SKLEARN_LICENCE = f"BSD-3-Clause (scikit-learn's copy); {_UCI_LICENCE}"


@dataclass(frozen=True)
class RawFile:
    """A file of the UCI repository that solah may download, and how to read its lines.

    ``path`` is relative to the repository's address. ``columns`` names every field in the order
    of the file, the target as ``TARGET``; those in ``drop`` (identifiers) are not read. ``words``
    turns the codes of a column into words, and a ``separator`` of None is any run of blanks.
    """

    path: str
    sha256: str
    columns: tuple[str, ...]
    drop: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    separator: str | None = ","

    @property
    def file_name(self) -> str:
        """The last part of the path, under which the file is kept."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Entry:
    """The known facts of one data set.

    ``classes`` gives the rows of each class and ``groups`` the rows of each group, as the groups
    follow one another in the file. ``kinds`` declares only what inference would get wrong; a
    tuple is an ordinal's states in order. ``loader`` names a function of ``sklearn.datasets``.
    """

    name: str
    classes: Mapping[str, int]
    n_features: int
    source: str
    licence: str = _UCI_LICENCE
    aliases: tuple[str, ...] = ()
    kinds: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    groups: Mapping[str, int] | None = None
    loader: str | None = None
    raw: RawFile | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.classes.values())

    @property
    def file_name(self) -> str:
        """The name of the set's file in a folder of data sets."""
        return f"{self.name}.csv"


_HEART_FEATURES = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg"),
    *("thalach", "exang", "oldpeak", "slope", "ca", "thal"),
)


def _numbered(prefix: str, count: int, width: int = 1) -> tuple[str, ...]:
    return tuple(f"{prefix}{number:0{width}}" for number in range(1, count + 1))


def _bands(width: int, starts: range) -> tuple[str, ...]:
    return tuple(f"{start}-{start + width - 1}" for start in starts)


BUNDLED = (
    Entry(
        name="iris",
        classes={"setosa": 50, "versicolor": 50, "virginica": 50},
        n_features=4,
        source="scikit-learn, from UCI 'Iris'",
        licence=_SKLEARN_LICENCE,
        loader="load_iris",
    ),
    Entry(
        name="wdbc",
        aliases=("wisconsin_diagnostic",),
        classes={"malignant": 212, "benign": 357},
        n_features=30,
        source="scikit-learn, from UCI 'Breast Cancer Wisconsin (Diagnostic)'",
        licence=_SKLEARN_LICENCE,
        loader="load_breast_cancer",
    ),
    Entry(
        name="wine",
        classes={"class_0": 59, "class_1": 71, "class_2": 48},
        n_features=13,
        source="scikit-learn, from UCI 'Wine'",
        licence=_SKLEARN_LICENCE,
        loader="load_wine",
    ),
)

GENERAL = (
    Entry(
        name="breast_cancer_ljubljana",
        aliases=("breast", "ljubljana"),
        classes={"no-recurrence-events": 201, "recurrence-events": 85},
        n_features=9,
        source="UCI 'Breast Cancer'",
        kinds={
            "age": _bands(10, range(10, 100, 10)),
            "tumor-size": _bands(5, range(0, 60, 5)),
            "inv-nodes": (*_bands(3, range(0, 36, 3)), "36-39"),
        },
        raw=RawFile(
            path="breast-cancer/breast-cancer.data",
            sha256="ca7d3fa97b62ff967b6894ffbb3acaaf4a51062e0149e5950b3ad6f685970b65",
            columns=(
                *(TARGET, "age", "menopause", "tumor-size", "inv-nodes"),
                *("node-caps", "deg-malig", "breast", "breast-quad", "irradiat"),
            ),
        ),
    ),
    Entry(
        name="diabetes_pima",
        aliases=("pima", "diabetes", "pima_diabetes"),
        classes={"tested_negative": 500, "tested_positive": 268},
        n_features=8,
        source="'Pima Indians Diabetes', withdrawn from UCI; copies at OpenML and Kaggle",
        licence="unclear since UCI withdrew it; CC0 according to Kaggle",
    ),
    Entry(
        name="ecoli",
        classes={"cp": 143, "im": 77, "imL": 2, "imS": 2, "imU": 35, "om": 20, "omL": 5, "pp": 52},
        n_features=7,
        source="UCI 'Ecoli'",
        raw=RawFile(
            path="ecoli/ecoli.data",
            sha256="008bd8fbb1d8b34040c3c8c4e987cac2a7ebf116e008b140cc6441be5261ba1d",
            columns=("sequence", "mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2", TARGET),
            drop=("sequence",),
            separator=None,
        ),
    ),
    Entry(
        name="glass",
        classes={
            "building_windows_float": 70,
            "building_windows_non_float": 76,
            "vehicle_windows_float": 17,
            "containers": 13,
            "tableware": 9,
            "headlamps": 29,
        },
        n_features=9,
        source="UCI 'Glass Identification'",
        raw=RawFile(
            path="glass/glass.data",
            sha256="dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
            columns=("Id", "RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe", TARGET),
            drop=("Id",),
            words={
                TARGET: {
                    "1": "building_windows_float",
                    "2": "building_windows_non_float",
                    "3": "vehicle_windows_float",
                    "5": "containers",
                    "6": "tableware",
                    "7": "headlamps",
                }
            },
        ),
    ),
    Entry(
        name="heart_c_cleveland",
        aliases=("cleveland", "heart_cleveland"),
        classes={"absent": 164, "present": 139},
        n_features=13,
        source="UCI 'Heart Disease' (processed.cleveland.data)",
        kinds={"slope": ("upsloping", "flat", "downsloping")},
        raw=RawFile(
            path="heart-disease/processed.cleveland.data",
            sha256="a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8",
            columns=(*_HEART_FEATURES, TARGET),
            words={
                "sex": {"0.0": "female", "1.0": "male"},
                "cp": {
                    "1.0": "typical ang",
                    "2.0": "atypical ang",
                    "3.0": "non-anginal",
                    "4.0": "asymptomatic",
                },
                "restecg": {
                    "0.0": "normal",
                    "1.0": "ST-T abnormal",
                    "2.0": "left vent hypertrophy",
                },
                "slope": {"1.0": "upsloping", "2.0": "flat", "3.0": "downsloping"},
                "thal": {"3.0": "normal", "6.0": "fixed defect", "7.0": "reversable defect"},
                TARGET: {"0": "absent", **dict.fromkeys("1234", "present")},
            },
        ),
    ),
    Entry(
        name="heart_statlog",
        aliases=("heart", "statlog", "statlog_heart"),
        classes={"absent": 150, "present": 120},
        n_features=13,
        source="UCI 'Statlog (Heart)'",
        kinds=dict.fromkeys(("cp", "restecg", "thal"), "categorical"),
        raw=RawFile(
            path="statlog/heart/heart.dat",
            sha256="f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
            columns=(*_HEART_FEATURES, TARGET),
            words={TARGET: {"1": "absent", "2": "present"}},
            separator=None,
        ),
    ),
    Entry(
        name="hepatitis",
        classes={"DIE": 32, "LIVE": 123},
        n_features=19,
        source="UCI 'Hepatitis'",
        raw=RawFile(
            path="hepatitis/hepatitis.data",
            sha256="9971f9d18abb4fc9dd6749eefb0f864b36fa7bdd59f54188c0b148a5c28214bc",
            columns=(
                *(TARGET, "age", "sex", "steroid", "antivirals", "fatigue", "malaise", "anorexia"),
                *("liver_big", "liver_firm", "spleen_palpable", "spiders", "ascites", "varices"),
                *("bilirubin", "alk_phosphate", "sgot", "albumin", "protime", "histology"),
            ),
            words={TARGET: {"1": "DIE", "2": "LIVE"}},
        ),
    ),
    Entry(
        name="ionosphere",
        classes={"b": 126, "g": 225},
        n_features=34,
        source="UCI 'Ionosphere'",
        raw=RawFile(
            path="ionosphere/ionosphere.data",
            sha256="46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
            columns=(*_numbered("a", 34, width=2), TARGET),
        ),
    ),
    Entry(
        name="liver_disorders",
        aliases=("liver", "bupa"),
        classes={"1": 145, "2": 200},
        n_features=6,
        source="UCI 'Liver Disorders' (bupa.data)",
    ),
    Entry(
        name="sonar",
        classes={"mine": 111, "rock": 97},
        n_features=60,
        source="UCI 'Connectionist Bench (Sonar, Mines vs. Rocks)'",
        raw=RawFile(
            path="undocumented/connectionist-bench/sonar/sonar.all-data",
            sha256="e90434cdbf00fcf93ffa911fe447ae25606979658e60f1d32e155c3b5240234d",
            columns=(*_numbered("band", 60, width=2), TARGET),
            words={TARGET: {"M": "mine", "R": "rock"}},
        ),
    ),
    Entry(
        name="wisconsin_original",
        aliases=("wisconsin", "wbc"),
        classes={"benign": 458, "malignant": 241},
        n_features=9,
        source="UCI 'Breast Cancer Wisconsin (Original)'",
        raw=RawFile(
            path="breast-cancer-wisconsin/breast-cancer-wisconsin.data",
            sha256="402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
            columns=(
                *("id", "clump_thickness", "uniformity_cell_size", "uniformity_cell_shape"),
                *("marginal_adhesion", "single_epithelial_cell_size", "bare_nuclei"),
                *("bland_chromatin", "normal_nucleoli", "mitoses", TARGET),
            ),
            drop=("id",),
            words={TARGET: {"2": "benign", "4": "malignant"}},
        ),
    ),
    Entry(
        name="iot_wall_following_robot",
        aliases=("wall_following_robot", "robot"),
        classes={
            "Move-Forward": 2205,
            "Sharp-Right-Turn": 2097,
            "Slight-Left-Turn": 328,
            "Slight-Right-Turn": 826,
        },
        n_features=24,
        source="UCI 'Wall-Following Robot Navigation Data' (24 sensors)",
        raw=RawFile(
            path="00194/sensor_readings_24.data",
            sha256="6e9728dedef8b35e31ba0be11aea85aa53bd248ab33652777df81b95a4cc8c00",
            columns=(*_numbered("US", 24), TARGET),
        ),
    ),
)

ENTRIES = (*BUNDLED, *GENERAL)


def find_entry(name: str) -> Entry:
    """Return the entry of that name or alias; case, hyphens and blanks do not matter."""
    by_name = {known: entry for entry in ENTRIES for known in (entry.name, *entry.aliases)}
    try:
        return by_name[name.casefold().replace("-", "_").replace(" ", "_")]
    except KeyError:
        raise DatasetError(f"there is no data set {name!r}{did_you_mean(name, by_name)}") from None
