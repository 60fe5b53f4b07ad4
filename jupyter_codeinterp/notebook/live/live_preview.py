"""Previews of a running turn: code that the model is writing, outputs of running cells. Kept for
a window that attaches in mid-turn; ops replace them."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import msgspec

from ...wire.commands import DisplayFrame, OutputsFrame, ServerFrame, StreamFrame
from ...wire.ops import FinishRun, Insert, Op, Output

StreamKind = Literal["insert", "edit", "markdown"]


class CodePreview(msgspec.Struct):
    session_id: str
    cell_id: str
    kind: StreamKind
    text: str = ""


class RunPreview(msgspec.Struct):
    session_id: str
    run_id: str
    outputs: list[Output] = []


class PreviewedNotebook(Protocol):
    """The notebook whose holder shows the preview."""

    path: str
    epoch: int

    def post(self, frame: ServerFrame) -> None:
        """Send to the holder, if there is one."""


class LivePreview:
    def __init__(self, notebook: PreviewedNotebook) -> None:
        self._notebook = notebook
        self._code: dict[str, CodePreview] = {}
        """By draft id."""
        self._runs: dict[str, RunPreview] = {}
        """By cell id."""

    def __bool__(self) -> bool:
        return bool(self._code or self._runs)

    def stream(
        self, session_id: str, draft_id: str, cell_id: str, kind: StreamKind, start: int, text: str
    ) -> None:
        if start == 0 or draft_id not in self._code:
            self._code[draft_id] = CodePreview(session_id, cell_id, kind)
        self._code[draft_id].text += text
        at = self._notebook
        at.post(StreamFrame(at.path, at.epoch, draft_id, cell_id, kind, start, text))

    def outputs(
        self, session_id: str, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]
    ) -> None:
        run = self._runs.get(cell_id)
        if run is None or run.run_id != run_id:
            run = self._runs[cell_id] = RunPreview(session_id, run_id)
        run.outputs[start:] = outputs
        at = self._notebook
        at.post(OutputsFrame(at.path, at.epoch, cell_id, run_id, start, outputs))

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        at = self._notebook
        at.post(DisplayFrame(at.path, at.epoch, display_id, data, metadata))

    def overtaken(self, op: Op) -> None:
        """Drop the preview that this op replaces."""
        if isinstance(op, FinishRun):
            self._runs.pop(op.cell_id, None)
        elif not isinstance(op, Insert):
            self._code = {k: code for k, code in self._code.items() if code.cell_id != op.cell_id}

    def forget(self, session_id: str) -> None:
        self._code = {k: code for k, code in self._code.items() if code.session_id != session_id}
        self._runs = {k: run for k, run in self._runs.items() if run.session_id != session_id}

    def show_again(self) -> None:
        """Send the whole preview, from the beginning."""
        at = self._notebook
        for draft_id, code in self._code.items():
            frame = (draft_id, code.cell_id, code.kind, 0, code.text)
            at.post(StreamFrame(at.path, at.epoch, *frame))
        for cell_id, run in self._runs.items():
            outputs = tuple(run.outputs)
            at.post(OutputsFrame(at.path, at.epoch, cell_id, run.run_id, 0, outputs))
