"""A genetic search for hierarchies (OptLAH).

genome.py      a hierarchy as clusters and a wiring, mended where it is none
variation.py   genomes drawn, crossed and mutated
search.py      the generations
classifier.py  the estimator
"""

from solah.hierarchy.genetic.classifier import GeneticHierarchyClassifier

__all__ = ["GeneticHierarchyClassifier"]
