"""How much to compute: folds, seeds, runs, the genetic search, and the data the tables cover."""

from __future__ import annotations

from dataclasses import dataclass

from reproduction.models import GENERATIONS, POPULATION, Variant
from reproduction.published import DATABASES, SMS_14, SMS_20, Database, Study


@dataclass(frozen=True)
class Scope:
    """How much to compute.

    Attributes
    ----------
    folds : the folds of a cross-validation
    seeds : how often it is repeated, with the seeds 0, 1, …
    runs : how many random halves there are in the comparison
    optlah : the settings that the genetic search is run with; empty skips it
    population, generations : the size of the genetic search
    databases, sms20, sms14 : the data that the tables cover
    """

    folds: int = 10
    seeds: int = 1
    runs: int = 10
    optlah: tuple[Variant, ...] = ("paper",)
    population: int = POPULATION
    generations: int = GENERATIONS
    databases: tuple[Database, ...] = DATABASES
    sms20: Study = SMS_20
    sms14: Study = SMS_14

    @property
    def counted(self) -> tuple[Database, ...]:
        """The databases that means and ranks are over."""
        return tuple(database for database in self.databases if database.is_counted)
