"""Encodes frames as JSON. Large outputs are encoded in a thread."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ...core.commands import DisplayFrame, OpFrame, OutputsFrame, ServerFrame
from ...core.document.ops import FinishRun, Restore, weight

AT_ONCE = 50_000
"""Characters of outputs that the event loop encodes itself, in less than 1 ms."""

_encoder = msgspec.json.Encoder()


def outputs_weight(frame: ServerFrame) -> int:
    """Approximate number of characters in the frame's outputs."""
    return weight(_outputs(frame))


def _outputs(frame: ServerFrame) -> Any:
    if isinstance(frame, OutputsFrame):
        return frame.outputs
    if isinstance(frame, DisplayFrame):
        return frame.data
    if isinstance(frame, OpFrame) and isinstance(frame.op, FinishRun):
        return frame.op.outputs
    if isinstance(frame, OpFrame) and isinstance(frame.op, Restore):
        return frame.op.cell
    return ()


def encode(frame: ServerFrame) -> bytes:
    return _encoder.encode(frame)


async def encode_large(frame: ServerFrame) -> bytes:
    return await asyncio.to_thread(_piecewise, frame)


def _piecewise(frame: ServerFrame) -> bytes:
    """Encode output by output, so that the event loop gets the GIL in between. The join
    releases it."""
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
