"""Links the numbers of an answer to the outputs that show them.

hook.py       looks up the numbers of an answer, and which of them nothing has
lookup.py     a number's places, without those that its sentence contradicts
sentences.py  which names of a sentence a number is about
names.py      names that label numbers, in outputs and sentences
tables.py     numbers with labels, in an output's text
outputs.py    the outputs' text, bounded
numbers.py    numbers in text
"""

from __future__ import annotations

from ...api import Hook


def hooks() -> tuple[Hook, ...]:
    from .hook import figures_found

    return (Hook("Figures", after_answer=figures_found),)
