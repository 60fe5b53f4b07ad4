"""The WebSocket of one kernel of a gateway.

*After a cut* the wire connects again with the same session. The gateway then sends the replies and
messages that it has kept; others are lost. To find out, the wire sends a request on each channel
with outstanding replies. Once that is answered, replies to earlier requests that are still missing
are lost.
"""

from __future__ import annotations

import asyncio
import json
import logging
import struct
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from jupyter_client.session import Session
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.utils import url_path_join
from tornado.escape import url_escape
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    websocket_connect,
)

from ...base.errors import KernelError
from ...base.sentences import Sentence
from ..wire import Expected, KernelMessage, Wire, message_of
from ..wire.reading import read_content

# -------------------------------------------------------------------------------------------------
# Messages as they travel on a kernel's WebSocket.
#
# The protocol ``V1`` puts the parts of a message one after the other, behind a table of their
# offsets: little-endian numbers of 8 bytes, the first of them the number of offsets.

V1 = "v1.kernel.websocket.jupyter.org"
_PARTS = ("header", "parent_header", "metadata", "content")


def packed(message: dict[str, Any], channel: str, pack: Callable[[Any], bytes]) -> bytes:
    """A message of ``jupyter_client`` in the protocol ``V1``."""
    parts = [channel.encode(), *(pack(message[name]) for name in _PARTS)]
    offsets = [8 * (len(parts) + 2)]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets) + b"".join(parts)


def unpacked(frame: bytes) -> tuple[str, KernelMessage]:
    """The channel and the message of a frame in the protocol ``V1``. Raises ValueError
    for any other."""
    count = int.from_bytes(frame[:8], "little")
    if not len(_PARTS) + 2 <= count < len(frame) // 8:
        raise ValueError("not a Jupyter message")
    offsets = struct.unpack_from(f"<{count}Q", frame, 8)
    whole = memoryview(frame)
    parts = [whole[start:end] for start, end in pairwise(offsets)]
    channel, header, parent, _, content = parts[:5]
    about, cause = json.loads(bytes(header)), json.loads(bytes(parent))
    read = read_content(about["msg_type"], content)
    return bytes(channel).decode(), message_of(about, cause, read, len(content))


MOST = 512 * 2**20
"""Bytes of the largest message. The kernel decides how large one is; a larger one cuts the
connection."""
PING = 45.0
"""Seconds between pings on a silent connection. A shorter interval would give up connections that
survive a short cut, and lose the messages on their way."""
ATTEMPT = 10.0
"""Seconds that a connection may take."""
PATIENCE = 15.0
"""Seconds in which the first connection must succeed."""
CUT_PATIENCE = 120.0
"""Seconds in which a connection that was cut must come back."""
PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds between attempts; the last one is repeated."""
TOO_OLD = (
    "The gateway does not know the protocol {protocol}. Install a newer version of the gateway."
)
SHUT_DOWN = Sentence("The gateway has shut the kernel down. All its variables are gone.")
UNHEARD = "The connection to the gateway was cut, and the answer is lost."

NOT_FOUND, REFUSED = 404, (401, 403)

log = logging.getLogger(__name__)


class GatewayWire(Wire):
    """``on_iopub`` gets every message that the kernel publishes, ``on_end`` a sentence when the
    kernel is gone or cannot be reached any more, and ``on_restart`` is called when the gateway
    restarts the kernel by itself."""

    lag = 20.0
    """In a gateway, a reply overtakes megabytes of output, which the link still has to carry."""

    def __init__(
        self,
        kernel_id: str,
        session: Session,
        on_iopub: Callable[[KernelMessage], None],
        on_restart: Callable[[], None],
        on_end: Callable[[Sentence], None],
    ) -> None:
        super().__init__(session)
        self._kernel_id = kernel_id
        self._on_iopub = on_iopub
        self._on_restart = on_restart
        self._on_end = on_end
        self._socket: WebSocketClientConnection | None = None
        self._opened = asyncio.Event()
        self._closed = False
        self._tasks = {asyncio.create_task(self._stay_connected())}

    def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        self._hang_up()
        self._opened.set()
        super().close()

    async def _send(self, channel: str, message: dict[str, Any], at_once: bool) -> None:
        while not self._closed:
            socket = self._socket
            if socket is not None and self._write(socket, channel, message):
                if message["msg_id"] in self._replies:
                    self._replies[message["msg_id"]].sent = True
                return
            if at_once:
                raise KernelError("unconnected", "The connection to the gateway is cut.")
            await self._opened.wait()
        raise KernelError("kernel_dead", "The kernel is gone.")

    def _write(
        self, socket: WebSocketClientConnection, channel: str, message: dict[str, Any]
    ) -> bool:
        """False if the connection is known to be cut."""
        frame = packed(message, channel, self._session.pack)
        try:
            written = socket.write_message(frame, binary=True)
        except WebSocketClosedError:
            self._hang_up()
            return False
        # A connection that breaks now ends ``_read`` as well.
        written.add_done_callback(lambda done: done.cancelled() or done.exception())
        return True

    def _hang_up(self) -> None:
        socket, self._socket = self._socket, None
        self._opened.clear()
        if socket is not None:
            socket.close()

    # --- the connection --------------------------------------------------------------------

    async def _stay_connected(self) -> None:
        due: list[Expected] = []
        try:
            while True:
                socket = await self._connect(CUT_PATIENCE if self.cuts else PATIENCE)
                self._socket = socket
                self._opened.set()
                self._ask_for(due)
                await self._read(socket)
                self._hang_up()
                self.cuts += 1
                due = [expected for expected in self._replies.values() if expected.sent]
                log.info("The connection to kernel %s of the gateway was cut", self._kernel_id)
        except KernelError as error:
            self.close()
            self._on_end(error.message)
        except Exception as error:
            # Settings of the gateway's client may be wrong; its token renewer may raise anything.
            log.exception("The connection to kernel %s of the gateway failed", self._kernel_id)
            self.close()
            self._on_end(Sentence("The connection to the gateway failed: {error}", error=error))

    async def _connect(self, patience: float) -> WebSocketClientConnection:
        """Raises KernelError ``kernel_dead``."""
        loop = asyncio.get_running_loop()
        until, attempts = loop.time() + patience, 0
        while True:
            try:
                socket = await self._attempt()
                if socket.selected_subprotocol != V1:
                    socket.close()
                    raise KernelError("kernel_dead", TOO_OLD, protocol=V1)
                return socket
            except HTTPClientError as error:
                why = f"it answered {error.code} {error.message or ''}".strip()
                if error.code == NOT_FOUND:
                    raise KernelError("kernel_dead", SHUT_DOWN) from None
                if error.code in REFUSED:
                    raise KernelError(
                        "kernel_dead", "The gateway refuses: {why}.", why=why
                    ) from None
            except (OSError, WebSocketError, TimeoutError, asyncio.TimeoutError) as error:
                why = str(error) or type(error).__name__
            if loop.time() >= until:
                words = Sentence(
                    "The gateway cannot be reached ({why}). The kernel may still be running.",
                    why=why,
                )
                raise KernelError("kernel_dead", words)
            await asyncio.sleep(PAUSES[min(attempts, len(PAUSES) - 1)])
            attempts += 1

    async def _attempt(self) -> WebSocketClientConnection:
        client = GatewayClient.instance()
        place = (client.kernels_endpoint, url_escape(self._kernel_id), "channels")
        url = url_path_join(client.ws_url or "", *place)
        given: dict[str, Any] = client.load_connection_args()  # type: ignore[no-untyped-call]
        given.update(connect_timeout=ATTEMPT, request_timeout=ATTEMPT)
        request = HTTPRequest(f"{url}?session_id={url_escape(self.session_id)}", **given)
        connecting = asyncio.ensure_future(
            websocket_connect(
                request,
                subprotocols=[V1],
                max_message_size=MOST,
                ping_interval=PING,
                ping_timeout=PING,
            )
        )
        try:
            return await asyncio.shield(connecting)
        except asyncio.CancelledError:
            connecting.add_done_callback(_close)
            raise

    def _ask_for(self, due: list[Expected]) -> None:
        """Find out which of these replies were lost with the connection."""
        for channel in {expected.channel for expected in due if not expected.reply.done()}:
            there = [expected for expected in due if expected.channel == channel]
            task = asyncio.create_task(self._find_lost(channel, there))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _find_lost(self, channel: str, due: list[Expected]) -> None:
        try:
            await self.request(channel, "kernel_info_request", {})
        except KernelError:
            return  # Cut again, and asked again; or closed, and all have failed.
        for expected in due:
            expected.fail(KernelError("unheard", UNHEARD))

    # --- incoming messages -----------------------------------------------------------------

    async def _read(self, socket: WebSocketClientConnection) -> None:
        """Return when the connection is cut."""

        async def take(frame: bytes) -> None:
            self._handle(*unpacked(frame))

        await self._follow(socket.read_message, take)

    def _handle(self, channel: str, message: KernelMessage) -> None:
        if channel != "iopub":
            self._on_reply(message)
            return
        state = (message.content or {}).get("execution_state")
        if message.msg_type == "status" and not message.parent_id:
            if state in ("restarting", "autorestarting"):
                self._on_restart()
                return
            if state == "dead":
                self.close()
                self._on_end(Sentence("The kernel died, and the gateway could not restart it."))
                return
        self._on_iopub(message)


def _close(connecting: asyncio.Future[WebSocketClientConnection]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().close()
