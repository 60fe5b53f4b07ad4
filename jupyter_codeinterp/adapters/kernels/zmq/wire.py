"""Kernel messages over ZMQ: our own sockets and session, which read large messages in part.

A flooding kernel sends messages of tens of megabytes (ipykernel batches text for 0.2 s). Parsing
one would block the event loop for a tenth of a second. So we check a message's length first: of
a large stream we decode head and tail only. Anything else above ``MAX_CONTENT`` stays unread.
Frames belong to ZMQ: we never copy them, and free them at once. (ZMQ's own size limit does not
help: it drops the connection for good.)
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import zmq
import zmq.asyncio
from jupyter_client.manager import KernelManager
from jupyter_client.session import DELIM, Session

from ....core.errors import KernelError
from ....kernel_side.mark import AGENT

MAX_CONTENT = 8_000_000
LARGE = 1_000_000
"""Above this many bytes a signature takes milliseconds, and a thread checks it."""
EXCERPT = 256_000
"""Bytes of head and of tail that are decoded of a large stream message."""
YIELD_AFTER = 0.005
"""Seconds after which a busy reader yields to the event loop."""

log = logging.getLogger(__name__)

_STREAM_START = re.compile(rb'\{"name":\s*"(stdout|stderr)",\s*"text":\s*"')
_BACKSLASH, _U = b"\\u"
_PIECE = 65_536
_LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F]")
_STREAM_END = re.compile(rb'"\s*\}$')


class Message(NamedTuple):
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


class Wire:
    """Sockets to one kernel process. ``on_iopub`` gets every message that it publishes.

    The session is our own: clients that share an identity take each other's replies.
    """

    def __init__(
        self,
        manager: KernelManager,
        context: zmq.asyncio.Context,
        on_iopub: Callable[[Message], None],
    ) -> None:
        kernel_session = manager.session
        self._session = Session(
            key=kernel_session.key,
            signature_scheme=kernel_session.signature_scheme,
            config=manager.config,
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
        self._replies: dict[str, asyncio.Future[Message]] = {}
        self._tasks = [asyncio.create_task(self._read(self._iopub, on_iopub))]
        for socket in self._sockets.values():
            self._tasks.append(asyncio.create_task(self._read(socket, self._on_reply)))
        for task in self._tasks:
            task.add_done_callback(_log_failure)

    @property
    def session_id(self) -> str:
        """Our session id, as in the header of each request."""
        return str(self._session.session)

    def close(self) -> None:
        """Fail the requests that wait for a reply; unsent ones are never sent."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        for socket in (self._iopub, *self._sockets.values()):
            socket.close(linger=0)
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(KernelError("kernel_dead", "The kernel is gone."))

    async def send(
        self,
        channel: str,
        msg_type: str,
        content: dict[str, Any],
        *,
        msg_id: str = "",
        subshell: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Wait until the kernel is connected, then send. Cancelling before that sends nothing.

        Nothing else runs between sending and returning, so the caller knows whether it was sent.
        """
        msg = self._session.msg(msg_type, content, metadata={AGENT: True, **(metadata or {})})
        if msg_id:
            msg["header"]["msg_id"] = msg["msg_id"] = msg_id
        if subshell:
            msg["header"]["subshell_id"] = subshell
        parts = self._session.serialize(msg)
        while not self._closed:
            try:
                await self._sockets[channel].send_multipart(parts, flags=zmq.NOBLOCK)
            except zmq.Again:
                await asyncio.sleep(0.01)
            else:
                return
        raise KernelError("kernel_dead", "The kernel is gone.")

    async def request(
        self,
        channel: str,
        msg_type: str,
        content: dict[str, Any],
        *,
        msg_id: str = "",
        subshell: str | None = None,
    ) -> Message:
        """Send, and wait for the reply. KernelError ``kernel_dead`` if the wire is closed."""
        msg_id = msg_id or uuid.uuid4().hex
        reply = self.expect(msg_id)
        try:
            await self.send(channel, msg_type, content, msg_id=msg_id, subshell=subshell)
            return await reply
        finally:
            reply.cancel()

    def expect(self, msg_id: str) -> asyncio.Future[Message]:
        """The reply to a request that is about to be sent."""
        reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._replies[msg_id] = reply
        reply.add_done_callback(lambda _: self._replies.pop(msg_id, None))
        return reply

    def _on_reply(self, message: Message) -> None:
        reply = self._replies.get(message.parent_id)
        if reply is not None and not reply.done():
            reply.set_result(message)

    async def _read(self, socket: zmq.asyncio.Socket, handle: Callable[[Message], None]) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            frames = await socket.recv_multipart(copy=False)
            try:
                handle(await self._parse(frames))
            except Exception:
                # Code in the kernel can publish anything. It must not stop the reader.
                log.warning("A kernel message was dropped", exc_info=True)
            del frames
            if loop.time() - began > YIELD_AFTER:
                await asyncio.sleep(0)
                began = loop.time()

    async def _parse(self, frames: Sequence[zmq.Frame]) -> Message:
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
        about = self._session.unpack(bytes(header))
        cause = self._session.unpack(bytes(parent))
        return Message(
            msg_type=about["msg_type"],
            msg_id=about.get("msg_id", ""),
            session=about.get("session", ""),
            parent_id=cause.get("msg_id", ""),
            parent_type=cause.get("msg_type", ""),
            subshell=cause.get("subshell_id"),
            content=self._content(about["msg_type"], content),
            size=len(content),
        )

    def _content(self, msg_type: str, content: memoryview) -> dict[str, Any] | None:
        if msg_type == "stream" and len(content) > LARGE:
            excerpt = stream_excerpt(content)
            if excerpt is not None:
                return excerpt
        if len(content) > MAX_CONTENT:
            return None
        raw = bytes(content)
        unpacked: dict[str, Any] = self._session.unpack(raw)
        # Half a surrogate pair is valid JSON, but no valid text: the journal could not store it.
        return _encodable(unpacked) if b"\\ud" in raw or b"\\uD" in raw else unpacked


def stream_excerpt(content: memoryview, length: int = EXCERPT) -> dict[str, Any] | None:
    """Head and tail of a large ``stream`` content: ``{name, text, left_out, tail}``. Decodes the
    ends of the JSON only. None if its layout differs from Python kernels' messages."""
    start = _STREAM_START.match(content)
    end = _STREAM_END.search(bytes(content[-8:]))
    if start is None or end is None:
        return None
    first = start.end()
    last = len(content) - 8 + end.start()
    head, _ = _around(content, first, first + length)
    _, tail = _around(content, first, last - length)
    return {
        "name": start[1].decode(),
        "text": _text(content[first:head]),
        "left_out": tail - head,
        "tail": _text(content[tail:last]),
    }


def _around(content: memoryview, first: int, cut: int) -> tuple[int, int]:
    """Start and end of the character of a JSON string that the cut would split. It may be split
    within its UTF-8 bytes, its escape, or its surrogate pair. The string begins at ``first``."""
    start, end = _escape_around(content, first, cut)
    if _LOW_SURROGATE.match(content[start : start + 6]):
        return max(first, start - 6), start + 6
    if start < end:
        return start, end + 6 if _LOW_SURROGATE.match(content[end : end + 6]) else end
    while content[start] & 0xC0 == 0x80:
        start -= 1
    while content[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def _escape_around(content: memoryview, first: int, cut: int) -> tuple[int, int]:
    """Start and end of the escape that the cut would split, or the cut twice."""
    for place in range(cut - 1, max(first, cut - 6) - 1, -1):
        if content[place] == _BACKSLASH:
            # Backslashes in a row form pairs, each pair one character.
            is_escape = _backslashes_before(content, first, place) % 2 == 0
            end = place + (6 if content[place + 1] == _U else 2)
            return (place, end) if is_escape and end > cut else (cut, cut)
    return cut, cut


def _backslashes_before(content: memoryview, first: int, place: int) -> int:
    """Length of the row of backslashes that ends at ``place``, not before ``first``."""
    end = place
    while end > first:
        piece = bytes(content[max(first, end - _PIECE) : end])
        row = len(piece) - len(piece.rstrip(b"\\"))
        end -= row
        if row < len(piece):
            break
    return place - end


def _text(raw: memoryview) -> str:
    """Decode a part of a JSON string, cut between characters; "" if it is invalid."""
    try:
        return str(_encodable(json.loads(f'"{bytes(raw).decode()}"', strict=False)))
    except ValueError:
        return ""


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    return value


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("Could not read from a kernel", exc_info=task.exception())
