"""The features of this package, a line each: folders in ``features/`` that nothing imports."""

from __future__ import annotations

FEATURES = ("checks",)
"""``hooks()`` of the folder gives its hooks. An ``in_kernel.py`` runs in each Python kernel that
the agent uses, after ``kernel_side/watch.py``; what it observes is in the report on a run."""
