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
    from .findings import filters, joins, lost_values
    from .tables import OddColumns

    return (
        Hook(after_run=filters),
        Hook(after_run=joins),
        Hook(after_run=lost_values),
        Hook(after_run=OddColumns().after_run),
    )
