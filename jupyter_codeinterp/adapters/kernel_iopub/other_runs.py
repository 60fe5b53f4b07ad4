"""Gathers the outputs of requests that other clients send to a kernel, such as a person's page.

The news of a request may come after its first messages. So while anybody may ask, the run that
the kernel works on is gathered before it is claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.cells.collector import OUTPUT_TYPES, Collector
from ...core.document.ops import Output
from ..kernel_wire import Message
from ..kernel_wire.reading import EXCERPT

KEPT = 64_000_000
"""Size of the outputs of all gathered runs of a kernel. Further ones are left out."""


class GatheredRun:
    """The outputs of one request. ``changed`` is called at each change, and at the end."""

    def __init__(self, msg_id: str) -> None:
        self.msg_id = msg_id
        self.execution_count: int | None = None
        self.whole = False
        """Whether its beginning was seen."""
        self.ended = False
        self.kernel_died = False
        self.changed: Callable[[], None] = lambda: None
        self._collector = Collector()

    @property
    def outputs(self) -> tuple[Output, ...]:
        return self._collector.outputs

    @property
    def size(self) -> int:
        return self._collector.size

    @property
    def note(self) -> str:
        """What is missing, for a reader; "" if nothing."""
        return self._collector.note

    @property
    def begun(self) -> bool:
        return self.whole or bool(self._collector.outputs)

    @property
    def pending(self) -> bool:
        """Whether ``take`` would return anything."""
        return bool(self._collector.pending)

    def take(self) -> tuple[int, tuple[Output, ...]] | None:
        """The first changed index, and the outputs from there on."""
        return self._collector.take()

    def begin(self, content: dict[str, Any]) -> None:
        self.whole = True
        count = content.get("execution_count")
        self.execution_count = count if type(count) is int else None
        self.changed()

    def add(self, message: Message, *, fits: bool) -> None:
        content = message.content if fits else None
        self._collector.add(message.msg_type, content, message.size)
        self.changed()

    def update(self, message: Message) -> bool:
        """Update a display. False if it is not among these outputs."""
        content = message.content
        if content is None or not self._collector.update(content, message.size):
            return False
        self.changed()
        return True

    def end(self, *, kernel_died: bool = False) -> None:
        if not self.ended:
            self.ended, self.kernel_died = True, kernel_died
            self.changed()


class OtherRuns:
    """Those of one kernel. Does nothing until somebody asks for it."""

    def __init__(self) -> None:
        self.active = False
        self._claimed: dict[str, GatheredRun] = {}
        self._latest: GatheredRun | None = None
        """The run that the kernel works on, if nobody has claimed it."""

    def claim(self, msg_id: str) -> GatheredRun:
        """Gather this request's outputs until it is released."""
        self.active = True
        latest = self._latest
        run = latest if latest is not None and latest.msg_id == msg_id else GatheredRun(msg_id)
        self._latest = None if run is latest else latest
        return self._claimed.setdefault(msg_id, run)

    def release(self, msg_id: str) -> None:
        self._claimed.pop(msg_id, None)

    def handle(self, message: Message, *, ours: bool) -> None:
        """Take any published message. ``ours``: this server has sent its request."""
        if not self.active:
            return
        state = (message.content or {}).get("execution_state")
        if message.msg_type == "status" and state == "busy":
            if message.parent_type == "execute_request" and not message.subshell:
                self._begin(message.parent_id, ours=ours)
            return
        # Claimed or not, the agent's run is no person's: its outputs may not be trusted.
        run = None if ours else self._of(message.parent_id)
        if message.msg_type == "update_display_data":
            self._update(message, run)
        elif run is None:
            return
        elif message.msg_type == "execute_input":
            run.begin(message.content or {})
        elif message.msg_type in OUTPUT_TYPES or message.msg_type == "clear_output":
            run.add(message, fits=self._fits(message))
        elif message.msg_type == "status" and state == "idle":
            run.end()

    def lost(self) -> None:
        """The kernel process is gone."""
        for run in list(self._claimed.values()):
            run.end(kernel_died=True)
        self._latest = None

    def _of(self, msg_id: str) -> GatheredRun | None:
        if self._latest is not None and self._latest.msg_id == msg_id:
            return self._latest
        return self._claimed.get(msg_id)

    def _fits(self, message: Message) -> bool:
        # Of a large stream only its ends were read.
        largest = 2 * EXCERPT if message.msg_type == "stream" else message.size
        kept = sum(run.size for run in self._claimed.values())
        return kept + min(message.size, largest) <= KEPT

    def _begin(self, msg_id: str, *, ours: bool) -> None:
        for run in list(self._claimed.values()):
            if run.whole and run.msg_id != msg_id:
                # The kernel runs one cell at a time: this one has ended, and its idle got lost.
                run.end()
        unknown = not ours and msg_id not in self._claimed
        self._latest = GatheredRun(msg_id) if unknown else None

    def _update(self, message: Message, run: GatheredRun | None) -> None:
        """A display may be in the outputs of an earlier run."""
        if run is not None and run.update(message):
            return
        for other in list(self._claimed.values()):
            if other is not run:
                other.update(message)
