"""Costs of the parts of the runtime on a Cortex-M0+, fitted to measured models.

Models of all shapes were compiled (GCC, -Os, unused sections dropped) and run under QEMU. The
prices of time fit them best; those of code and of the stack bound them, so that a model that
should fit does. ``test_costs.py`` fails when the runtime has moved away from them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CodePrices:
    """What parts of the code take, in bytes."""

    choice: float  # to choose among classes
    classes: float  # loops over values, where there is more than one
    adding: float  # to sum a number from terms on readings
    adding_walks: float  # to do so beside trees
    curves: float  # to find a piece of a broken line and add its scores
    states: float  # to add the scores of a state
    grids: float  # to find the cells of two readings and mix them
    several_grids: float  # to do so for more than one pair
    walks: float  # to describe readings and walk through trees
    beside: float  # to do so beside probabilities, for classes
    far: float  # to reach what such a walk remembers, where that is much
    weighing: float  # e^x, and shares of the sum
    losing: float  # to weaken what is known by what is unknown
    losing_walks: float  # to find whether all is known that a tree asks
    stages: float  # to compute the outputs of stages one after the other
    preference: float  # to move the decision by thresholds
    zeros: float  # to take the zero of a feature off its readings
    arithmetic: float  # soft floating point: addition, multiplication, comparison
    conversion: float  # soft floating point: from and to integers
    division: float  # soft floating point: division


@dataclass(frozen=True)
class StackPrices:
    """What a decision takes of the stack, in bytes, beside the arrays that the runtime declares."""

    frame: int  # registers and variables of all that is added up
    choice: int  # those of probabilities, and of the choice among classes
    classes: int  # those of loops over values, where there is more than one
    grid: int  # those of a grid
    walk: int  # those of a walk through a tree
    losing: int  # those of what is unknown
    adding: int  # those of a number that is added up


@dataclass(frozen=True)
class TimePrices:
    """What a decision takes, in instructions."""

    chosen: float  # each class that is compared with those before
    weighing: float  # each probability that is computed from scores
    shared: float  # each class whose share is divided for that
    curve: float  # each broken line
    zero: float  # each of these whose reading has a zero of its own to take off
    knot: float  # each of its knots that is passed
    slope: float  # each value on it
    state: float  # each table of states
    state_value: float  # each value of a state
    grid: float  # each grid
    grid_value: float  # each value of one
    asked: float  # each reading that a tree describes by its focal sets
    node: float  # each node that is asked on the way
    leaf: float  # each branch that is taken
    weighed: float  # each value of a branch
    losing: float  # to weaken what is known beside trees, which missing values cost most


@dataclass(frozen=True)
class JudgingPrices:
    """The cost of a policy beside decisions: bytes of code, then instructions."""

    base: int  # to withhold and to debounce
    votes: int  # to count votes and time
    hysteresis: int  # to keep the stable class
    limits: int  # to compare the probability
    known: int  # to compare the share that is known
    shares: int  # to add that up of readings
    smoothing: int  # to average scores
    cells: int  # to find the cells of readings, and those out of range
    pairs: int  # to count pairs of cells that were never seen
    judged: float  # each decision
    smoothed: float  # each value that is averaged
    cell: float  # each reading whose cell is found
    cut: float  # each cut that it is compared with
    pair: float  # each pair of cells


@dataclass(frozen=True)
class Prices:
    """What one kind of numbers costs."""

    code: CodePrices
    stack: StackPrices
    time: TimePrices


Q15 = Prices(
    code=CodePrices(
        choice=37,
        classes=185,
        adding=0,
        adding_walks=265,
        curves=269,
        states=83,
        grids=475,
        several_grids=350,
        walks=137,
        beside=395,
        far=0,
        weighing=123,
        losing=210,
        losing_walks=163,
        stages=243,
        preference=35,
        zeros=31,
        arithmetic=0,
        conversion=0,
        division=0,
    ),
    stack=StackPrices(
        frame=16,
        choice=32,
        classes=20,
        grid=100,
        walk=68,
        losing=12,
        adding=28,
    ),
    time=TimePrices(
        chosen=48,
        weighing=0,
        shared=181,
        curve=33,
        zero=13,
        knot=9,
        slope=20,
        state=2,
        state_value=15,
        grid=330,
        grid_value=80,
        asked=85,
        node=26,
        leaf=95,
        weighed=21,
        losing=240,
    ),
)
FLOAT = Prices(
    code=CodePrices(
        choice=445,
        classes=143,
        adding=375,
        adding_walks=0,
        curves=240,
        states=146,
        grids=650,
        several_grids=250,
        walks=768,
        beside=0,
        far=52,
        weighing=284,
        losing=225,
        losing_walks=40,
        stages=78,
        preference=47,
        zeros=0,
        arithmetic=2312,
        conversion=216,
        division=705,
    ),
    stack=StackPrices(
        frame=60,
        choice=48,
        classes=0,
        grid=106,
        walk=112,
        losing=0,
        adding=24,
    ),
    time=TimePrices(
        chosen=114,
        weighing=1836,
        shared=2715,
        curve=152,
        zero=0,
        knot=42,
        slope=296,
        state=253,
        state_value=101,
        grid=1500,
        grid_value=1000,
        asked=32,
        node=300,
        leaf=270,
        weighed=188,
        losing=2700,
    ),
)
JUDGING_Q15 = JudgingPrices(
    base=150,
    votes=60,
    hysteresis=42,
    limits=46,
    known=40,
    shares=60,
    smoothing=90,
    cells=160,
    pairs=128,
    judged=120,
    smoothed=45,
    cell=45,
    cut=8,
    pair=44,
)
JUDGING_FLOAT = JudgingPrices(
    base=156,
    votes=55,
    hysteresis=44,
    limits=50,
    known=40,
    shares=60,
    smoothing=80,
    cells=195,
    pairs=120,
    judged=330,
    smoothed=390,
    cell=170,
    cut=30,
    pair=40,
)
