"""Edits of a model by people: rules, words and names, each checked and kept in the document."""

from solah.editing.editor import Editor

__all__ = ["Editor"]
