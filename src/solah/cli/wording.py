"""Write numbers with nouns in plain English."""

from __future__ import annotations


def plural(number: int, noun: str, nouns: str = "") -> str:
    """Say how many there are."""
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"
