"""One window's frames on their way to its socket: in order, one message after the other.

A message holds one frame a line, and the next one is begun when the socket has taken the
last. So what a slow window has not taken yet waits here, where it is kept small:

events      are read from the journal when there is room for them, not before
outputs     of one run wait in one frame, the newest state; none once the run has ended
code        of one draft waits in one frame
displays    only the newest data of each
the others  wait as they are: ops, replies, reads, leases

A window that takes nothing is given up: its browser opens another socket, attaches again
and gets what it missed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Union

import msgspec

from ...core.commands import DisplayFrame, OpFrame, OutputsFrame, ServerFrame, StreamFrame
from ...core.document.ops import FinishRun

MESSAGE = 64_000
"""Bytes; a message is filled until it has as many."""
ROOM = 256_000
"""Bytes that may wait before no more events are read for the window."""
MOST = 32_000_000
"""Bytes that may wait for long."""
PATIENCE = 60.0
"""Seconds that a window may take for a message."""
NO_PATIENCE = 5.0
"""The same, while more than ``MOST`` wait."""
COMPANY = 0.01
"""Seconds that events, code and outputs wait for others: a message costs both ends half a
millisecond. What is answered (an op, a read) does not wait, and takes along what does."""
SLOWEST = 100_000
"""Bytes a second; a window has that much more time for a large message."""
LOOK = 1.0
"""Seconds between two looks at a window that has not taken a message."""

Write = Callable[[bytes], Awaitable[None]]
HintFrame = Union[OutputsFrame, StreamFrame, DisplayFrame]

log = logging.getLogger(__name__)


class Hint:
    """What is shown of something in progress, until an op brings it: later ones join it.

    They weigh nothing: of each thing one waits, and what it shows is kept elsewhere anyway.
    """

    def __init__(self, frame: HintFrame) -> None:
        self.frames: list[HintFrame] = [frame]

    def join(self, later: HintFrame) -> bool:
        """False if it does not fit: it must wait by itself, behind."""
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


class SendQueue:
    def __init__(self, write: Write, give_up: Callable[[str], None]) -> None:
        """``write`` hands a message to the socket and returns when it has taken it.
        ``give_up`` is called, with the reason in words, when the window takes nothing."""
        self._write = write
        self._give_up = give_up
        self._encoder = msgspec.json.Encoder()
        self._waiting: deque[bytes | Hint] = deque()
        self._hints: dict[Hashable, Hint] = {}
        self._size = 0
        self._closed = False
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._roomy = asyncio.Event()
        self._roomy.set()
        self._delivery = asyncio.ensure_future(self._deliver())

    def post(self, frame: ServerFrame) -> None:
        """Queue a frame; never waits. Nothing happens once the queue is closed: a window
        that attaches again asks for what it missed."""
        if self._closed:
            return
        if isinstance(frame, (OutputsFrame, StreamFrame, DisplayFrame)):
            self._post_hint(frame)
        else:
            if isinstance(frame, OpFrame):
                self._make_way(frame)
            self.post_event(self._encoder.encode(frame))
            self._due.set()

    def post_event(self, data: bytes) -> None:
        """The same for an event's frame that is JSON already."""
        if self._closed:
            return
        self._waiting.append(data)
        self._resize(len(data))
        self._soon()

    def _soon(self) -> None:
        if self._size >= MESSAGE:
            self._due.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(COMPANY, self._due.set)

    async def room(self) -> None:
        """Wait until there is room for more events."""
        await self._roomy.wait()

    def _no_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Nothing is sent any more."""
        self._closed = True
        self._no_timer()
        self._waiting.clear()
        self._hints.clear()
        self._delivery.cancel()

    # --- what waits ------------------------------------------------------------------

    def _post_hint(self, frame: HintFrame) -> None:
        key = _key(frame)
        waiting = self._hints.get(key)
        if waiting is None or not waiting.join(frame):
            if waiting is not None and isinstance(frame, DisplayFrame):
                # The newest data goes last: outputs that wait may be what shows it.
                self._waiting.remove(waiting)
            self._hints[key] = Hint(frame)
            self._waiting.append(self._hints[key])
        self._soon()

    def _make_way(self, frame: OpFrame) -> None:
        """The end of a run brings all its outputs. Code is not joined across an op."""
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

    def _take(self) -> Iterator[bytes]:
        """The frames of the next message."""
        size = 0
        while self._waiting and size < MESSAGE:
            data = self._encoded(self._waiting.popleft())
            size += len(data)
            yield data

    def _encoded(self, waiting: bytes | Hint) -> bytes:
        if isinstance(waiting, bytes):
            self._resize(-len(waiting))
            return waiting
        frame = waiting.frame()
        if self._hints.get(_key(frame)) is waiting:
            del self._hints[_key(frame)]  # On its way, it takes no others in.
        return self._encoder.encode(frame)

    # --- on their way ----------------------------------------------------------------

    async def _deliver(self) -> None:
        try:
            while True:
                await self._due.wait()
                self._due.clear()
                self._no_timer()
                while message := b"\n".join(self._take()):
                    await self._send(message)
        except asyncio.TimeoutError:
            self._stop("The window takes nothing any more.")
        except Exception:
            log.exception("A message could not be sent")
            self._stop("A message could not be sent.")

    async def _send(self, message: bytes) -> None:
        """Return when the socket has taken it. TimeoutError if it does not."""
        began = time.monotonic()
        written = asyncio.ensure_future(self._write(message))
        while not written.done():
            await asyncio.wait({written}, timeout=LOOK)
            patience = PATIENCE if self._size <= MOST else NO_PATIENCE
            if time.monotonic() - began > patience + len(message) / SLOWEST:
                written.cancel()
                raise asyncio.TimeoutError
        written.result()

    def _stop(self, reason: str) -> None:
        self.close()
        self._give_up(reason)


def _key(frame: HintFrame) -> Hashable:
    """What it shows; the epoch is in it, as hints of an older one are dropped."""
    place = (type(frame), frame.notebook, frame.epoch)
    if isinstance(frame, OutputsFrame):
        return (*place, frame.cell_id, frame.run_id)
    return (*place, frame.draft_id if isinstance(frame, StreamFrame) else frame.display_id)
