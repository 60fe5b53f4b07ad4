"""Checks for silent errors: facts about filters, joins, conversions and new tables of pandas.

findings.py   findings from facts of the kernel, read with the code
tables.py     findings on columns of new tables, for the model alone
in_kernel.py  runs in the kernel, and observes the facts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...api import Hook


def hooks() -> tuple[Hook, ...]:
    from ...api import Hook
    from .findings import FILTER, JOIN, LOST, filters, joins, lost_values
    from .tables import NAME, OddColumns

    return (
        Hook(FILTER, after_run=filters),
        Hook(JOIN, after_run=joins),
        Hook(LOST, after_run=lost_values),
        Hook(NAME, after_run=OddColumns().after_run),
    )
