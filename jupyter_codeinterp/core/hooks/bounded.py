"""Calls into other packages' code with a deadline.

That code may block, raise anything, ignore cancellation or never return. So plain functions run in
daemon threads: asyncio's pool is small, and a stopping server waits for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

DEADLINE = 5.0
"""Seconds that a call has."""
MOST_AT_ONCE = 4
"""Running calls of one name, including abandoned ones."""


class CallFailed(Exception):
    """``str()`` says why, for the log."""


class Caller:
    """All methods on one event loop."""

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    async def call(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """What ``function`` returns, awaited if need be. Raises CallFailed."""
        if self._under_way[name] >= MOST_AT_ONCE:
            raise CallFailed(f"{MOST_AT_ONCE} earlier calls have not finished")
        loop = asyncio.get_running_loop()
        ends = loop.time() + DEADLINE
        if inspect.iscoroutinefunction(function):
            value: Any = function(*arguments)
        else:
            value = await self._wait(name, _in_thread(lambda: function(*arguments)), ends)
        if inspect.isawaitable(value):
            value = await self._wait(name, asyncio.ensure_future(_caught(value)), ends)
        return value

    async def _wait(self, name: str, work: asyncio.Future[Any], ends: float) -> Any:
        self._under_way[name] += 1
        work.add_done_callback(lambda _: self._under_way.subtract((name,)))
        try:
            await asyncio.wait({work}, timeout=max(0.0, ends - asyncio.get_running_loop().time()))
            if not work.done():
                raise CallFailed(f"it took longer than {DEADLINE:.0f} seconds")
        finally:
            if not isinstance(work, _ThreadFuture):
                work.cancel()
        value, error = work.result()
        if error is not None:
            raise CallFailed(f"it raised {type(error).__name__}") from error
        return value


async def _caught(awaitable: Any) -> tuple[Any, BaseException | None]:
    """The result, or what was raised, including what would end an event loop."""
    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


class _ThreadFuture(asyncio.Future[Any]):
    """A thread's future. Nothing cancels a thread, so it is done when the thread is."""


def _in_thread(work: Callable[[], Any]) -> _ThreadFuture:
    loop = asyncio.get_running_loop()
    future = _ThreadFuture(loop=loop)

    def body() -> None:
        done: tuple[Any, BaseException | None]
        try:
            done = (work(), None)
        except BaseException as error:
            done = (None, error)
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(future.set_result, done)

    threading.Thread(target=body, daemon=True, name="jupyter_codeinterp hook").start()
    return future
