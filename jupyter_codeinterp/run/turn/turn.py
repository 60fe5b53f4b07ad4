"""One turn: the request, the services that it uses, its limits, and its state."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ...base.errors import KernelError
from ...base.sentences import Sentence
from ...journal.ledger import Ledger
from ...journal.sqlite.store import SqliteStore
from ...view.context import Context
from ...view.injection.caution import Cautions
from ...view.redaction.private_names import PrivateNames, Variables
from ...view.rule_files import RuleFile
from ...view.skills import Skill
from ...view.untrusted import Untrusted
from ...wire.events import Event, MadeFile, Mode
from ...wire.ops import FinishRun, Output
from ...wire.ports import Kernel, KernelInfo, ModelInfo, NotebookDocument
from ..approval import policy
from ..approval.decisions import Alone, Decisions
from ..approval.markdown_cells import MarkdownRisks, not_checked
from ..approval.modes import MODES, RUN_ALL, Permissions
from .budget import LoopGuard
from .files import FolderScan, made
from .hooks import Hook
from .limits import Limits
from .notebook import TurnNotebook
from .results import Results
from .workplace import Workplace

# -------------------------------------------------------------------------------------------------
# The time of a turn, without the time that it waits for the person.

T = TypeVar("T")

log = logging.getLogger(__name__)


class Clock:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._attended = 0.0
        """Seconds of waiting for the person."""

    async def attend(self, answer: Awaitable[T]) -> T:
        """Wait for the person."""
        since = time.monotonic()
        try:
            return await answer
        finally:
            self._attended += time.monotonic() - since

    @property
    def unattended(self) -> float:
        """Seconds since the start, without waiting for the person."""
        return time.monotonic() - self._started - self._attended


class StoppedRun(Protocol):
    """A run that Stop ended for the turn, but perhaps not in the kernel."""

    async def has_stopped(self) -> bool:
        """Whether the kernel has ended the run, or never began it."""


@dataclass
class Turn:
    """One turn of one session. The mode may change while it goes on."""

    number: int
    since: int
    """The turn in which the person asked; an earlier turn after "Try again"."""
    session_id: str
    model: str
    mode: Mode
    always_ask: bool
    """Whether the person decides in every mode, because a recording answers."""

    # Services.
    workplace: Workplace
    notebook: TurnNotebook
    store: SqliteStore
    decisions: Decisions
    ledger: Ledger
    context: Context
    untrusted: Untrusted
    """Marks untrusted text for the model."""
    results: Results
    private: PrivateNames
    hooks: Sequence[Hook]
    came_late: Callable[[FinishRun, tuple[Output, ...]], Awaitable[None]]
    """Writes outputs that came after the end of a run into its cell."""
    show: Callable[[Event], None]
    """Shows an event to the person, and journals it."""

    # Limits.
    limits: Limits
    markdown_risks: MarkdownRisks = not_checked
    alone: Alone = ""
    may_run_all: bool = True
    """Whether a card may offer "Run all in this turn"."""
    cautions: Cautions = field(default_factory=Cautions)
    """Data that contains instructions to the model."""
    auto_needs_sandbox: bool = False
    """Whether code runs without asking only in sandboxed kernels."""
    guard: LoopGuard = field(default_factory=LoopGuard)
    clock: Clock = field(default_factory=Clock)

    run_all: bool = False
    """Whether the person has let all of this turn run."""

    # State.
    titles: Mapping[str, Sentence] = field(default_factory=dict)
    """Titles of the agent's cells by id, from the journal."""
    asked: str = ""
    """The person's words that the turn began with."""
    files: list[tuple[str, int]] = field(default_factory=list)
    """Names and sizes (bytes) of files beside the notebook."""
    model_info: ModelInfo = field(default_factory=lambda: ModelInfo("", ""))
    rule_files: list[RuleFile] = field(default_factory=list)
    """The person's instruction files, from the root down to the notebook."""
    skills: list[Skill] = field(default_factory=list)
    """Skills that the model may use by itself."""
    before: asyncio.Future[FolderScan | None] | None = None
    """The files under the notebook's folder at the turn's start; None if unknown."""
    files_kept: asyncio.Future[None] | None = None
    """Done when the overlay's waiting files are recorded, so that the turn's end can tell which are
    new. No code runs earlier."""
    kernel_start: tuple[str, int] | None = None
    """Kernel id and start of the agent's last run, or of the turn's start."""
    unresponsive: StoppedRun | None = None
    """A stopped run that the kernel did not end in time."""

    @property
    def kernel(self) -> Kernel:
        return self.workplace.kernel

    @property
    def document(self) -> NotebookDocument:
        return self.notebook.document

    @property
    def scrub(self) -> Callable[[str], str]:
        """Removes known keys. Data for the model needs ``untrusted.scrub``."""
        return self.untrusted.known

    @property
    def allowed(self) -> Permissions:
        """What the current mode allows."""
        return MODES[self.mode]

    @property
    def can_run_all(self) -> bool:
        """Whether "Run all in this turn" is allowed and would change anything."""
        asks = not self.allowed.unasked or (self.always_ask and not self.run_all)
        return self.may_run_all and self.allowed.changes and asks

    def bars(self, info: KernelInfo | None) -> tuple[bool, tuple[Sentence, ...]]:
        """``policy.bars`` for code in this kernel."""
        return policy.bars(
            unasked=self.allowed.unasked or bool(self.alone),
            sandboxed=info is not None and info.sandboxed,
            needs_sandbox=self.auto_needs_sandbox,
            sign=self.cautions.sign,
        )

    def let_all_run(self) -> None:
        self.mode, self.run_all = RUN_ALL, True

    def set_mode(self, mode: Mode) -> None:
        """Set the mode that the person chose. It overrides an earlier "Run all"."""
        self.mode, self.run_all = mode, False

    @property
    def cell_timeout(self) -> float | None:
        limits = self.limits
        return limits.cell_timeout if self.allowed.unasked else limits.review_cell_timeout

    async def kernel_info(self) -> KernelInfo | None:
        try:
            return await self.kernel.info()
        except KernelError:
            return None

    async def variables(self, names: tuple[str, ...] = ()) -> Variables:
        """The kernel's variables, without values of private ones."""
        return self.private.redact(await self.kernel.variables(names))


def identity(info: KernelInfo) -> tuple[str, int]:
    """The kernel and start for which a decision is valid."""
    return info.kernel_id, info.start


def new_cell_id() -> str:
    return uuid.uuid4().hex[:8]


# -------------------------------------------------------------------------------------------------
# A turn's changes outside the notebook.

LOOK_TIME = 0.3
"""Seconds that the end of a turn waits for the file scan, within the second that Stop has."""

Made = tuple[tuple[MadeFile, ...], int]
"""Listed files, and the number of unlisted ones."""
NONE_MADE: Made = ((), 0)


async def look_around(workplace: Workplace) -> FolderScan | None:
    """Scan the notebook's folder; None if that fails."""
    try:
        return await workplace.look_around()
    except Exception:
        log.warning("Could not scan the files of a turn", exc_info=True)
        return None


async def know_variables(turn: Turn, was_stopped: bool) -> None:
    """Record the variables after the agent's runs, so that only later changes are described."""
    if not turn.notebook.worked or was_stopped:
        return
    with contextlib.suppress(KernelError, asyncio.TimeoutError):
        variables = await asyncio.wait_for(turn.variables(), LOOK_TIME)
        if variables is not None:
            turn.context.knows(variables, turn.untrusted.scrub)


async def made_by(turn: Turn) -> Made:
    """The files that the turn made or changed, if it ran anything."""
    if turn.before is None or not turn.notebook.worked:
        return NONE_MADE
    try:
        compared = _compared(turn.before, turn.workplace, turn.scrub)
        return await asyncio.wait_for(compared, LOOK_TIME)
    except asyncio.TimeoutError:
        return NONE_MADE


async def _compared(
    looked: asyncio.Future[FolderScan | None], workplace: Workplace, scrub: Callable[[str], str]
) -> Made:
    before, after = await asyncio.gather(looked, look_around(workplace))
    # Ten thousand paths take milliseconds.
    return await asyncio.to_thread(made, before, after, scrub)
