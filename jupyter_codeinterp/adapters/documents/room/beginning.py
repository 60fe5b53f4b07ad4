"""Completes the history that ``jupyter_server_ydoc`` stores of a room.

It follows a room from the moment that the room is ready, so its store lacks what the room itself
wrote before (its file's path). The next room has a history with a hole. The server reads such a
history to its end, but pages leave out all that depends on what is missing, also people's text
(https://github.com/y-crdt/y-crdt/issues/632).
"""

from __future__ import annotations

from typing import Any

from pycrdt import Decoder, Encoder


async def store_beginning(room: Any) -> None:
    """Wait until the store follows the room, and store what the room has written by then."""
    await room.ydoc_observed.wait()
    if room.ystore is not None:
        await room.ystore.write(own_changes(room.ydoc))


def own_changes(ydoc: Any) -> bytes:
    """What only this server has written in the document, as an update."""
    state = Decoder(ydoc.get_state())
    known = [(state.read_var_uint(), state.read_var_uint()) for _ in range(state.read_var_uint())]
    others = [one for one in known if one[0] != ydoc.client_id]
    encoder = Encoder()
    encoder.write_var_uint(len(others))
    for client_id, clock in others:
        encoder.write_var_uint(client_id)
        encoder.write_var_uint(clock)
    return bytes(ydoc.get_update(encoder.to_bytes()))
