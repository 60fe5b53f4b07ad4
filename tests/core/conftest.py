"""Turns against a real kernel, one a module; whatever a turn was, it must leave order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from jupyter_core.utils import ensure_event_loop
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.kernel.zmq import KernelPool, ZmqKernel
from tests.core.order import disorder
from tests.kernels import Person, kernel_manager, person_at, running_kernel
from tests.reference_window import notebook
from tests.scripted import Bench, Turn

FENCE = "# everything before this has been seen"


class Room:
    """A running kernel, and a person who sees all that runs in it."""

    def __init__(
        self,
        kernels: AsyncMappingKernelManager,
        pool: KernelPool,
        kernel: ZmqKernel,
        kernel_id: str,
        person: Person,
    ) -> None:
        self.kernels = kernels
        self.pool = pool
        self.kernel = kernel
        self.kernel_id = kernel_id
        self.person = person
        self._seen = 0

    async def run(self, source: str) -> str:
        """Run something as the person, and wait for its end; what it printed."""
        msg_id = self.person.run(source)
        await self.person.finished(msg_id)
        return self.person.text(msg_id)

    async def restart(self) -> None:
        await self.pool.get(self.kernel_id)[0].restart()
        await self.person.subscribed()

    async def clean(self) -> None:
        await self.run("%reset -f")
        self._seen = len(self.person.sources())

    async def ran(self) -> list[str]:
        """What has run in the kernel since the test began (or is queued in it now)."""
        await self.run(FENCE)
        return [source for source in self.person.sources()[self._seen :] if source != FENCE]


@asynccontextmanager
async def open_room() -> AsyncIterator[Room]:
    async with (
        kernel_manager() as kernels,
        running_kernel(kernels) as (pool, kernel, kernel_id),
        person_at(kernels, kernel_id) as person,
    ):
        yield Room(kernels, pool, kernel, kernel_id, person)


@pytest.fixture(scope="module", autouse=True)
def jp_asyncio_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """One loop a module, so that its tests can share a kernel."""
    loop = ensure_event_loop(prefer_selector_loop=True)
    yield loop
    loop.close()


@pytest.fixture(scope="module")
def shared_room(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Room]:
    opening = open_room()
    room = jp_asyncio_loop.run_until_complete(opening.__aenter__())
    yield room
    jp_asyncio_loop.run_until_complete(opening.__aexit__(None, None, None))


@pytest.fixture
def room(shared_room: Room, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Room:
    """The module's kernel, without variables of earlier tests."""
    jp_asyncio_loop.run_until_complete(shared_room.clean())
    return shared_room


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path_factory.mktemp("journal") / "sessions.db")
    yield store
    store.close()


@pytest.fixture
def bench(
    room: Room, store: SqliteStore, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[Callable[..., Bench]]:
    """Makes a session with a script; its notebook has one cell, `x = 20`."""
    benches: list[Bench] = []

    def make(*script: Turn, book: dict[str, Any] | None = None, **more: Any) -> Bench:
        kernel = more.pop("kernel", room.kernel)
        made = Bench(store, kernel, script, book or notebook("x = 20"), **more)
        benches.append(made)
        return made

    yield make
    for made in benches:
        jp_asyncio_loop.run_until_complete(made.session.close())
        assert disorder(made) == []
