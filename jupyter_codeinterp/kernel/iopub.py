"""Messages that a kernel publishes: counts them, and collects outputs of widgets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..notebook.collector import Collector
from ..wire.ops import Output
from .wire import KernelMessage

# -------------------------------------------------------------------------------------------------
# Detects lost messages: if code prints faster than we read, the kernel's socket drops silently.
#
# ipykernel numbers all messages of one process (``…_PID_NUMBER``): published ones, and replies,
# which only the requester gets. Each request ends with one ``idle``. So a number between two
# messages is lost if it was neither published to us nor a reply. Kernels that number differently
# are not counted.

UNSURE = 3
"""How many missing numbers may have another cause: an input request, a reply whose ``idle`` has
not come yet."""

_NUMBERED = re.compile(r"(.+)_(\d+)")


class Mark(NamedTuple):
    number: int
    published: int
    ended: int


class Counter:
    """Feed it every published message, in order."""

    def __init__(self) -> None:
        self._process = ""
        self._now = Mark(0, 0, 0)

    def count(self, msg_id: str, *, ends: bool) -> None:
        """``ends``: this is the ``idle`` of some request."""
        numbered = _NUMBERED.fullmatch(msg_id)
        if numbered is None:
            return
        process, number = numbered[1], int(numbered[2])
        before = self._now if process == self._process else Mark(0, 0, 0)
        self._process = process
        self._now = Mark(
            max(before.number, number), before.published + 1, before.ended + (1 if ends else 0)
        )

    def mark(self) -> Mark:
        return self._now

    def lost_since(self, mark: Mark, unsure: int = UNSURE) -> int:
        """Number of messages missing since ``mark``; 0 if there are at most ``unsure``."""
        now = self._now
        missing = (
            (now.number - mark.number) - (now.published - mark.published) - (now.ended - mark.ended)
        )
        return missing if missing > unsure and now.published > mark.published else 0


# -------------------------------------------------------------------------------------------------
# ``ipywidgets.Output`` and ``interact``: outputs that belong in a widget, not in the cell.
#
# Such a widget announces over its comm (``state.msg_id``) that it captures a request's output.
# Whoever sent the request must collect it and return it to the kernel as a comm message. From
# there every browser gets it.


class _Capture(NamedTuple):
    comm_id: str
    msg_id: str
    outputs: Collector


class OutputWidgets:
    """The output widgets of one kernel process. ``is_ours`` tells whether we sent a request;
    ``send`` gives a widget its outputs and returns the message's id."""

    def __init__(
        self,
        is_ours: Callable[[str], bool],
        send: Callable[[str, list[Output]], str],
    ) -> None:
        self._is_ours = is_ours
        self._send = send
        self._outputs: dict[str, list[Output]] = {}
        self._captures: list[_Capture] = []
        self._changed: dict[str, dict[str, None]] = {}
        """By msg_id: the comm_ids of output widgets that each of our requests changed, in order."""
        self._awaited: dict[str, str] = {}
        """By comm_id: our last message with outputs, until the kernel echoes it."""

    def handle(self, message: KernelMessage) -> None:
        """Take any ``comm_open``, ``comm_msg`` or ``comm_close`` that the kernel publishes."""
        content = message.content
        if content is None:
            return
        comm_id, data = content["comm_id"], content.get("data") or {}
        state: dict[str, Any] = data.get("state") or {}
        if message.msg_type == "comm_close":
            self._outputs.pop(comm_id, None)
            self._awaited.pop(comm_id, None)
            return
        if message.msg_type == "comm_open":
            if state.get("_model_name") != "OutputModel":
                return
            self._outputs[comm_id] = []
        if comm_id in self._outputs and "outputs" in state and not self._outdated(message):
            self._outputs[comm_id] = _listed(state["outputs"])
            self._note(message.parent_id, comm_id)
        if isinstance(state.get("msg_id"), str):
            self._end(lambda capture: capture.comm_id == comm_id)
            if self._is_ours(state["msg_id"]):
                outputs = Collector(outputs=self._outputs.get(comm_id, []))
                self._captures.append(_Capture(comm_id, state["msg_id"], outputs))

    def capturing(self, msg_id: str) -> Collector | None:
        """The collector that captures this request's output now; None for the cell."""
        for capture in reversed(self._captures):
            if capture.msg_id == msg_id:
                return capture.outputs
        return None

    def finish(self, msg_id: str) -> tuple[Output, ...]:
        """End the request's captures, even if its widgets have not. Return the outputs of the
        widgets that it changed."""
        self._end(lambda capture: capture.msg_id == msg_id)
        changed = self._changed.pop(msg_id, {})
        return tuple(output for comm_id in changed for output in self._outputs.get(comm_id, ()))

    def _outdated(self, message: KernelMessage) -> bool:
        """Whether this is the echo of a message before our last one. Echoes come after the cell,
        when our outputs may be newer."""
        content = message.content or {}
        comm_id = content["comm_id"]
        if content["data"].get("method") != "echo_update" or comm_id not in self._awaited:
            return False
        if self._awaited[comm_id] != message.parent_id:
            return True
        del self._awaited[comm_id]
        return False

    def _note(self, msg_id: str, comm_id: str) -> None:
        if self._is_ours(msg_id):
            self._changed.setdefault(msg_id, {})[comm_id] = None

    def _end(self, ends: Callable[[_Capture], bool]) -> None:
        # The kernel reads comm messages after the cell, so one message at the end of a capture is
        # enough.
        for capture in [c for c in self._captures if ends(c)]:
            self._captures.remove(capture)
            if capture.outputs.take() is None:
                continue
            outputs = [
                {key: value for key, value in output.items() if key != "transient"}
                for output in capture.outputs.outputs
            ]
            self._outputs[capture.comm_id] = outputs
            self._note(capture.msg_id, capture.comm_id)
            self._awaited[capture.comm_id] = self._send(capture.comm_id, outputs)


def _listed(outputs: Any) -> list[Output]:
    """The state is untrusted: code in the kernel may send anything."""
    given = outputs if isinstance(outputs, (list, tuple)) else ()
    return [output for output in given if isinstance(output, dict)]
