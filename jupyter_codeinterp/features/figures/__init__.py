"""Looks whether the cells that an answer links have its numbers, and which numbers nothing has.

hook.py       looks up the numbers of an answer
lookup.py     a number's places in outputs
answer.py     an answer's prose, and its links
outputs.py    the outputs' text, bounded
labels.py     rows and columns of numbers, and which the title of a link fits
numbers.py    numbers in text
"""

from __future__ import annotations

from ...api import Hook


def hooks() -> tuple[Hook, ...]:
    from .hook import figures_found

    return (Hook(after_answer=figures_found),)
