"""The overlay of a sandboxed kernel, for the core. Loaded only where a kernel has one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from ...base.errors import KernelError
from ...base.sentences import Sentence
from ...wire.ports import Paths, WaitingFile

if TYPE_CHECKING:
    from ...sandbox.overlay.written import Written


T = TypeVar("T")
BEGIN_TIME = 2.0
"""Maximum seconds that a turn's first run waits for the list of files."""
LOOK_TIME = 0.3
"""Maximum seconds that a turn's end waits for the comparison of files."""

log = logging.getLogger(__name__)


class KernelOverlay:
    """Implements ``Overlay``. Files are read and written in threads, one call at a time."""

    def __init__(self, written: Written) -> None:
        self._written = written

    async def begin_turn(self, turn: str) -> None:
        """After ``BEGIN_TIME`` the turn's first run starts anyway, and its end names no files."""
        looking = self._ask(lambda: self._written.begin_turn(turn, BEGIN_TIME))
        try:
            await asyncio.wait_for(looking, BEGIN_TIME + 0.1)
        except asyncio.TimeoutError:
            log.info("The files were not listed in time as a turn began")

    async def end_turn(self, turn: str) -> Sequence[str]:
        looking = self._ask(lambda: self._written.end_turn(turn))
        try:
            return await asyncio.wait_for(looking, LOOK_TIME)
        except asyncio.TimeoutError:
            log.info("The files of a turn were not compared in time")
            return ()

    async def files(self) -> list[WaitingFile]:
        found = await self._ask(self._written.changes)
        return [WaitingFile(*one) for one in found]

    async def keep(self, stamps: Mapping[str, str]) -> Paths:
        kept = await self._ask(lambda: self._written.keep(stamps))
        return kept.done, kept.left

    async def discard(self, stamps: Mapping[str, str]) -> Paths:
        gone = await self._ask(lambda: self._written.discard(stamps))
        return gone.done, gone.left

    async def head(self, path: str, most: int) -> bytes:
        return await self._ask(lambda: self._written.head(path, most))

    async def _ask(self, work: Callable[[], T]) -> T:
        """Raises KernelError."""
        from ...sandbox.shared.trees import TooMany

        try:
            return await asyncio.to_thread(work)
        except TooMany:
            words = "More files wait than can be listed. See: jupyter codeinterp sandbox changes"
            raise KernelError("no_overlay", words) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            words = Sentence("The files that wait cannot be read: {why}.", why=why)
            raise KernelError("no_overlay", words) from None
