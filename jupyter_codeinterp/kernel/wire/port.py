"""Ports: the wire that carries messages to a kernel and back, and the process behind it.

Each kind of connection has a ``Wire`` and a ``Process``: ``zmq`` for kernels of this machine,
``gateway`` for those of a gateway. ``kernel/zmq/link.py`` uses both.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from jupyter_client.session import Session

from ...base.errors import KernelError
from ...base.sentences import Sentence

GONE = Sentence("The kernel died or was restarted. All its variables are gone.")
YIELD_AFTER = 0.005
"""Seconds after which a busy reader yields to the event loop."""

log = logging.getLogger(__name__)


class KernelMessage(NamedTuple):
    """``content`` is None if it was too large to read; ``size`` is its length in bytes.
    ``session`` is the sender's: it changes with the kernel process."""

    msg_type: str
    msg_id: str
    session: str
    parent_id: str
    parent_type: str
    subshell: str | None
    content: dict[str, Any] | None
    size: int


def execute_request(code: str, *, silent: bool) -> dict[str, Any]:
    return {
        "code": code,
        "silent": silent,
        "store_history": not silent,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": False,
    }


def message_of(
    header: dict[str, Any], parent: dict[str, Any], content: dict[str, Any] | None, size: int
) -> KernelMessage:
    return KernelMessage(
        msg_type=header["msg_type"],
        msg_id=header.get("msg_id", ""),
        session=header.get("session", ""),
        parent_id=parent.get("msg_id", ""),
        parent_type=parent.get("msg_type", ""),
        subshell=parent.get("subshell_id"),
        content=content,
        size=size,
    )


class Expected:
    """A reply that we wait for, and whether its request has been sent."""

    def __init__(self, channel: str, reply: asyncio.Future[KernelMessage]) -> None:
        self.channel = channel
        self.reply = reply
        self.sent = False

    def fail(self, error: KernelError) -> None:
        if not self.reply.done():
            self.reply.set_exception(error)


class Wire(ABC):
    """A connection to one kernel process, with a session of its own: clients that share an
    identity take each other's replies."""

    lag = 2.0
    """Seconds between a reply and its ``idle`` at most; a flooded kernel drops messages."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.cuts = 0
        """How often the connection was cut. It comes back by itself; messages may be lost."""
        self._replies: dict[str, Expected] = {}

    @property
    def session_id(self) -> str:
        """Our session id, as in the header of each request."""
        return str(self._session.session)

    async def send(
        self,
        channel: str,
        msg_type: str,
        content: dict[str, Any],
        *,
        msg_id: str = "",
        subshell: str | None = None,
        metadata: dict[str, Any] | None = None,
        at_once: bool = False,
    ) -> None:
        """Wait until the kernel is connected, then send. Cancelling before that sends nothing.
        Raises KernelError ``kernel_dead`` if the wire is closed, and with ``at_once``
        ``unconnected`` instead of waiting for a connection that was cut.

        Nothing else runs between sending and returning, so the caller knows whether it was sent.
        """
        message = self._session.msg(msg_type, content, metadata=metadata)
        if msg_id:
            message["header"]["msg_id"] = message["msg_id"] = msg_id
        if subshell:
            message["header"]["subshell_id"] = subshell
        await self._send(channel, message, at_once)

    @abstractmethod
    async def _send(self, channel: str, message: dict[str, Any], at_once: bool) -> None:
        """As ``send``."""

    def close(self) -> None:
        """Fail the requests that wait for a reply; unsent ones are never sent."""
        for expected in list(self._replies.values()):
            expected.fail(KernelError("kernel_dead", "The kernel is gone."))

    async def request(
        self,
        channel: str,
        msg_type: str,
        content: dict[str, Any],
        *,
        msg_id: str = "",
        subshell: str | None = None,
    ) -> KernelMessage:
        """Send, and wait for the reply. Raises KernelError ``kernel_dead`` if the wire is closed,
        and ``unheard`` if the reply was lost with a connection."""
        msg_id = msg_id or uuid.uuid4().hex
        reply = self.expect(msg_id, channel)
        try:
            await self.send(channel, msg_type, content, msg_id=msg_id, subshell=subshell)
            return await reply
        finally:
            reply.cancel()

    def expect(self, msg_id: str, channel: str = "shell") -> asyncio.Future[KernelMessage]:
        """The reply to a request that is about to be sent."""
        reply: asyncio.Future[KernelMessage] = asyncio.get_running_loop().create_future()
        self._replies[msg_id] = Expected(channel, reply)
        reply.add_done_callback(lambda _: self._replies.pop(msg_id, None))
        return reply

    async def _follow(
        self, receive: Callable[[], Awaitable[Any]], take: Callable[[Any], Awaitable[None]]
    ) -> None:
        """Handle messages until ``receive`` returns None."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while (frames := await receive()) is not None:
            try:
                await take(frames)
            except Exception:
                # Code in the kernel can publish anything. It must not stop the reader.
                log.warning("A kernel message was dropped", exc_info=True)
            del frames
            if loop.time() - began > YIELD_AFTER:
                await asyncio.sleep(0)
                began = loop.time()

    def _on_reply(self, message: KernelMessage) -> None:
        expected = self._replies.get(message.parent_id)
        if expected is not None and not expected.reply.done():
            expected.reply.set_result(message)


class Spec(NamedTuple):
    """A kernelspec's display name and language."""

    display_name: str
    language: str


class Process(ABC):
    """The process of one kernel, as the server's manager reaches it."""

    is_here = True
    """Whether it runs on this machine."""
    sandbox: Any = None
    """The provisioner of a sandboxed kernel, which knows its limits, connections and files."""

    def __init__(self, kernels: Any, kernel_id: str) -> None:
        """``kernels`` is the server's kernel manager."""
        self._kernels = kernels
        self._kernel_id = kernel_id
        self._km = kernels.get_kernel(kernel_id)

    @property
    def is_known(self) -> bool:
        """Whether the manager still has the kernel."""
        return self._kernel_id in self._kernels

    @property
    def is_ending(self) -> bool:
        """Whether somebody shuts it down or restarts it."""
        return False

    @property
    def number(self) -> int | None:
        """The process id; None where it cannot be seen."""
        return None

    @property
    def seems_busy(self) -> bool:
        """Whether the manager last saw the kernel busy."""
        return getattr(self._km, "execution_state", "") == "busy"

    @property
    def autorestarts(self) -> bool:
        """Whether the manager restarts a kernel that died."""
        return False

    @property
    def gone(self) -> Sentence:
        """A sentence about a kernel that died."""
        return GONE

    @abstractmethod
    async def spec(self) -> Spec | None: ...

    @abstractmethod
    async def is_alive(self) -> bool: ...

    @abstractmethod
    async def check(self) -> None:
        """Find out whether a kernel that does not answer still exists."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Raises KernelError."""

    @abstractmethod
    async def restart(self) -> None:
        """Return when the new process answers. Raises RuntimeError or TimeoutError."""

    @abstractmethod
    async def kill(self) -> None:
        """End a process that does not react. No effect on one that has ended."""

    @abstractmethod
    def on_restart(self, restarted: Callable[[], None]) -> None:
        """Call this when the manager restarts the kernel, before the new process exists."""

    @abstractmethod
    def connect(self, on_iopub: Callable[[KernelMessage], None]) -> Wire:
        """Connect to the current process. ``on_iopub`` gets every message that it publishes."""

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count as a connection of the kernel, so that the server does not cull it as unused."""
        self._kernels.notify_connect(self._kernel_id)
        try:
            yield
        finally:
            self._kernels.notify_disconnect(self._kernel_id)

    @abstractmethod
    def close(self) -> None:
        """Forget the function of ``on_restart``."""
