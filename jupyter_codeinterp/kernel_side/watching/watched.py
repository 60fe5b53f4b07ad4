"""The watched calls of pandas, and the functions that look at them.

This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .calls import Watched
from .filters import contains, equal, isin, part, unequal
from .joins import join, merge
from .lost_values import to_datetime, to_numeric
from .values import pandas


def watched() -> Iterator[Watched]:
    """All watched calls, with their looks."""
    pd = pandas()
    yield from (
        (pd.DataFrame, "__getitem__", part),
        (pd.Series, "__getitem__", part),
        (sys.modules["pandas.core.indexing"]._LocIndexer, "__getitem__", part),
        (pd.Series, "__eq__", equal),
        (pd.Series, "__ne__", unequal),
        (pd.Series, "isin", isin),
        (pd.Series.str, "contains", contains),
        (pd, "to_numeric", to_numeric),
        (pd, "to_datetime", to_datetime),
        (pd, "merge", merge),
        (pd.DataFrame, "merge", merge),
        (pd.DataFrame, "join", join),
    )
