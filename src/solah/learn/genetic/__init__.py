"""A genetic search for hierarchies (OptLAH).

genome.py     a hierarchy as clusters and a wiring, mended where it is none
variation.py  genomes drawn, crossed and mutated
search.py     the generations
"""
