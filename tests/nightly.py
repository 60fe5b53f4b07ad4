"""Cases that only the nightly run tries: ``scripts/attack`` and ``scripts/torture``.

The whole of ``scripts/test`` keeps some of each kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def spread(cases: Iterable[Any], every: int) -> Sequence[Any]:
    """Every so many of the cases always, the others at night."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.nightly)
        for number, case in enumerate(cases)
    ]
