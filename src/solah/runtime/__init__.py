"""Runs saved models, without what training needs."""

from solah.runtime.evaluator import Evaluator, load_model

__all__ = ["Evaluator", "load_model"]
