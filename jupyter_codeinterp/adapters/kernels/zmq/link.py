"""Our one connection to one kernel, shared by all sessions: who runs what in it, when it is
idle, which start of the kernel this is.

*Idle.* ``status`` messages tell what runs now, not what else is queued in the kernel, they
tell nothing of what began before we connected, and one may be lost. So before anything is
sent that has effects, a fence goes first: a ``kernel_info_request`` on the shell channel.
It has no effects, waits in the kernel's own queue behind everybody's cells, and its answer
says that they are done. If a cell began meanwhile, another fence follows. An idle kernel
begins what it is asked at once and says so: for a moment without a word from it, the answer
stays good.

*Start.* A restart keeps the kernel's id. It is seen by the process id where the kernel has
one here, by the autorestarter's callback, and by the session id in the kernel's replies.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import zmq.asyncio
from jupyter_client.manager import KernelManager
from jupyter_core.utils import ensure_async
from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

from ....core.document.ops import Output
from ....core.errors import KernelError
from ....core.ports import KernelInfo
from .counting import Counter
from .external_run import ExternalRuns
from .widgets import OutputWidgets
from .wire import Message, Wire

STILL = 0.25
"""Seconds for which a fence is good if the kernel has published nothing since."""
POLL = 0.2
"""Seconds between looks at the kernel process."""
ASK_AGAIN = 2.0
"""Seconds between questions to a kernel whose process is not ours to see, while code runs in it."""
LOST_IDLE = 2.0
"""Seconds after a reply in which ``idle`` must come; a flooded kernel drops messages."""
ANSWER_LIMIT = 1.0
"""Seconds in which a control channel should answer."""
MUTE = 5.0
"""Seconds in which a kernel that is not mute answers and is heard; it is asked twice."""
FAREWELL = 3.0
"""Seconds in which a kernel that is told to exit does so."""
REVIVAL = 10.0
"""Seconds that a dead kernel has to be restarted; jupyter_client looks every 3 seconds."""

GONE = "The kernel died or was restarted: all its variables are gone."
"""What a run says that did not live to its end."""

log = logging.getLogger(__name__)


class Listener(Protocol):
    """One who follows what a request of ours does."""

    def handle(self, message: Message) -> None: ...

    def lost(self) -> None:
        """The kernel process that had the request is gone."""


class KernelLink:
    def __init__(
        self,
        kernels: MappingKernelManager,
        kernel_id: str,
        context: zmq.asyncio.Context,
        start: int,
    ) -> None:
        self.kernel_id = kernel_id
        self.start = start
        self.lock = asyncio.Lock()
        self.closed = False
        self.features: list[str] = []
        self.listeners: dict[str, Listener] = {}
        self.counter = Counter()
        self.comm_ends: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._kernels = kernels
        self._km: KernelManager = kernels.get_kernel(kernel_id)
        self._context = context
        self._wire: Wire | None = None
        self._process = self._process_id()
        self._session = ""
        self._language: dict[str, Any] = {}
        self._running = ""
        self._cells_seen = 0
        self._was_busy = False
        self._fence: asyncio.Task[bool] | None = None
        self._still_until = 0.0
        self._idle: dict[str, asyncio.Event] = {}
        self._heard: dict[str, asyncio.Event] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self.external_runs = ExternalRuns(self.settle, self.spawn)
        self._new_widgets()
        kernels.add_restart_callback(kernel_id, self._autorestarted)
        self._watcher = asyncio.create_task(self._watch())

    # --- what it is ------------------------------------------------------------------

    async def info(self) -> KernelInfo:
        """Never waits for idle: the control channel answers while a cell runs. A kernel
        that does not answer there is described by its kernelspec."""
        self.observe()
        if not self._language:
            await self._ask_control()
        spec = self._km.kernel_spec
        return KernelInfo(
            kernel_id=self.kernel_id,
            start=self.start,
            language=self._language.get("name") or (spec.language if spec else ""),
            language_version=self._language.get("version", ""),
            file_extension=self._language.get("file_extension", ""),
        )

    @property
    def language(self) -> str:
        """As the kernel has said, "" as long as it has not."""
        return str(self._language.get("name", ""))

    async def _ask_control(self) -> None:
        if not await ensure_async(self._km.is_alive()):
            raise KernelError("kernel_dead", "The kernel has died.")
        request = self.wire.request("control", "kernel_info_request", {})
        try:
            self._learn(await asyncio.wait_for(request, ANSWER_LIMIT))
        except asyncio.TimeoutError:
            log.debug("Kernel %s does not answer on its control channel", self.kernel_id)

    def _learn(self, reply: Message) -> None:
        content = reply.content or {}
        self._language = content.get("language_info", {})
        self.features = content.get("supported_features", [])
        self.observe()
        if self._session and reply.session != self._session:
            self._restarted()
        self._session = reply.session

    # --- whether it is busy ----------------------------------------------------------

    @property
    def busy(self) -> bool:
        if self._wire is None or self._was_busy:
            return getattr(self._km, "execution_state", "") == "busy"
        return bool(self._running)

    async def settle(self) -> None:
        """Return when the kernel is idle and nothing is queued in it. Cancelling is safe.

        A kernel that dies has ``REVIVAL`` seconds to come back, then ``kernel_dead``.
        """
        loop = asyncio.get_running_loop()
        died: float | None = None
        while True:
            try:
                if await self._is_settled():
                    return
                died = None
            except KernelError:
                died = died or loop.time()
                if self.closed or loop.time() - died > REVIVAL:
                    raise
                await asyncio.sleep(POLL)

    def expect(self) -> None:
        """Let a fence go already, unless it would have to wait, or is not needed. Code that is
        ready before it is too old does not wait for one."""
        asked = self._fence is not None and not self._fence.done()
        if not (self.closed or self.lock.locked() or self.busy or asked or self._is_still()):
            self.spawn(self._is_settled())

    async def _is_settled(self) -> bool:
        if self._is_still():
            return True
        if self._fence is not None and not self._fence.done():
            # Sent for somebody who gave up waiting. What it says will be out of date.
            await asyncio.shield(self._fence)
            return False
        # A fence that had to wait behind a cell says that this one has ended, and nothing of
        # what was asked of the kernel meanwhile.
        seen, waits = self._cells_seen, self.busy
        self._fence = self.spawn(self._send_fence())
        heard = await asyncio.shield(self._fence)
        settled = heard and not (waits or self._running) and seen == self._cells_seen
        if settled:
            self._still_until = asyncio.get_running_loop().time() + STILL
        return settled

    def _is_still(self) -> bool:
        """Whether the last fence is good yet, in the same process. A process that cannot be
        told from its successor is asked each time."""
        self.observe()
        now = asyncio.get_running_loop().time()
        known = self._process_id() is not None
        return now < self._still_until and known and not self.is_ending

    async def _send_fence(self) -> bool:
        """True if its idle was heard, so that what was published before it was heard too."""
        msg_id = uuid.uuid4().hex
        idle = self._idle[msg_id] = asyncio.Event()
        try:
            self._learn(await self.wire.request("shell", "kernel_info_request", {}, msg_id=msg_id))
            await asyncio.wait_for(idle.wait(), LOST_IDLE)
        except asyncio.TimeoutError:
            return False
        finally:
            del self._idle[msg_id]
        return True

    async def is_mute(self) -> bool:
        """Whether a living Python kernel cannot be spoken to or heard any longer: code in it
        has closed its sockets, say. One whose main thread is busy is not mute."""
        if self.language != "python" or not await ensure_async(self._km.is_alive()):
            return False
        for channel in ("control", "shell"):
            if channel == "shell" and self.busy:
                return False
            if not await self._answers(channel) and not await self._answers(channel):
                return channel == "control" or not self.busy
        return False

    async def _answers(self, channel: str) -> bool:
        msg_id = uuid.uuid4().hex
        heard = self._heard[msg_id] = asyncio.Event()
        try:
            request = self.wire.request(channel, "kernel_info_request", {}, msg_id=msg_id)
            await asyncio.wait_for(request, MUTE)
            await asyncio.wait_for(heard.wait(), MUTE)
        except (asyncio.TimeoutError, KernelError):
            return False
        finally:
            del self._heard[msg_id]
        return True

    # --- what it publishes -----------------------------------------------------------

    def _on_iopub(self, message: Message) -> None:
        if message.parent_id not in self._idle:
            self._still_until = 0.0
        if message.parent_id in self._heard:
            self._heard[message.parent_id].set()
        state = (message.content or {}).get("execution_state")
        self.counter.count(message.msg_id, ends=message.msg_type == "status" and state == "idle")
        if message.msg_type == "status":
            self._on_status(message)
        elif message.msg_type in ("comm_open", "comm_msg", "comm_close"):
            self._on_comm(message)
        listener = self.listeners.get(message.parent_id)
        if listener is not None:
            listener.handle(message)
        elif message.foreign:
            self.external_runs.handle(message)

    def _on_status(self, message: Message) -> None:
        """Only the main shell counts: control and subshells work beside a running cell."""
        state = (message.content or {}).get("execution_state")
        cell = message.parent_type == "execute_request" and not message.subshell
        if state == "busy" and cell:
            self._running = message.parent_id
            self._cells_seen += 1
        elif state == "busy" and message.parent_id in self._idle:
            # The fence's turn has come: whatever ran before has ended, heard or not.
            self._running = ""
        elif state == "idle":
            if message.parent_id == self._running:
                self._running = ""
            if message.parent_id in self._idle:
                self._idle[message.parent_id].set()
        if cell or message.parent_id in self._idle:
            self._was_busy = False

    def _on_comm(self, message: Message) -> None:
        self.widgets.handle(message)
        if message.msg_type == "comm_close" and message.content is not None:
            end = self.comm_ends.get(message.content["comm_id"])
            if end is not None and not end.done():
                end.set_result(message.content.get("data") or {})

    def _new_widgets(self) -> None:
        self.widgets = OutputWidgets(self.listeners.__contains__, self._send_outputs)

    def _send_outputs(self, comm_id: str, outputs: list[Output]) -> None:
        data = {"method": "update", "state": {"outputs": outputs}, "buffer_paths": []}
        self.spawn(self.wire.send("shell", "comm_msg", {"comm_id": comm_id, "data": data}))

    # --- the connection and the process behind it ------------------------------------

    @property
    def wire(self) -> Wire:
        return self.connect()

    def connect(self) -> Wire:
        """From now on what the kernel publishes is heard. The wire is opened for the first
        time, or for a new process. KernelError ``kernel_dead`` if there will be none."""
        if self.closed:
            raise KernelError("kernel_dead", "The kernel has been shut down.")
        if self._wire is None:
            self._was_busy = getattr(self._km, "execution_state", "") == "busy"
            self._wire = Wire(self._km, self._context, self._on_iopub)
        return self._wire

    @property
    def is_ending(self) -> bool:
        """Somebody shuts it down or restarts it. That begins with an interrupt, so a run
        may end in good order just before."""
        return bool(self._km.shutting_down)

    async def interrupt(self) -> None:
        if not self.closed:
            await ensure_async(self._km.interrupt_kernel())

    async def restart(self) -> None:
        """Return when the new process answers."""
        kernels: Any = self._kernels
        answered = await ensure_async(kernels.restart_kernel(self.kernel_id))
        if answered is not None:
            await answered
        self.observe()

    async def replaced(self, within: float) -> None:
        """Return when another process is in this one's place, which ends by itself ``within``
        so many seconds or is killed. The server's autorestarter sees it and tells every
        page; of a restart that somebody asks for only who asked is told. If it gives up, as
        it does with a kernel that dies again and again, return after ``REVIVAL`` all the same.
        """
        if not self._km.autorestart:
            await self.restart()
            return
        loop = asyncio.get_running_loop()
        start, kill_at = self.start, loop.time() + within
        while self.start == start and not self.closed and loop.time() < kill_at + REVIVAL:
            if loop.time() >= kill_at and self._km.provisioner is not None:
                # It does nothing to a process that has ended.
                await self._km.provisioner.kill()
            await asyncio.sleep(POLL)
            self.observe()

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Count as a connection of the kernel, so that it is not culled as unused."""
        kernels: Any = self._kernels
        kernels.notify_connect(self.kernel_id)
        try:
            yield
        finally:
            kernels.notify_disconnect(self.kernel_id)

    def observe(self) -> None:
        """Notice a restart by the process that is there now."""
        process = self._process_id()
        if process != self._process and process is not None:
            self._restarted()

    def _process_id(self) -> int | None:
        pid: int | None = getattr(self._km.provisioner, "pid", None)
        return pid

    def _autorestarted(self) -> None:
        # Called before the new process is there; where it has an id, that will be seen.
        if self._process is None:
            self._restarted()

    def _restarted(self) -> None:
        self.start += 1
        self._process = self._process_id()
        self._disconnect()

    def _disconnect(self) -> None:
        """The process is gone, and with it all that was asked of it."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self._session = ""
        self._running = ""
        self._still_until = 0.0
        for listener in list(self.listeners.values()):
            listener.lost()
        self.listeners.clear()
        self.external_runs.lost(GONE)
        for end in self.comm_ends.values():
            end.cancel()
        self._new_widgets()

    async def _watch(self) -> None:
        now = asyncio.get_running_loop().time
        asked = 0.0
        while self.kernel_id in self._kernels:
            self.observe()
            if self._wire is not None and not await ensure_async(self._km.is_alive()):
                self._disconnect()
            if self.listeners and self._process is None and now() >= asked + ASK_AGAIN:
                # One that runs elsewhere: another process has another session.
                asked = now()
                self.spawn(self._ask_control())
            await asyncio.sleep(POLL)
        self.close()

    def close(self) -> None:
        """Leave the kernel alone. What still waits for it gets ``kernel_dead``."""
        if self.closed:
            return
        self.closed = True
        self._disconnect()
        self._watcher.cancel()
        self._km.remove_restart_callback(self._autorestarted)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Let something run whose end nobody needs to wait for."""
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
