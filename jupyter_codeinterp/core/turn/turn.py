"""What one turn works with: what it was asked in, its parts, and what is to be kept of it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ..approval import policy
from ..approval.decisions import Alone, Decisions
from ..approval.markdown_cells import MarkdownRisks, not_checked
from ..approval.policy import MODES, RUN_ALL, Permissions
from ..checks.checks import Checks
from ..document.ops import FinishRun, Output
from ..errors import KernelError
from ..history.ledger import Ledger
from ..hooks import Hooks
from ..injection.caution import Cautions
from ..model_view.context import Context, Late
from ..model_view.rule_files import RuleFile
from ..model_view.untrusted import Untrusted
from ..own_command import OwnCommand
from ..ports import Document, Kernel, KernelInfo, ModelInfo, NewNotebooks
from ..redaction.private_names import PrivateNames, Variables
from ..staleness import Watch
from ..stores import SessionStore
from ..verify.verification import FreshRuns
from ..wire.events import Mode
from .budget import LoopGuard
from .files import Seen
from .limits import Limits
from .notebook import TurnNotebook
from .results import Results

# -------------------------------------------------------------------------------------------------
# The time that a turn takes by itself: what it waits for the person is not its own.

T = TypeVar("T")


class Clock:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._attended = 0.0
        """Seconds that it has waited for the person."""
        self._waits = 0
        """How many answers it waits for: a question may come while a draft waits."""
        self._since = 0.0

    async def attend(self, answer: Awaitable[T]) -> T:
        """Wait for the person."""
        if not self._waits:
            self._since = time.monotonic()
        self._waits += 1
        try:
            return await answer
        finally:
            self._waits -= 1
            if not self._waits:
                self._attended += time.monotonic() - self._since

    @property
    def unattended(self) -> float:
        """Seconds that it has worked by itself."""
        return time.monotonic() - self._started - self._attended


class StoppedRun(Protocol):
    """A run that Stop has ended for the turn, though perhaps not in the kernel."""

    async def has_stopped(self) -> bool:
        """Whether the kernel has ended it since, or had not begun it."""


@dataclass
class Turn:
    """One turn of one session. The mode may change while it goes on."""

    number: int
    since: int
    """The turn in which the person asked; an earlier one if it is tried again."""
    session_id: str
    model: str
    mode: Mode
    always_ask: bool
    """Whether no mode lets anything run without the person: a recording answers."""

    # What it works with, and in.
    notebook: TurnNotebook
    kernel: Kernel
    store: SessionStore
    decisions: Decisions
    ledger: Ledger
    context: Context
    untrusted: Untrusted
    """For everything that is not the model's or our own, on its way to the model."""
    results: Results
    private: PrivateNames
    hooks: Hooks
    checks: Checks
    came_late: Callable[[FinishRun, tuple[Output, ...]], Awaitable[None]]
    """Puts a cell's outputs into it as they are after its run has ended."""
    late: Mapping[str, Late]
    """Such outputs, by their cells."""

    # Within what bounds.
    limits: Limits
    markdown_risks: MarkdownRisks = not_checked
    alone: Alone = ""
    may_run_all: bool = True
    """Whether a card may offer "Run all in this turn"."""
    cautions: Cautions = field(default_factory=Cautions)
    """The data that has spoken to the model."""
    auto_needs_sandbox: bool = False
    """Whether code runs unasked in sandboxed kernels alone."""
    guard: LoopGuard = field(default_factory=LoopGuard)
    clock: Clock = field(default_factory=Clock)

    new_notebooks: NewNotebooks | None = None
    """None where the agent cannot go on in another notebook."""
    fresh_runs: FreshRuns | None = None
    """None where the notebook cannot run in a fresh kernel."""
    watch: Watch | None = None
    """Which cells are stale; None where that is unknown."""
    went_on: str = ""
    """The path of the new notebook in which the work goes on: this turn ends."""

    run_all: bool = False
    """Whether the person has let all of this turn run."""

    # What comes about.
    changed_variables: bool = False
    """Whether its cells changed variables that were there, as far as the kernel tells."""
    told_facts: set[tuple[str, str, int, str]] = field(default_factory=set)
    """Facts on columns that the model has read in it."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Titles of the agent's cells, by id, as the journal has them."""
    asked: str = ""
    """The person's words that the turn began with."""
    files: list[tuple[str, int]] = field(default_factory=list)
    """Names and sizes (bytes) of what lies beside the notebook."""
    folder: str = ""
    """The notebook's folder with its whole path, with slashes; "" where that is unknown."""
    look_for_files: Callable[[int], Awaitable[list[tuple[str, int]]]] | None = None
    """The same of more of them."""
    read_file: Callable[[str, int], Awaitable[bytes | None]] | None = None
    """One of these, by its name; None if it has more bytes than that, or cannot be read."""
    table_heads: Callable[[Sequence[str]], Awaitable[dict[str, str]]] | None = None
    """What tables among these files hold, in words; untrusted."""
    model_info: ModelInfo = field(default_factory=lambda: ModelInfo("", ""))
    rule_files: list[RuleFile] = field(default_factory=list)
    """The person's instructions, from files; from the root down to the notebook."""
    look_for_commands: Callable[[], Awaitable[list[OwnCommand]]] | None = None
    """The person's commands and skills as they are now, those with a defect too."""
    skills: list[OwnCommand] = field(default_factory=list)
    """Those that the model may use by itself."""
    before: asyncio.Future[Seen | None] | None = None
    """What lay under the notebook's folder as the turn began; None where that is not known."""
    files_kept: asyncio.Future[None] | None = None
    """Until the files that wait in an overlay are kept for an undo, nothing runs; None where none
    are."""
    kernel_start: tuple[str, int] | None = None
    """Kernel id and start that the agent's last cell ran in, or that the turn began with."""
    unresponsive: StoppedRun | None = None
    """A stopped run that the kernel had not ended in time."""

    @property
    def document(self) -> Document:
        return self.notebook.document

    @property
    def scrub(self) -> Callable[[str], str]:
        """Removes known keys. What goes to the model as data needs ``untrusted.scrub``."""
        return self.untrusted.known

    @property
    def allowed(self) -> Permissions:
        """What the mode allows, as it is now."""
        return MODES[self.mode]

    @property
    def can_run_all(self) -> bool:
        """Whether letting all of this turn run would change anything, and may be had."""
        asks = not self.allowed.unasked or (self.always_ask and not self.run_all)
        return self.may_run_all and self.allowed.changes and asks

    def bars(self, info: KernelInfo | None) -> tuple[bool, tuple[str, ...]]:
        """As ``policy.bars``, for code in this kernel."""
        return policy.bars(
            self.mode,
            sandboxed=info is not None and info.sandboxed,
            needs_sandbox=self.auto_needs_sandbox,
            sign=self.cautions.sign,
        )

    def let_all_run(self) -> None:
        self.mode, self.run_all = RUN_ALL, True

    def set_mode(self, mode: Mode) -> None:
        """What the person chooses now counts, not what they have let run before."""
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
        """As the kernel tells them, but for the values of private ones."""
        return self.private.redact(await self.kernel.variables(names))


def identity(info: KernelInfo) -> tuple[str, int]:
    """A kernel and its start: what a decision is good for."""
    return info.kernel_id, info.start


def new_cell_id() -> str:
    return uuid.uuid4().hex[:8]
