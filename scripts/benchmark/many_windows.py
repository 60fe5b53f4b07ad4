"""The windows of many conversations, in a process of their own. Each asks once and reads the time
stamps of the answer. Prints the milliseconds from the model to the socket as JSON, for all deltas
sent while every conversation streamed.

python -m scripts.benchmark.many_windows URL TOKEN WINDOWS
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import msgspec
from tornado.websocket import WebSocketClientConnection

from jupyter_codeinterp.wire import commands as c

from .many_model import CLOCK, now
from .servers import Server
from .workplace import open_socket, show_panel

Stamp = tuple[float, float]
"""A delta's time of arrival in seconds, and its delay in milliseconds."""


async def main(server: Server, windows: int) -> list[float]:
    await show_panel(server)
    sockets = [await open_socket(server) for _ in range(windows)]
    turns = await asyncio.gather(
        *(_turn(socket, f"many-{number}.ipynb") for number, socket in enumerate(sockets))
    )
    began = max(stamps[0][0] for stamps in turns)
    ended = min(stamps[-1][0] for stamps in turns)
    return [delay for stamps in turns for at, delay in stamps if began <= at <= ended]


async def _turn(socket: WebSocketClientConnection, path: str) -> list[Stamp]:
    """A question and its answer, to the end."""
    await _post(socket, c.OpenNotebook(path))
    await _post(socket, c.SendMessage("How does it go on?", path))
    stamps: list[Stamp] = []
    while True:
        message = await socket.read_message()
        if not isinstance(message, str):
            raise RuntimeError("the server has closed the socket")
        at, clock = time.monotonic(), now()
        for line in message.split("\n"):
            frame = json.loads(line)
            kind = frame["event"]["type"] if frame["type"] == "event" else frame["type"]
            if kind == "text_delta":
                text = frame["event"]["text"]
                sent = (int(text[place : place + 4], 16) for place in range(0, len(text), 4))
                stamps += [(at, float((clock - stamp) % CLOCK)) for stamp in sent]
            elif kind == "read":
                epoch, request_id = frame["epoch"], frame["request_id"]
                await _post(socket, c.SnapshotTaken(path, epoch, request_id, ()))
            elif kind == "turn_ended":
                if frame["event"]["stop_reason"] != "end_turn":
                    raise RuntimeError(f"the turn ended by {frame['event']}")
                return stamps


async def _post(socket: WebSocketClientConnection, command: c.Command) -> None:
    await socket.write_message(msgspec.json.encode(command).decode())


if __name__ == "__main__":
    url, token, windows = sys.argv[1:]
    print(json.dumps(asyncio.run(main(Server(url, token, Path()), int(windows)))))
