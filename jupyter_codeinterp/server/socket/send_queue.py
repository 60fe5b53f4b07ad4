"""The send queue of one window's socket: ordered, one message at a time.

A message holds one frame per line. The next one starts once the socket took the last. Frames for
a slow window wait here, and the queue stays small:

events      are read from the journal only when there is room
outputs     of one run merge into one frame; the end of the run replaces it
code        of one draft merges into one frame
displays    keep only the newest data
others      wait unchanged: ops, replies, reads, leases

A window that stops reading loses its socket. Its page reconnects and gets what it missed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import NamedTuple, Union

import msgspec

from ...base.translation import translated
from ...wire.commands import DisplayFrame, OpFrame, OutputsFrame, ServerFrame, StreamFrame
from ...wire.ops import FinishRun, Restore, weight

# -------------------------------------------------------------------------------------------------
# Encodes frames as JSON. Large outputs are encoded in a thread.

AT_ONCE = 50_000
"""Characters of outputs that the event loop encodes itself, in less than 1 ms."""

_encoder = msgspec.json.Encoder(enc_hook=translated)


def outputs_weight(frame: ServerFrame) -> int:
    """Approximate number of characters in the frame's outputs."""
    if isinstance(frame, OutputsFrame):
        return weight(frame.outputs)
    if isinstance(frame, DisplayFrame):
        return weight(frame.data)
    if isinstance(frame, OpFrame) and isinstance(frame.op, FinishRun):
        return weight(frame.op.outputs)
    if isinstance(frame, OpFrame) and isinstance(frame.op, Restore):
        return weight(frame.op.cell)
    return 0


def encode(frame: ServerFrame) -> bytes:
    return _encoder.encode(frame)


def _piecewise(frame: ServerFrame) -> bytes:
    """Encode output by output, so that the event loop gets the GIL in between. ``join`` releases
    it."""
    if isinstance(frame, OutputsFrame):
        outputs, light = frame.outputs, encode(msgspec.structs.replace(frame, outputs=()))
    elif isinstance(frame, OpFrame) and isinstance(frame.op, FinishRun):
        outputs, op = frame.op.outputs, msgspec.structs.replace(frame.op, outputs=())
        light = encode(msgspec.structs.replace(frame, op=op))
    else:
        return encode(frame)
    # Unique in the frame: quotes inside strings are escaped.
    start, end = light.split(b'"outputs":[]')
    pieces = [start, b'"outputs":[']
    for output in outputs:
        pieces += [_encoder.encode(output), b","]
    return b"".join([*pieces[:-1], b"]", end])


MAX_SNAPSHOT = 32_000_000
"""Bytes of the largest message from a window."""
MESSAGE = 64_000
"""Target size of a message in bytes."""
ROOM = 256_000
"""Waiting bytes above which no more events are read from the journal."""
OVERLOAD = 32_000_000
"""Waiting bytes above which the shorter timeout applies."""
TIMEOUT = 60.0
"""Seconds that a window may take for a message."""
OVERLOAD_TIMEOUT = 5.0
BATCH_DELAY = 0.005
"""Seconds that events, code and outputs wait for more: a message costs each end 0.5 ms. Frames
that need an answer (ops, reads) do not wait, and take the waiting ones along."""
MIN_RATE = 100_000
"""Bytes per second; a large message extends the timeout accordingly."""
POLL = 1.0
"""Seconds between checks of an unfinished write."""

Write = Callable[[bytes], Awaitable[None]]
HintFrame = Union[OutputsFrame, StreamFrame, DisplayFrame]

log = logging.getLogger(__name__)


class Hint:
    """The progress of a run, draft or display; later frames merge into it.

    Hints do not count towards the queue's size: at most one waits per run, draft or display.
    """

    def __init__(self, frame: HintFrame) -> None:
        self.frames: list[HintFrame] = [frame]

    def join(self, later: HintFrame) -> bool:
        """Merge a later frame. False if that is impossible, so that it must wait separately."""
        last = self.frames[-1]
        if isinstance(later, OutputsFrame) and isinstance(last, OutputsFrame):
            kept = last.outputs[: max(0, later.start - last.start)]
            start, outputs = later.start - len(kept), kept + later.outputs
            self.frames = [msgspec.structs.replace(later, start=start, outputs=outputs)]
            return True
        if isinstance(later, StreamFrame) and isinstance(last, StreamFrame):
            if later.start != last.start + len(last.text.encode("utf-16-le")) // 2:
                return False
            self.frames.append(later)
            return True
        return False

    def frame(self) -> HintFrame:
        first = self.frames[0]
        if isinstance(first, StreamFrame):
            text = "".join(frame.text for frame in self.frames if isinstance(frame, StreamFrame))
            return msgspec.structs.replace(first, text=text)
        return first


class Large(NamedTuple):
    """An op with large outputs, encoded only when its message is next."""

    frame: OpFrame
    size: int
    """Approximate bytes."""


class SendQueue:
    def __init__(self, write: Write, give_up: Callable[[str], None]) -> None:
        """``write`` returns once the socket took a message. ``give_up`` gets the reason when the
        window stops reading."""
        self._write = write
        self._give_up = give_up
        self._waiting: deque[bytes | Large | Hint] = deque()
        self._hints: dict[Hashable, Hint] = {}
        self._size = 0
        self._closed = False
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._roomy = asyncio.Event()
        self._roomy.set()
        self._delivery = asyncio.ensure_future(self._deliver())

    def post(self, frame: ServerFrame) -> None:
        """Queue a frame without waiting. A closed queue drops it: the window asks again when it
        reattaches."""
        if self._closed:
            return
        if isinstance(frame, (OutputsFrame, StreamFrame, DisplayFrame)):
            self._post_hint(frame)
        else:
            if isinstance(frame, OpFrame):
                self._make_way(frame)
            size = outputs_weight(frame)
            if isinstance(frame, OpFrame) and size > AT_ONCE:
                self._waiting.append(Large(frame, size))
                self._resize(size)
            else:
                self.post_event(encode(frame))
            self._due.set()

    def post_event(self, data: bytes) -> None:
        """Queue an event's frame that is already JSON."""
        if self._closed:
            return
        self._waiting.append(data)
        self._resize(len(data))
        self._soon()

    def _soon(self) -> None:
        if self._size >= MESSAGE:
            self._due.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_DELAY, self._due.set)

    async def room(self) -> None:
        """Wait for room for more events."""
        await self._roomy.wait()

    def _no_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        self._closed = True
        self._no_timer()
        self._waiting.clear()
        self._hints.clear()
        self._delivery.cancel()

    # --- queue -----------------------------------------------------------------------

    def _post_hint(self, frame: HintFrame) -> None:
        key = _key(frame)
        waiting = self._hints.get(key)
        if waiting is None or not waiting.join(frame):
            if waiting is not None and isinstance(frame, DisplayFrame):
                # The newest data goes last: waiting outputs may create its display.
                self._waiting.remove(waiting)
            self._hints[key] = Hint(frame)
            self._waiting.append(self._hints[key])
        self._soon()

    def _make_way(self, frame: OpFrame) -> None:
        """Drop the outputs of a run that ends with this op. Code does not merge across an op."""
        ended = frame.op.run_id if isinstance(frame.op, FinishRun) else None
        for key, hint in list(self._hints.items()):
            shown = hint.frames[0]
            if isinstance(shown, OutputsFrame) and shown.run_id == ended:
                self._waiting.remove(hint)
                del self._hints[key]
            elif isinstance(shown, StreamFrame):
                del self._hints[key]

    def _resize(self, change: int) -> None:
        self._size += change
        if self._size > ROOM:
            self._roomy.clear()
        else:
            self._roomy.set()

    async def _message(self) -> bytes:
        """The next message; b"" if nothing waits."""
        frames: list[bytes] = []
        size = 0
        while self._waiting and size < MESSAGE:
            data = await self._encoded(self._waiting.popleft())
            size += len(data)
            frames.append(data)
        return b"\n".join(frames)

    async def _encoded(self, waiting: bytes | Large | Hint) -> bytes:
        if isinstance(waiting, bytes):
            self._resize(-len(waiting))
            return waiting
        if isinstance(waiting, Large):
            self._resize(-waiting.size)
            return await asyncio.to_thread(_piecewise, waiting.frame)
        frame = waiting.frame()
        if self._hints.get(_key(frame)) is waiting:
            del self._hints[_key(frame)]  # Later frames must not merge into a sent one.
        if outputs_weight(frame) <= AT_ONCE:
            return encode(frame)
        return await asyncio.to_thread(_piecewise, frame)

    # --- delivery --------------------------------------------------------------------

    async def _deliver(self) -> None:
        try:
            while True:
                await self._due.wait()
                self._due.clear()
                self._no_timer()
                while message := await self._message():
                    await self._send(message)
        except asyncio.TimeoutError:
            self._stop("The window stopped reading.")
        except Exception:
            log.exception("Could not send a message")
            self._stop("Could not send a message.")

    async def _send(self, message: bytes) -> None:
        """Return when the socket took the message. Raises TimeoutError."""
        began = time.monotonic()
        written = asyncio.ensure_future(self._write(message))
        while not written.done():
            await asyncio.wait({written}, timeout=POLL)
            timeout = TIMEOUT if self._size <= OVERLOAD else OVERLOAD_TIMEOUT
            if time.monotonic() - began > timeout + len(message) / MIN_RATE:
                written.cancel()
                raise asyncio.TimeoutError
        written.result()

    def _stop(self, reason: str) -> None:
        self.close()
        self._give_up(reason)


def _key(frame: HintFrame) -> Hashable:
    """The identity of what a hint shows. Includes the epoch: pages drop hints of older ones."""
    place = (type(frame), frame.notebook, frame.epoch)
    if isinstance(frame, OutputsFrame):
        return (*place, frame.cell_id, frame.run_id)
    return (*place, frame.draft_id if isinstance(frame, StreamFrame) else frame.display_id)
