"""Kernel messages over ZMQ: our own sockets and session.

Frames belong to ZMQ: we never copy them, and free them at once. (ZMQ's own size limit does not
help: it drops the connection for good.)
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import zmq
import zmq.asyncio
from jupyter_client.manager import KernelManager
from jupyter_client.session import DELIM, Session

from ...base.errors import KernelError
from ..wire.port import KernelMessage, Wire, message_of
from ..wire.reading import LARGE, read_content

log = logging.getLogger(__name__)


def new_context() -> zmq.asyncio.Context:
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.RCVHWM, 200)
    return context


@contextmanager
def _immediate(context: zmq.asyncio.Context) -> Iterator[None]:
    """Make sockets that drop unsent messages when a kernel dies, so that its successor never
    gets them.

    Only for sockets that receive little: if a connection breaks while libzmq reads a message,
    libzmq aborts the whole process ("Assertion failed: !_more", 4.3.5). Replies are few, and
    each is read when it comes.
    """
    context.setsockopt(zmq.IMMEDIATE, 1)
    try:
        yield
    finally:
        context.setsockopt(zmq.IMMEDIATE, 0)


class ZmqWire(Wire):
    """Sockets to one kernel process. ``on_iopub`` gets every message that it publishes."""

    def __init__(
        self,
        manager: KernelManager,
        context: zmq.asyncio.Context,
        on_iopub: Callable[[KernelMessage], None],
    ) -> None:
        kernel_session = manager.session
        super().__init__(
            Session(
                key=kernel_session.key,
                signature_scheme=kernel_session.signature_scheme,
                config=manager.config,
            )
        )
        client: Any = manager.client(session=self._session, context=context)
        identity = self._session.bsession
        with _immediate(context):
            self._sockets: dict[str, Any] = {
                "shell": client.connect_shell(identity=identity),
                "control": client.connect_control(identity=identity),
            }
        self._iopub: Any = client.connect_iopub()
        self._closed = False
        self._tasks = [asyncio.create_task(self._read(self._iopub, on_iopub))]
        for socket in self._sockets.values():
            self._tasks.append(asyncio.create_task(self._read(socket, self._on_reply)))
        for task in self._tasks:
            task.add_done_callback(_log_failure)

    def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for socket in (self._iopub, *self._sockets.values()):
            socket.close(linger=0)
        super().close()

    async def _send(self, channel: str, message: dict[str, Any], at_once: bool) -> None:
        parts = self._session.serialize(message)
        while not self._closed:
            try:
                await self._sockets[channel].send_multipart(parts, flags=zmq.NOBLOCK)
            except zmq.Again:
                await asyncio.sleep(0.01)
            else:
                return
        raise KernelError("kernel_dead", "The kernel is gone.")

    async def _read(
        self, socket: zmq.asyncio.Socket, handle: Callable[[KernelMessage], None]
    ) -> None:
        async def take(frames: Sequence[zmq.Frame]) -> None:
            handle(await self._parse(frames))

        await self._follow(lambda: socket.recv_multipart(copy=False), take)

    async def _parse(self, frames: Sequence[zmq.Frame]) -> KernelMessage:
        parts = [frame.buffer for frame in frames]
        start = next((i for i, part in enumerate(parts) if part == DELIM), None)
        if start is None or len(parts) < start + 6:
            raise ValueError("not a Jupyter message")
        signature, header, parent, metadata, content = parts[start + 1 : start + 6]
        signed = [header, parent, metadata, content]
        large = len(content) > LARGE
        if self._session.auth is not None:
            sign = self._session.sign
            expected = await asyncio.to_thread(sign, signed) if large else sign(signed)
            if not hmac.compare_digest(bytes(signature), expected):
                raise ValueError("wrong signature")
        unpack = self._session.unpack
        about = unpack(bytes(header))
        read = read_content(about["msg_type"], content, unpack)
        return message_of(about, unpack(bytes(parent)), read, len(content))


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("Could not read from a kernel", exc_info=task.exception())
