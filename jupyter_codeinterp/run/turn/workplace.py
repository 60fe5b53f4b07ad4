"""What a session needs of its notebook: the document, the kernel, the files beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...base.sentences import Sentence
from ...view.rule_files import RuleFile
from ...view.skills import Skill
from ...view.untrusted import Untrusted
from ...wire.ports import Kernel, NotebookDocument
from ..verify.verification import FreshRuns
from .files import FolderScan
from .limits import MAX_FILES
from .staleness import Watch


class MoreTools(NamedTuple):
    """What features add to the tools of one conversation."""

    tools: tuple[Any, ...] = ()
    """Each a ``Tool`` of the registry."""
    notes: tuple[Sentence, ...] = ()
    """Warnings for the person."""


class Workplace:
    """The notebook of a session, its kernel and its folder. A subclass overrides what it has."""

    document: NotebookDocument
    kernel: Kernel
    fresh_runs: FreshRuns
    watch: Watch | None = None
    """Which cells are stale; None if unknown."""

    def begin_turn(self, turn: int) -> None:
        """Count later ops to this turn; a window that reloads gets them again."""

    def end_turn(self) -> None: ...

    def expect_no_window(self) -> None:
        """Work in the notebook's file at once, unless a window has it open."""

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        """Names and sizes (bytes) of files beside the notebook."""
        return []

    async def read_file(self, name: str, most: int) -> bytes | None:
        """A file beside the notebook; None if it exceeds ``most`` bytes or is unreadable."""
        return None

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        """Describe the tables among these files; untrusted text by name."""
        return {}

    async def rule_files(self) -> list[RuleFile]:
        """The person's instruction files, from the root down to the notebook."""
        return []

    async def skills(self) -> list[Skill]:
        """The person's skills, those with a defect too."""
        return []

    async def look_around(self) -> FolderScan | None:
        """Scan the files under the notebook's folder; None if unknown."""
        return None

    async def more_tools(self, untrusted: Untrusted) -> MoreTools:
        """The tools that features add to this conversation. ``untrusted`` makes texts inert."""
        return MoreTools()
