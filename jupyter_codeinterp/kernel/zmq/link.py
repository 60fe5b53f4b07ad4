"""The shared connection to one kernel: who runs code, when it is idle, which start it is.

*Idle.* ``status`` messages name the running request, not the queued ones. They miss whatever
began before we connected, and one may get lost. So a fence precedes anything with effects: a
``kernel_info_request`` on the shell channel. It has no effects and waits in the kernel's queue
behind all cells; its reply means that they are done. If a cell began meanwhile, another fence
follows. An idle kernel announces new work at once, so the reply stays valid while the kernel is
briefly silent.

*Start.* A restart keeps the kernel's id. We detect it by the process id of a local kernel, by
the manager's word, and by the session id in replies.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Coroutine
from typing import Any, Protocol

from ...base.errors import KernelError
from ...notebook.collector import OUTPUT_TYPES
from ...wire.ops import Output
from ...wire.ports import KernelInfo
from ..iopub import Counter, OutputWidgets
from ..wire import KernelMessage, Process, Wire
from .late import EndedRuns

FENCE_VALID = 0.25
"""Seconds for which a fence stays valid if the kernel publishes nothing."""
POLL = 0.2
"""Seconds between checks of the kernel process."""
SESSION_CHECK = 2.0
"""Seconds between requests to a busy kernel whose process id we cannot see."""
CONTROL_TIMEOUT = 1.0
"""Seconds within which a control channel should answer."""
RESTART_TIMEOUT = 10.0
"""Seconds that a dead kernel has to restart; jupyter_client checks every 3 seconds."""
STUCK_TIMEOUT = 30.0
"""Seconds to wait for code that has ignored an interrupt."""
STUCK = "The kernel still runs code that ignores interrupts. Only a restart of the kernel ends it."

log = logging.getLogger(__name__)


class Listener(Protocol):
    """Receives the messages that belong to one of our requests."""

    def handle(self, message: KernelMessage) -> None: ...

    def lost(self) -> None:
        """The kernel process that had the request is gone."""


class KernelLink:
    def __init__(self, process: Process, kernel_id: str, start: int) -> None:
        self.kernel_id = kernel_id
        self.start = start
        self.lock = asyncio.Lock()
        self.closed = False
        self.features: list[str] = []
        self.listeners: dict[str, Listener] = {}
        self.ended = EndedRuns()
        self.counter = Counter()
        self.comm_answers: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self.stuck = ""
        """The id of our request whose code ignores its interrupt; "" for none."""
        self.process = process
        self._wire: Wire | None = None
        self._number = process.number
        self._session = ""
        self._language: dict[str, Any] = {}
        self._running = ""
        self._last_cell = ""
        self._comms: set[str] = set()
        """Messages of widgets that the kernel works on."""
        self._cells_seen = 0
        self._was_busy = False
        self._fence: asyncio.Task[bool] | None = None
        self._fence_valid_until = 0.0
        self._fence_cuts = 0
        self._idle: dict[str, asyncio.Event] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._new_widgets()
        process.on_restart(self._autorestarted)
        self._watcher = asyncio.create_task(self._watch())

    # --- description ------------------------------------------------------------------

    async def info(self) -> KernelInfo:
        """Describe the kernel without waiting for idle: control answers while a cell runs. The
        kernelspec describes a kernel that does not answer."""
        self.observe()
        if not self._language:
            await self._ask_control()
        language = self.language
        if not language:
            spec = await self.process.spec()
            language = spec.language if spec else ""
        return KernelInfo(
            kernel_id=self.kernel_id,
            start=self.start,
            language=language,
            language_version=self._language.get("version", ""),
            sandboxed=self.process.sandbox is not None,
        )

    @property
    def language(self) -> str:
        """The language that the kernel reported; "" before its first reply."""
        return str(self._language.get("name", ""))

    async def _ask_control(self) -> None:
        if not await self.process.is_alive():
            raise KernelError("kernel_dead", "The kernel has died.")
        request = self.wire.request("control", "kernel_info_request", {})
        try:
            self._learn(await asyncio.wait_for(request, CONTROL_TIMEOUT))
        except asyncio.TimeoutError:
            log.debug("Kernel %s does not respond on its control channel", self.kernel_id)
            await self.process.check()

    def _learn(self, reply: KernelMessage) -> None:
        content = reply.content or {}
        self._language = content.get("language_info", {})
        self.features = content.get("supported_features", [])
        self.observe()
        self.recognise(reply)
        self._session = reply.session

    def recognise(self, reply: KernelMessage) -> None:
        """Detect a restart by the session of a reply."""
        if self._session and reply.session != self._session:
            self._restarted()

    # --- idle or busy ----------------------------------------------------------

    @property
    def busy(self) -> bool:
        if self._wire is None or self._was_busy:
            return self.process.seems_busy
        return bool(self._running)

    async def settle(self) -> None:
        """Return when the kernel is idle with an empty queue. Cancelling is safe.

        Raises KernelError ``kernel_dead`` ``RESTART_TIMEOUT`` seconds after the kernel died, and
        ``stuck`` after ``STUCK_TIMEOUT`` seconds behind code that has ignored an interrupt.
        """
        loop = asyncio.get_running_loop()
        died: float | None = None
        while True:
            try:
                patience = STUCK_TIMEOUT if self.stuck else None
                if await asyncio.wait_for(self._is_settled(), patience):
                    return
                died = None
            except asyncio.TimeoutError:
                raise KernelError("stuck", STUCK) from None
            except KernelError:
                died = died or loop.time()
                if self.closed or loop.time() - died > RESTART_TIMEOUT:
                    raise
                await asyncio.sleep(POLL)

    async def _is_settled(self) -> bool:
        if self._fence_is_valid():
            return True
        if self._fence is not None and not self._fence.done():
            # The fence was sent for a caller who gave up waiting, so its result will be out of
            # date.
            await asyncio.shield(self._fence)
            return False
        # A fence that waited behind a cell proves that this cell ended, but not that requests sent
        # meanwhile did.
        seen, waits = self._cells_seen, self.busy
        self._fence = self.spawn(self._send_fence())
        arrived = await asyncio.shield(self._fence)
        settled = arrived and not (waits or self._running) and seen == self._cells_seen
        if settled:
            self._fence_valid_until = asyncio.get_running_loop().time() + FENCE_VALID
            self._fence_cuts = self.cuts
        return settled

    def _fence_is_valid(self) -> bool:
        """Whether the last fence is still valid, in the same process. On this machine only the
        process id shows a restart at once. Elsewhere nothing does, and another fence would be as
        late as the last one."""
        self.observe()
        now = asyncio.get_running_loop().time()
        known = self.process.number is not None or not self.process.is_here
        whole = self._fence_cuts == self.cuts
        return now < self._fence_valid_until and known and whole and not self.process.is_ending

    async def _send_fence(self) -> bool:
        """True if the fence's ``idle`` arrived, and with it all messages published before."""
        msg_id = uuid.uuid4().hex
        idle = self._idle[msg_id] = asyncio.Event()
        wire = self.wire
        try:
            self._learn(await wire.request("shell", "kernel_info_request", {}, msg_id=msg_id))
            if wire is not self._wire:
                return False  # Another process answered, and its ``idle`` reached nobody.
            await asyncio.wait_for(idle.wait(), wire.lag)
        except asyncio.TimeoutError:
            return False
        finally:
            del self._idle[msg_id]
        return True

    # --- published messages -----------------------------------------------------------

    def _on_iopub(self, message: KernelMessage) -> None:
        if message.parent_id not in self._idle:
            self._fence_valid_until = 0.0
        state = (message.content or {}).get("execution_state")
        self.counter.count(message.msg_id, ends=message.msg_type == "status" and state == "idle")
        if message.msg_type == "status":
            self._on_status(message)
        elif message.msg_type in ("comm_open", "comm_msg", "comm_close"):
            self._on_comm(message)
        parent, kind = message.parent_id, message.msg_type
        if kind == "execute_input":
            self._last_cell = parent
        elif kind in OUTPUT_TYPES and message.parent_type != "execute_request":
            # The output of a thread, which the kernel publishes for its latest request (a fence).
            parent = self._last_cell
            # The process may write by itself, or while it handles a widget's message ("No such
            # comm", after a page reload). That is no output of a cell that has ended.
            of_none = not message.parent_id or message.parent_id in self._comms
            if of_none and parent not in self.listeners:
                return
        listener = self.listeners.get(parent)
        if listener is not None:
            listener.handle(message)
        else:
            self.ended.handle(message, parent)

    def _on_status(self, message: KernelMessage) -> None:
        """Count the main shell only: control and subshells work beside a running cell."""
        state = (message.content or {}).get("execution_state")
        cell = message.parent_type == "execute_request" and not message.subshell
        if message.parent_type.startswith("comm_"):
            (self._comms.add if state == "busy" else self._comms.discard)(message.parent_id)
        if state == "busy" and cell:
            self._running = message.parent_id
            self._cells_seen += 1
        elif state == "busy" and message.parent_id in self._idle:
            # The fence's turn has come: earlier cells have ended, even if their idle got lost.
            self._running = ""
        elif state == "idle":
            if message.parent_id == self._running:
                self._running = ""
            if message.parent_id == self.stuck:
                self.stuck = ""
            if message.parent_id in self._idle:
                self._idle[message.parent_id].set()
        if cell or message.parent_id in self._idle:
            self._was_busy = False

    def _on_comm(self, message: KernelMessage) -> None:
        self.widgets.handle(message)
        if message.content is not None:
            answer = self.comm_answers.get(message.content["comm_id"])
            if answer is not None and not answer.done():
                answer.set_result(message.content.get("data") or {})

    def _new_widgets(self) -> None:
        self.widgets = OutputWidgets(self.listeners.__contains__, self._send_outputs)

    def _send_outputs(self, comm_id: str, outputs: list[Output]) -> str:
        data = {"method": "update", "state": {"outputs": outputs}, "buffer_paths": []}
        content = {"comm_id": comm_id, "data": data}
        msg_id = uuid.uuid4().hex
        self.spawn(self.wire.send("shell", "comm_msg", content, msg_id=msg_id))
        return msg_id

    # --- the connection and the process behind it ------------------------------------

    @property
    def cuts(self) -> int:
        """How often the connection to this process was cut."""
        return self._wire.cuts if self._wire is not None else 0

    @property
    def wire(self) -> Wire:
        """The connection to the current process; opens it on first use. From then on we receive
        what the kernel publishes. Raises KernelError ``kernel_dead`` after a shutdown."""
        if self.closed:
            raise KernelError("kernel_dead", "The kernel has been shut down.")
        if self._wire is None:
            self._was_busy = self.process.seems_busy
            self._wire = self.process.connect(self._on_iopub)
        return self._wire

    async def interrupt(self) -> None:
        if not self.closed:
            await self.process.interrupt()

    async def restart(self) -> None:
        """Return when the new process answers."""
        start = self.start
        await self.process.restart()
        self.observe()
        if self.start == start and self._number is None:
            self._restarted()

    def observe(self) -> None:
        """Detect a restart by the current process id."""
        number = self.process.number
        if number != self._number and number is not None:
            self._restarted()

    def _autorestarted(self) -> None:
        # Called before the new process exists; ``observe`` sees a new process id later.
        if self._number is None:
            self._restarted()

    def _restarted(self) -> None:
        self.start += 1
        self._number = self.process.number
        self._disconnect()

    def _disconnect(self) -> None:
        """The process is gone, with all our requests."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self._session = ""
        self._running = self.stuck = ""
        self._fence_valid_until = 0.0
        for listener in list(self.listeners.values()):
            listener.lost()
        self.listeners.clear()
        self.ended.clear()
        self._comms.clear()
        for answer in self.comm_answers.values():
            # An error, because a cancelled answer would look to its caller like a cancelled task.
            if not answer.done():
                answer.set_exception(KernelError("kernel_dead", "The kernel is gone."))
        self._new_widgets()

    async def _watch(self) -> None:
        now = asyncio.get_running_loop().time
        asked = 0.0
        while self.process.is_known:
            self.observe()
            if self._wire is not None and not await self.process.is_alive():
                self._disconnect()
            if self.listeners and self._number is None and now() >= asked + SESSION_CHECK:
                # A remote kernel: a new process has a new session id.
                asked = now()
                self.spawn(self._ask_control())
            await asyncio.sleep(POLL)
        self.close()

    def close(self) -> None:
        """Leave the kernel alone. Waiting requests fail with ``kernel_dead``."""
        if self.closed:
            return
        self.closed = True
        self.ended.close()
        self._disconnect()
        self._watcher.cancel()
        self.process.close()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something in the background."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._background.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not isinstance(error, KernelError):
            log.error("A task on kernel %s failed", self.kernel_id, exc_info=error)
