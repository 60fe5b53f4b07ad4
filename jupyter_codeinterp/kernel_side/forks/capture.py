"""What a cell in a fork shows, as lines of JSON in a pipe. This file's text runs **in the kernel**.

The fork must not touch the kernel's ZMQ sockets. So its streams are ours, and everything that the
kernel would publish goes through one method, which is replaced. Standard library only.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable
from typing import Any

MOST_TEXT = 200_000
"""Characters of all streams; the rest is left out."""
MOST_DATA = 4_000_000
"""Characters of all other outputs."""
MOST_OUTPUTS = 200
SHOWN = ("display_data", "execute_result", "error", "clear_output")
SOON = 0.05
"""Seconds that text waits for more."""
PIECE = 8_000


class Pipe:
    """Lines of JSON, each ``[kind, content]``, bounded."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.text = ""
        self.name = ""
        self.sent_at = 0.0
        self.left = {"text": MOST_TEXT, "data": MOST_DATA, "outputs": MOST_OUTPUTS}

    def stream(self, name: str, text: str) -> None:
        if name != self.name:
            self.flush()
        self.name = name
        self.text += text[: self.left["text"]]
        self.left["text"] -= min(len(text), self.left["text"])
        if len(self.text) > PIECE or time.monotonic() - self.sent_at > SOON:
            self.flush()

    def flush(self) -> None:
        if self.text:
            self.write("stream", {"name": self.name, "text": self.text})
            self.text = ""
            self.sent_at = time.monotonic()

    def output(self, kind: str, content: dict[str, Any]) -> None:
        self.flush()
        line = json.dumps(content, default=str)
        if not self.left["outputs"] or len(line) > self.left["data"]:
            return
        self.left["outputs"] -= 1
        self.left["data"] -= len(line)
        self.write(kind, content)

    def write(self, kind: str, content: Any) -> None:
        line = json.dumps([kind, content], default=str).encode() + b"\n"
        while line:
            line = line[os.write(self.number, line) :]


class Stream(io.TextIOBase):
    """In place of ``sys.stdout`` or ``sys.stderr``."""

    encoding = "utf-8"

    def __init__(self, pipe: Pipe, name: str) -> None:
        self.pipe = pipe
        self.name = name

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.pipe.stream(self.name, text)
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1 if self.name == "stdout" else 2


def capture(shell: Any, pipe: Pipe) -> tuple[Stream, Stream]:
    """Send into the pipe what the kernel would publish. The streams are for ``sys``."""
    shell.kernel.session.send = sender(pipe)
    return (Stream(pipe, "stdout"), Stream(pipe, "stderr"))


def stand_in(stream: Any, ours: Stream) -> None:
    """For whoever holds the kernel's own stream: a logger, for one."""
    for name in ("write", "writelines", "flush"):
        try:
            setattr(stream, name, getattr(ours, name))
        except AttributeError:
            return  # Not the kernel's: its text goes to descriptor 1 or 2.


def sender(pipe: Pipe) -> Callable[..., Any]:
    def send(_socket: Any, message: Any, content: Any = None, *_: Any, **__: Any) -> Any:
        kind = message if isinstance(message, str) else message["header"]["msg_type"]
        content = content if isinstance(message, str) else message["content"]
        if kind in SHOWN and isinstance(content, dict):
            pipe.output(kind, content)
        return message

    return send
