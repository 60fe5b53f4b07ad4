"""Real kernels for tests: a kernel manager as a server has it, and a person at a kernel."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.session import Session
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager

from jupyter_codeinterp.kernel.zmq import KernelPool, KernelSpecs, ZmqKernel
from jupyter_codeinterp.kernel.zmq.link import KernelLink
from jupyter_codeinterp.wire.ports import ExecutionDone, ExecutionEvent


def install_bash_kernel(prefix: Path) -> str:
    """The folder in which the kernelspec ``bash`` then is."""
    command = [sys.executable, "-m", "bash_kernel.install", "--prefix", str(prefix)]
    subprocess.run(command, check=True, capture_output=True)
    folder = prefix / "share" / "jupyter" / "kernels"
    # It has a key of old that traitlets warns of.
    path = folder / "bash" / "kernel.json"
    spec = json.loads(path.read_text())
    del spec["codemirror_mode"]
    path.write_text(json.dumps(spec))
    return str(folder)


@asynccontextmanager
async def kernel_manager(*kernel_dirs: str) -> AsyncIterator[AsyncMappingKernelManager]:
    """A server's kernel manager; all its kernels are shut down at the end."""
    specs = KernelSpecManager()
    specs.kernel_dirs = [*specs.kernel_dirs, *kernel_dirs]
    with TemporaryDirectory() as folder:
        kernels = AsyncMappingKernelManager(kernel_spec_manager=specs, connection_dir=folder)
        try:
            yield kernels
        finally:
            await kernels.shutdown_all(now=True)
            kernels.context.destroy(linger=0)


@asynccontextmanager
async def running_kernel(
    kernels: AsyncMappingKernelManager, name: str = "python3"
) -> AsyncIterator[tuple[KernelPool, ZmqKernel, str]]:
    """A started kernel, its pool, and the ``Kernel`` of a notebook that has it."""
    kernel_id = await kernels.start_kernel(kernel_name=name)
    pool = KernelPool(kernels)
    try:
        yield pool, kernel_of(pool, kernel_id), kernel_id
    finally:
        pool.close()


async def _names() -> dict[str, str]:
    return {"python3": "Python 3"}


async def _no_change(kernel_id: str, spec: str) -> None:
    raise AssertionError("the test changes no kernel")


ONE_SPEC = KernelSpecs(_names, _no_change)


def kernel_of(pool: KernelPool, kernel_id: str | None) -> ZmqKernel:
    async def current_id() -> str | None:
        return kernel_id

    return ZmqKernel(pool, current_id, ONE_SPEC)


async def run(
    kernel: ZmqKernel, source: str, timeout: float | None = None
) -> tuple[list[ExecutionEvent], ExecutionDone]:
    """Hold, execute: all events, and the last of them."""
    async with kernel.hold() as slot:
        stream = slot.execute(source, msg_id=slot.new_msg_id(), timeout=timeout)
        events = [event async for event in stream]
    done = events[-1]
    assert isinstance(done, ExecutionDone)
    return events, done


async def until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "it did not come true"
        await asyncio.sleep(0.01)


class Person:
    """Somebody who runs cells in the same kernel from a browser, seeing all of iopub."""

    def __init__(self, client: AsyncKernelClient) -> None:
        self._client = client
        self.messages: list[dict[str, Any]] = []

    def run(self, code: str, *, silent: bool = False, stop_on_error: bool = True) -> str:
        return str(self._client.execute(code, silent=silent, stop_on_error=stop_on_error))

    def has(self, msg_id: str, msg_type: str, state: str | None = None) -> bool:
        return any(
            m["msg_type"] == msg_type
            and m["parent_header"].get("msg_id") == msg_id
            and (state is None or m["content"].get("execution_state") == state)
            for m in self.messages
        )

    def sources(self) -> list[str]:
        """What ran in the kernel, in order."""
        return [m["content"]["code"] for m in self.messages if m["msg_type"] == "execute_input"]

    def text(self, msg_id: str) -> str:
        streams = (m for m in self.messages if m["msg_type"] == "stream")
        ours = (m for m in streams if m["parent_header"].get("msg_id") == msg_id)
        return "".join(m["content"]["text"] for m in ours)

    async def begun(self, msg_id: str) -> None:
        await until(lambda: self.has(msg_id, "execute_input"))

    async def arrived(self) -> None:
        """What was sent has come to the kernel, which may be at work: it answers on the other
        channel to what was sent later."""
        client = self._client
        client.control_channel.send(client.session.msg("kernel_info_request"))
        await client.get_control_msg(timeout=30)

    async def subscribed(self) -> None:
        """What the kernel publishes reaches us: a kernel that has restarted publishes to nobody
        until the socket has connected again."""
        sent: list[str] = []
        for _ in range(300):
            sent.append(self.run("", silent=True))
            await asyncio.sleep(0.1)
            if any(self.has(msg_id, "status", "idle") for msg_id in sent):
                return
        raise AssertionError("nothing that the kernel publishes arrives")

    async def finished(self, msg_id: str) -> None:
        await until(lambda: self.has(msg_id, "status", "idle"))

    async def _read(self) -> None:
        while True:
            self.messages.append(await self._client.get_iopub_msg())


class Intruder:
    """A person whose cell reaches the kernel between our last look and our request; or,
    if ``first``, just before that look."""

    def __init__(
        self, link: KernelLink, person: Person, source: str, *, first: bool = False
    ) -> None:
        self._settle = link.settle
        self._person = person
        self.source = source
        self.msg_id = ""
        self._first = first
        link.settle = self.settle  # type: ignore[method-assign]

    async def settle(self) -> None:
        if not self._first:
            await self._settle()
        if not self.msg_id:
            self.msg_id = self._person.run(self.source)
            await self._person.begun(self.msg_id)
        if self._first:
            await self._settle()


class Gate:
    """A cell that runs until the gate is opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.source = (
            f"import os, time\nwhile not os.path.exists(\n{str(path)!r}\n):\n    time.sleep(0.01)"
        )

    def open(self) -> None:
        self._path.touch()


@asynccontextmanager
async def person_at(kernels: AsyncMappingKernelManager, kernel_id: str) -> AsyncIterator[Person]:
    manager = kernels.get_kernel(kernel_id)
    session = Session(key=manager.session.key, session=uuid.uuid4().hex)
    client: Any = manager.client(session=session)
    client.start_channels(hb=False)
    await client.wait_for_ready(timeout=30)
    person = Person(client)
    reading = asyncio.create_task(person._read())
    try:
        yield person
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        client.stop_channels()


@asynccontextmanager
async def python() -> AsyncIterator[tuple[ZmqKernel, KernelLink, Any]]:
    """A notebook's kernel, our link to it, and the server's kernel manager."""
    async with kernel_manager() as kernels, running_kernel(kernels) as (pool, kernel, kernel_id):
        yield kernel, pool.get(kernel_id)[0], kernels


@asynccontextmanager
async def python_and_person() -> AsyncIterator[tuple[ZmqKernel, Person, KernelLink]]:
    async with python() as (kernel, link, kernels), person_at(kernels, link.kernel_id) as person:
        yield kernel, person, link


LOSSY = """
publish = kernel._publish_status
def status(state, channel, parent=None):
    source = kernel.get_parent('shell')['content'].get('code', '')
    if channel == 'control' or state != 'idle' or 'LOST' not in source:
        publish(state, channel, parent)
kernel._publish_status = status
"""


async def drop_idle(kernel: ZmqKernel) -> None:
    """Make the kernel lose the ``idle`` of the next cell whose source has the word LOST."""
    _, done = await run(
        kernel,
        # As a package's, not the notebook's: what a cell itself replaces is put back.
        f"exec({LOSSY!r}, {{'kernel': get_ipython().kernel}})",
    )
    assert done.status == "ok"


def text(done: ExecutionDone) -> str:
    return "".join(o.get("text", "") for o in done.outputs)
