"""The figures in the paper's tables."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Printed:
    """A line of one of the paper's tables; None where the table has no such column.

    Attributes
    ----------
    accuracy, auc : shares
    branches : the paper's beta
    seconds : the paper's T, in seconds
    levels : the paper's iota
    clusters : the paper's K
    """

    accuracy: float
    auc: float | None = None
    branches: int | None = None
    seconds: float | None = None
    levels: int | None = None
    clusters: int | None = None


@dataclass(frozen=True)
class Properties:
    """A line of the paper's table of databases."""

    features: int
    classes: int
    rows: int
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Rivals:
    """A line of the paper's comparison: mean and standard deviation of accuracy, in percent."""

    c45: tuple[float, float]
    bayes: tuple[float, float]
    network: tuple[float, float]
    optlah: tuple[float, float]
    solah: tuple[float, float]


@dataclass(frozen=True)
class Database:
    """One data set of the paper's, and all that the paper prints of it.

    Attributes
    ----------
    name : the set's name in :mod:`solah.datasets`
    title : what the tables call it
    is_counted : whether it is one of the twelve that means and ranks are over; another reading of
        the same database is not
    solah_ten_folds : the paper's line with 10 folds, where ``solah`` and ``tree`` have 2
    is_wide : whether it has too many features for the paper's single tree to finish in minutes
    remark : how the paper's properties differ from the data's
    """

    name: str
    title: str
    properties: Properties
    solah: Printed
    tree: Printed
    rivals: Rivals
    solah_ten_folds: Printed | None = None
    is_counted: bool = True
    is_wide: bool = False
    remark: str = ""

    @property
    def is_high(self) -> bool:
        """Whether the paper has 2 folds here, because its single tree took too long for 10."""
        return self.solah_ten_folds is not None

    @property
    def solah_at_ten_folds(self) -> Printed:
        """What the paper prints for SOLAH with 10 folds."""
        return self.solah_ten_folds or self.solah


@dataclass(frozen=True)
class SweepLine:
    """A line of the paper's tables over k; some lines hold for two k."""

    k: tuple[int, ...]
    printed: Printed


@dataclass(frozen=True)
class ByHand:
    """A hierarchy that the paper gives in full."""

    label: str
    title: str
    wiring: str
    printed: Printed


@dataclass(frozen=True)
class Study:
    """One of the two case studies on text messages.

    Attributes
    ----------
    name : the data, by the name that :mod:`reproduction.data` has for them
    title : what the tables call them
    solah, tree : the paper's lines
    by_hand : the hierarchies that can be wired as the paper has them
    sweep : the paper's lines over k
    unknown : the paper's line of a hierarchy by hand that its text does not give
    """

    name: str
    title: str
    solah: Printed
    tree: Printed
    by_hand: tuple[ByHand, ...]
    sweep: tuple[SweepLine, ...]
    unknown: Printed


_WISCONSIN = Database(
    name="wisconsin_original",
    title="Wisconsin BC (original)",
    properties=Properties(9, 2, 569, (357, 212)),
    solah=Printed(0.97, 0.98, 1100, 36, 3, 2),
    tree=Printed(0.95, 0.96, 1029, 45),
    rivals=Rivals((94.38, 1.42), (96.28, 0.73), (94.96, 0.80), (96.67, 0.20), (94.85, 0.25)),
    remark="the paper's 9 features are this set's, its 569 rows are the diagnostic set's",
)
_HEART_C = Database(
    name="heart_c_weka",
    title="Heart-C (WEKA's file)",
    properties=Properties(13, 2, 303, (165, 138)),
    solah=Printed(0.81, 0.81, 1452, 24, 5, 4),
    tree=Printed(0.76, 0.78, 1345, 40),
    rivals=Rivals((75.50, 3.79), (84.24, 2.09), (79.93, 3.99), (82.81, 4.25), (78.38, 3.50)),
)

DATABASES = (
    Database(
        name="breast_cancer_ljubljana",
        title="Breast cancer",
        properties=Properties(9, 2, 286, (201, 85)),
        solah=Printed(0.78, 0.84, 985, 9, 4, 3),
        tree=Printed(0.70, 0.64, 3201, 66),
        rivals=Rivals((69.16, 4.14), (71.26, 2.96), (66.50, 3.48), (71.77, 2.06), (75.17, 4.30)),
    ),
    _WISCONSIN,
    replace(
        _WISCONSIN,
        name="wdbc",
        title="Wisconsin BC (diagnostic)",
        is_counted=False,
        is_wide=True,
        remark="the paper's 569 rows are this set's, its 9 features are the original set's",
    ),
    Database(
        name="ecoli",
        title="Ecoli",
        properties=Properties(7, 8, 336, (143, 77, 52, 35, 20, 5, 2, 2)),
        solah=Printed(0.85, 0.93, 1103, 15, 4, 3),
        tree=Printed(0.85, 0.89, 3337, 12),
        rivals=Rivals((78.99, 2.23), (85.36, 2.42), (82.62, 3.18), (84.02, 0.92), (86.11, 0.91)),
    ),
    Database(
        name="glass",
        title="Glass",
        properties=Properties(9, 6, 214, (70, 17, 76, 13, 9, 29)),
        solah=Printed(0.81, 0.91, 5124, 48, 3, 2),
        tree=Printed(0.68, 0.83, 9433, 156),
        rivals=Rivals((64.77, 5.10), (45.99, 7.00), (64.30, 3.38), (71.31, 1.75), (71.26, 8.08)),
    ),
    _HEART_C,
    replace(
        _HEART_C,
        name="heart_c_cleveland",
        title="Heart-C (UCI's file)",
        is_counted=False,
        remark="the paper's classes are those of WEKA's file",
    ),
    Database(
        name="heart_statlog",
        title="Heart-statlog",
        properties=Properties(13, 2, 270, (150, 120)),
        solah=Printed(0.79, 0.83, 972, 11, 5, 4),
        tree=Printed(0.77, 0.80, 1053, 24),
        rivals=Rivals((75.78, 3.16), (84.00, 1.68), (78.89, 3.05), (84.85, 2.31), (78.15, 1.05)),
    ),
    Database(
        name="hepatitis",
        title="Hepatitis",
        properties=Properties(19, 2, 155, (70, 85)),
        solah=Printed(0.92, 0.94, 4278, 47, 4, 6),
        tree=Printed(0.79, 0.82, 1677, 45),
        rivals=Rivals((76.75, 4.68), (83.25, 3.99), (81.69, 2.48), (94.84, 1.01), (85.15, 9.12)),
        remark="70 and 85 are the counts of another column (histology); the class has 32 and 123",
    ),
    Database(
        name="wine",
        title="Wine",
        properties=Properties(13, 3, 178, (59, 71, 48)),
        solah=Printed(1.00, 0.99, 929, 6, 5, 5),
        tree=Printed(0.94, 0.98, 1309, 26),
        rivals=Rivals((88.09, 4.14), (96.29, 2.12), (96.85, 1.57), (97.58, 0.27), (98.17, 2.95)),
    ),
    Database(
        name="liver_disorders",
        title="Liver disorders",
        properties=Properties(6, 2, 346, (146, 200)),
        solah=Printed(0.56, 0.60, 226, 3, 3, 2),
        tree=Printed(0.57, 0.56, 1585, 24),
        rivals=Rivals((65.23, 3.86), (55.41, 5.39), (66.74, 4.89), (58.46, 0.76), (56.16, 0.90)),
        remark="the file has one row less",
    ),
    Database(
        name="diabetes_pima",
        title="Diabetes",
        properties=Properties(8, 2, 768, (500, 268)),
        solah=Printed(0.76, 0.82, 1018, 33, 3, 2),
        tree=Printed(0.74, 0.79, 14865, 667),
        rivals=Rivals((72.16, 2.80), (75.05, 2.37), (74.64, 1.41), (76.07, 1.33), (75.09, 1.39)),
    ),
    Database(
        name="ionosphere",
        title="Ionosphere",
        properties=Properties(33, 2, 351, (231, 120)),
        solah=Printed(0.87, 0.71, 4393, 14, 5, 9),
        tree=Printed(0.87, 0.87, 12141, 6953),
        solah_ten_folds=Printed(0.95, 0.98, 7717, 143, 5, 9),
        rivals=Rivals((89.60, 2.13), (82.97, 2.51), (87.77, 2.88), (89.80, 1.63), (92.12, 4.03)),
        is_wide=True,
        remark="the second column is constant, 33 are left; the classes have 225 and 126",
    ),
    Database(
        name="sonar",
        title="Sonar",
        properties=Properties(60, 2, 208, (97, 111)),
        solah=Printed(0.73, 0.80, 26328, 52, 6, 22),
        tree=Printed(0.67, 0.73, 9253, 4968),
        solah_ten_folds=Printed(0.78, 0.84, 33820, 507, 6, 22),
        rivals=Rivals((70.48, 0.00), (70.19, 0.00), (81.05, 0.00), (74.81, 4.81), (75.72, 3.74)),
        is_wide=True,
    ),
)
"""The paper's databases in its order; those it mixes up are there in both readings."""

SMS_20 = Study(
    name="sms20",
    title="SMS-20",
    solah=Printed(0.936491, 0.946402, 197, 101.766),
    tree=Printed(0.956225, 0.895815, 775, 1339.234),
    by_hand=(
        ByHand(
            "text",
            "SOLAH of the paper's text, wired by hand",
            "z20 <- x5, x10, x12, x13, x14, x17; z21 <- z20, x6, x2, x3, x8; z22 <- x9, x11;"
            "z23 <- z21, z22, x7, x1, x4, x18; z24 <- z23, x0, x19, x15, x16",
            Printed(0.936491, 0.946402, 197, 101.766),
        ),
    ),
    sweep=(
        SweepLine((2,), Printed(0.957, 0.933, 540, 467.328, 3, 2)),
        SweepLine((3,), Printed(0.934, 0.950, 189, 111.016, 5, 5)),
        SweepLine((4,), Printed(0.949, 0.941, 203, 114.265, 5, 5)),
        SweepLine((5,), Printed(0.936, 0.946, 187, 101.594, 5, 5)),
        SweepLine((6,), Printed(0.936, 0.946, 197, 107.766, 5, 5)),
        SweepLine((7,), Printed(0.936, 0.946, 204, 115.750, 5, 6)),
        SweepLine((8,), Printed(0.929, 0.940, 163, 93.891, 6, 7)),
        SweepLine((9, 10), Printed(0.891, 0.944, 157, 104.938, 7, 7)),
    ),
    unknown=Printed(0.948511, 0.949233, 267, 143.718),
)

SMS_14 = Study(
    name="sms14",
    title="SMS-14",
    solah=Printed(0.955328, 0.943391, 339, 101.766),
    tree=Printed(0.961607, 0.924536, 583, 613.704),
    by_hand=(
        ByHand(
            "three-clusters",
            "SOLAH of the paper's text, wired by hand",
            "z14 <- x6, x11; z15 <- z14, x9, x4, x8, x10;"
            "z16 <- z15, x5, x0, x1, x2, x3, x7, x12, x13",
            Printed(0.955328, 0.943391, 339, 101.766, 4, 3),
        ),
        ByHand(
            "four-clusters",
            "LAH-SMS14-1 of the paper's source",
            "z14 <- x6, x11; z15 <- x2, x1, x4, x7, x8; z16 <- z15, z14, x5, x0, x3, x13;"
            "z17 <- z16, x9, x10, x12",
            Printed(0.936, 0.950, 154, 84.093, 4, 4),
        ),
    ),
    sweep=(
        SweepLine((2,), Printed(0.956, 0.946, 339, 221.547, 4, 3)),
        SweepLine((3,), Printed(0.937, 0.953, 184, 101.875, 4, 4)),
        SweepLine((4,), Printed(0.936, 0.950, 154, 84.093, 4, 4)),
        SweepLine((5,), Printed(0.932, 0.949, 159, 91.375, 5, 6)),
        SweepLine((6,), Printed(0.932, 0.948, 154, 89.828, 6, 6)),
        SweepLine((7, 8), Printed(0.932, 0.945, 108, 63.313, 6, 6)),
        SweepLine((9, 10), Printed(0.932, 0.941, 130, 76.859, 5, 6)),
    ),
    unknown=Printed(0.951202, 0.957466, 130, 79.719),
)
