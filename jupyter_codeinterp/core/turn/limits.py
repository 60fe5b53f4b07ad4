"""What an admin has set: bounds of a turn, and what every session shares."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..approval.markdown_cells import MarkdownRisks, not_checked
from ..approval.policy import HIGHEST
from ..wire.events import Mode

MAX_FILES = 50
"""Names of files beside the notebook that the model is told of with each turn."""


class Limits(msgspec.Struct, frozen=True):
    """Bounds of a turn. None means no bound.

    ``cell_timeout`` (seconds a cell, in Auto mode), ``turn_timeout`` (seconds of an
    unattended turn, without those that it waited for the person), ``cost`` (US dollars a
    turn; needs known prices), ``context_share`` (0..1 of the model's context).
    """

    steps: int = 100
    cell_timeout: float | None = 600.0
    review_cell_timeout: float | None = None
    turn_timeout: float | None = 3600.0
    cost: float | None = None
    context_share: float = 0.8


class Rules(msgspec.Struct, frozen=True):
    """What an admin has set, and what every session shares."""

    limits: Limits = Limits()
    highest_mode: Mode = HIGHEST
    scrub: Callable[[str], str] = str
    markdown_risks: MarkdownRisks = not_checked
    auto_needs_sandbox: bool = False
    """Whether code runs unasked in sandboxed kernels alone."""
    second_look: str = ""
    """The model that looks for mistakes where a person has named none; "" for the
    conversation's."""
