"""The admin's settings: limits of a turn, and rules for every session."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...wire.events import Mode
from ..approval.markdown_cells import MarkdownRisks, not_checked
from ..approval.modes import HIGHEST

MAX_FILES = 50
"""Names of files beside the notebook that the model gets with each turn."""


class Limits(msgspec.Struct, frozen=True):
    """Limits of a turn. None means no limit.

    ``cell_timeout`` (seconds per cell, in Auto mode), ``turn_timeout`` (seconds per turn, without
    waiting for the person), ``cost`` (US dollars per turn; needs known prices), ``context_share``
    (0..1 of the model's context).
    """

    steps: int = 100
    cell_timeout: float | None = 600.0
    review_cell_timeout: float | None = None
    turn_timeout: float | None = 3600.0
    cost: float | None = None
    context_share: float = 0.8


class Rules(msgspec.Struct, frozen=True):
    """The admin's settings that every session shares."""

    limits: Limits = Limits()
    highest_mode: Mode = HIGHEST
    scrub: Callable[[str], str] = str
    markdown_risks: MarkdownRisks = not_checked
    auto_needs_sandbox: bool = False
    """Whether code runs without asking only in sandboxed kernels."""
