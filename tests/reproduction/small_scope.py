"""The paper's tables over the data that come with scikit-learn, so small that they take seconds."""

from dataclasses import replace

from reproduction.published import DATABASES, ByHand, Printed, Study, SweepLine
from reproduction.scope import Scope

_BY_NAME = {database.name: database for database in DATABASES}
WINE = replace(_BY_NAME["wine"], is_wide=True)
IRIS = replace(
    WINE,
    name="iris",
    title="Iris",
    solah_ten_folds=Printed(0.95, 0.98, 77, 1.0, 5, 9),
)
STUDY = Study(
    name="iris",
    title="Iris",
    solah=Printed(0.95, 0.97, 30, 1.0),
    tree=Printed(0.95, 0.97, 30, 1.0),
    by_hand=(
        ByHand(
            "sepal-petal",
            "two clusters",
            'z1 <- "sepal length (cm)", "sepal width (cm)";'
            'z2 <- z1, "petal length (cm)", "petal width (cm)"',
            Printed(0.95, 0.97, 50, 1.0),
        ),
    ),
    sweep=(SweepLine((2, 3), Printed(0.95, 0.97, 30, 1.0, 3, 2)),),
    unknown=Printed(0.9, 0.9, 20, 1.0),
)
SMALL = Scope(
    folds=3,
    runs=2,
    optlah=("paper",),
    population=4,
    generations=1,
    databases=(WINE, replace(_BY_NAME["wdbc"], is_counted=False), IRIS),
    sms20=STUDY,
    sms14=STUDY,
)
