"""Runs of notebooks in the background, with the latest of each notebook in memory.

A window that closes loses nothing: the run goes on, and ``of`` returns its state. A restart of the
server forgets all.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from msgspec.structs import replace

from ...core.errors import CodeInterpError, CommandError
from .folder import MOST_BYTES, MOST_FILES, copy_of, remove

AT_ONCE = 2
"""Runs of a kind at the same time on this server."""
KEPT = 20
"""Notebooks whose latest run is kept."""
LONGEST_WAIT = 20.0
"""Seconds that ``changed`` waits."""

log = logging.getLogger(__name__)


class State(Protocol):
    @property
    def notebook(self) -> str: ...

    @property
    def state(self) -> str: ...

    @property
    def version(self) -> int: ...


S = TypeVar("S", bound=State)


class Run(Generic[S]):
    """One run. ``now`` is its state, a struct with ``state``, ``words`` and ``version``."""

    def __init__(self, now: S) -> None:
        self.now = now
        self.kernel: Any = None
        """The kernel at work."""
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @property
    def running(self) -> bool:
        return self.now.state == "running"

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.create_task(self._until_end(work))

    async def next_change(self, timeout: float) -> None:
        waiting = asyncio.ensure_future(self._changed.wait())
        await asyncio.wait({waiting}, timeout=timeout)
        waiting.cancel()

    async def ended(self) -> None:
        if self._task is not None:
            await asyncio.wait({self._task})

    async def cancel(self) -> None:
        if self._task is not None and not self._task.done():
            if self.kernel is not None:
                self.kernel.will_cancel()
            self._task.cancel()
            await self.ended()

    def show(self, **changes: Any) -> None:
        self.now = replace(self.now, version=self.now.version + 1, **changes)  # type: ignore[type-var]
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def at_end(self, state: str) -> dict[str, Any]:
        """Further changes of the state at the end."""
        return {}

    def scrubbed(self, words: str) -> str:
        return words

    async def _until_end(self, work: Coroutine[Any, Any, None]) -> None:
        ending = {"state": "done", "words": ""}
        try:
            await work
        except asyncio.CancelledError:
            ending["state"] = "cancelled"
        except CodeInterpError as error:
            ending = {"state": "failed", "words": self.scrubbed(error.message)}
        except Exception as error:
            # nbclient and managers of other packages may raise anything.
            log.exception("Could not run %s", self.now.notebook)
            ending = {"state": "failed", "words": self.scrubbed(f"Could not go on: {error}")[:500]}
        self.show(**ending, **self.at_end(ending["state"]))


R = TypeVar("R", bound=Run[Any])


class Runs(Generic[R]):
    """The latest run of each notebook, by path."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, R] = OrderedDict()

    def check(self, path: str) -> None:
        """Raises CommandError ``busy`` if no run of this notebook can begin."""
        running = [run.now.notebook for run in self._runs.values() if run.running]
        if path in running:
            raise CommandError("busy", f"{path} is run already.")
        if len(running) >= AT_ONCE:
            words = f"{AT_ONCE} notebooks are run already. Try again when one has ended."
            raise CommandError("busy", words)

    def add(self, path: str, run: R) -> None:
        self._runs[path] = run
        self._runs.move_to_end(path)
        for old in [path for path, run in self._runs.items() if not run.running]:
            if len(self._runs) <= KEPT:
                break
            if old != path:
                del self._runs[old]

    def of(self, path: str) -> Any:
        """The state of the latest run; None if there was none."""
        run = self._runs.get(path)
        return None if run is None else run.now

    async def changed(self, path: str, seen: int) -> Any:
        """The state, as soon as its version is not ``seen``; at the latest after
        ``LONGEST_WAIT``."""
        run = self._runs.get(path)
        if run is not None and run.running and run.now.version == seen:
            await run.next_change(LONGEST_WAIT)
        return self.of(path)

    async def ended(self, path: str) -> Any:
        """Wait for the end of the run."""
        await self._runs[path].ended()
        return self.of(path)

    async def cancel(self, path: str) -> Any:
        """Cancel the run, if there is one, and wait for the end of its kernel."""
        run = self._runs.get(path)
        if run is not None:
            await run.cancel()
        return self.of(path)

    async def close(self) -> None:
        for run in self._runs.values():
            await run.cancel()


async def copied(folder: Path) -> Path:
    """A temporary copy of the folder. If it is cancelled, no copy is left when it ends. Raises
    CommandError ``in_folder``."""
    given_up = threading.Event()
    # Cancelling the task would not stop the thread. So we set a flag that the thread reads.
    copying = asyncio.ensure_future(asyncio.to_thread(copy_of, folder, given_up.is_set))
    try:
        copy = await asyncio.shield(copying)
    except asyncio.CancelledError:
        given_up.set()
        await asyncio.shield(_without_copy(copying))
        raise
    except OSError as error:
        raise cannot_copy(f"could not be copied: {error.strerror}") from None
    if copy is None:
        most = f"{MOST_FILES} files or {MOST_BYTES // 1_000_000} MB"
        raise cannot_copy(f"has more than {most}, or links to folders")
    return copy


async def _without_copy(copying: asyncio.Future[Path | None]) -> None:
    """Wait for the end of the copying, and remove what it made."""
    await asyncio.wait({copying})
    if copying.exception() is None and (copy := copying.result()) is not None:
        await asyncio.to_thread(remove, copy)


async def cleaned_up(kernel: Any, copy: Path | None) -> None:
    """End a kernel and remove the copy that it worked in."""
    try:
        await kernel.close()
    except Exception:
        log.exception("Could not end a fresh kernel")
    if copy is not None:
        await asyncio.to_thread(remove, copy)


def cannot_copy(why: str) -> CommandError:
    return CommandError("in_folder", f"The notebook's folder {why}.")
