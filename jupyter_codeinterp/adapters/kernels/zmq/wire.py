"""Kernel messages over ZMQ: sockets and a session of our own, no message held in full
that need not be.

A kernel that floods sends messages of tens of megabytes (ipykernel batches text for 0.2 s).
Parsing one would block the event loop for a tenth of a second, so large messages are
looked at by their length first: of a large stream only head and tail are decoded, anything
else above ``MAX_CONTENT`` is not read at all. The frames are ZMQ's, never copied, and given
back at once. (ZMQ's own limit of a message's size is no help: beyond it, it drops the
connection for good.)
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
"""From here on a signature takes milliseconds, and is checked in a thread."""
EXCERPT = 256_000
"""Bytes of head and of tail that are decoded of a large stream message."""
TURN = 0.005
"""Seconds after which a busy reader lets the rest of the server go on."""

log = logging.getLogger(__name__)

_STREAM_START = re.compile(rb'\{"name":\s*"(stdout|stderr)",\s*"text":\s*"')
_BACKSLASH, _U = b"\\u"
_PIECE = 65_536
_LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F]")
_STREAM_END = re.compile(rb'"\s*\}$')


class Message(NamedTuple):
    """``content`` is None if it was too large to be read; ``size`` is its length in bytes.

    ``session`` is the sender's: it changes when a kernel process is replaced by another.
    ``foreign`` is true if a request of another client brought it about.
    """

    msg_type: str
    msg_id: str
    session: str
    parent_id: str
    parent_type: str
    foreign: bool
    subshell: str | None
    content: dict[str, Any] | None
    size: int


def new_context() -> zmq.asyncio.Context:
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.RCVHWM, 200)
    return context


@contextmanager
def _immediate(context: zmq.asyncio.Context) -> Iterator[None]:
    """For the sockets made within: what was not sent when a kernel dies must not reach its
    successor.

    Never for one that hears much: where its connection ends in the middle of a message that is
    being read, libzmq aborts the whole process ("Assertion failed: !_more", 4.3.5). Replies are
    few, and each is read when it comes.
    """
    context.setsockopt(zmq.IMMEDIATE, 1)
    try:
        yield
    finally:
        context.setsockopt(zmq.IMMEDIATE, 0)


class Wire:
    """Sockets to one kernel process. ``on_iopub`` gets every message that it publishes.

    The session is our own: clients that share one identity take each other's replies.
    """

    def __init__(
        self,
        manager: KernelManager,
        context: zmq.asyncio.Context,
        on_iopub: Callable[[Message], None],
    ) -> None:
        theirs = manager.session
        self._session = Session(
            key=theirs.key, signature_scheme=theirs.signature_scheme, config=manager.config
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
        """Ours, as the kernel sees it in the header of each request."""
        return str(self._session.session)

    def close(self) -> None:
        """Requests that wait for a reply fail; what was not sent never will be."""
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
    ) -> None:
        """Waits until the kernel is connected; cancelled before that, nothing is sent.

        Between the sending and the return nothing else runs, so the caller knows which.
        """
        msg = self._session.msg(msg_type, content, metadata={AGENT: True})
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
                # Code in the kernel can publish anything. It must not end the reading.
                log.warning("A kernel message was dropped", exc_info=True)
            del frames
            if loop.time() - began > TURN:
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
            foreign=cause.get("session", self._session.session) != self._session.session,
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
        # Half a surrogate pair is valid JSON and not valid text: it could not be stored.
        return _encodable(unpacked) if b"\\ud" in raw or b"\\uD" in raw else unpacked


def stream_excerpt(content: memoryview, length: int = EXCERPT) -> dict[str, Any] | None:
    """Head and tail of a large ``stream`` content, decoded from the JSON's ends alone:
    ``{name, text, left_out, tail}``. None if it is not written as Python kernels do.
    """
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
    """Where the character of a JSON string that begins at ``first`` begins and ends, if the
    cut is inside of it: of its bytes, of its escape, or of the two of a surrogate pair."""
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
    """Beginning and end of the escape that the cut is inside of, or the cut twice."""
    for place in range(cut - 1, max(first, cut - 6) - 1, -1):
        if content[place] == _BACKSLASH:
            # The backslashes of a run are pairs, each of them one character.
            is_escape = _backslashes_before(content, first, place) % 2 == 0
            end = place + (6 if content[place + 1] == _U else 2)
            return (place, end) if is_escape and end > cut else (cut, cut)
    return cut, cut


def _backslashes_before(content: memoryview, first: int, place: int) -> int:
    """How many stand in a row up to ``place``, not before ``first``."""
    end = place
    while end > first:
        piece = bytes(content[max(first, end - _PIECE) : end])
        row = len(piece) - len(piece.rstrip(b"\\"))
        end -= row
        if row < len(piece):
            break
    return place - end


def _text(raw: memoryview) -> str:
    """Of a part of a JSON string that begins and ends between characters; "" if it is none."""
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
        log.error("Reading from a kernel failed", exc_info=task.exception())
