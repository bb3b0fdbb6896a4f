"""The shapes of random models that exports are tried on."""

from random_models import ADDITIVE_SHAPES, SHAPES

ALL_SHAPES = (*SHAPES, *ADDITIVE_SHAPES)
