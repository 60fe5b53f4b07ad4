"""Stands between the Jupyter server and a program that speaks MCP, in a process of its own.

Run as a script, with the server's process id, the program and its arguments. It passes messages on,
within bounds, and ends the program with the Jupyter server: on Linux also if that is killed. Its
standard error gets one text, once the program has ended: why, and the program's last words.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from typing import IO

MOST_BYTES = 20_000_000
MOST_MESSAGES = 10_000
MOST_VALUES = 20_000
"""Most bytes, messages and JSON values (see ``values``) that a server may send between two of our
requests. The package ``mcp`` checks each value on the event loop, which takes up to 20 µs."""
LONGEST_MESSAGE = 10_000_000
"""Bytes."""
TOO_LONG = f"It sent a message of more than {LONGEST_MESSAGE:,} bytes."
TOO_MUCH = "It sent too much, so it was ended."
LATEST = 300
"""Bytes of the program's standard error that explain its end."""
LATE = 1.0
"""Seconds for the last outputs after its end: its child processes may hold them open."""
PR_SET_PDEATHSIG = 1


class TooMuch(ValueError):
    """The server sent more than a bound allows."""


class Flow:
    """Counts what a server sends since our last request."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Count from here."""
        self._bytes = self._messages = self._values = 0

    def add(self, data: bytes) -> None:
        """Count a message of whole lines. Raises TooMuch."""
        self._bytes += len(data)
        self._messages += 1
        self._values += sum(map(values, data.splitlines()))  # A JSON string contains no line end.
        if self._bytes > MOST_BYTES or self._messages > MOST_MESSAGES or self._values > MOST_VALUES:
            raise TooMuch(TOO_MUCH)


def values(line: bytes) -> int:
    """The number of strings, lists, objects and commas in a line of JSON."""
    plain = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    quotes = plain.count(b'"')
    if quotes > 2 * MOST_VALUES:
        return quotes
    outside = b"".join(plain.split(b'"')[::2])
    return quotes // 2 + sum(map(outside.count, (b"[", b"{", b",")))


def main(parent: int, argv: list[str]) -> None:
    end_with(parent)
    try:
        program = subprocess.Popen(
            [shutil.which(argv[0]) or argv[0], *argv[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=partial(end_with, os.getpid()) if sys.platform == "linux" else None,
        )
    except OSError as error:
        sys.exit(f"Cannot start {argv[0]}: {error.strerror}.")
    assert program.stdin and program.stderr
    flow, faults, errors = Flow(), list[str](), bytearray()
    outputs = (
        threading.Thread(target=pass_out, args=(program, flow, faults), daemon=True),
        threading.Thread(target=keep_last, args=(program.stderr, errors), daemon=True),
    )
    threading.Thread(target=pass_in, args=(program.stdin, flow), daemon=True).start()
    for thread in outputs:
        thread.start()
    program.wait()
    for thread in outputs:
        thread.join(LATE)
    said = f"It said: {errors.decode('utf-8', 'replace')}" if errors else ""
    os.write(2, " ".join([*faults, said, "\n"]).encode())
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # Also what the program has started.
    os._exit(0)  # Threads may wait.


def end_with(parent: int) -> None:
    """End this process together with its parent."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # It has ended already.
            os._exit(0)


def pass_in(program: IO[bytes], flow: Flow) -> None:
    """Pass on our messages, until the end of our input or of the program."""
    try:
        for line in sys.stdin.buffer:
            flow.begin()
            program.write(line)
            program.flush()
        program.close()
    except OSError:
        return  # The program has closed its input: ``pass_out`` sees its end.


def pass_out(program: subprocess.Popen[bytes], flow: Flow, faults: list[str]) -> None:
    """Pass on the program's messages. End it if it sends too much."""
    assert program.stdout
    try:
        while line := program.stdout.readline(LONGEST_MESSAGE + 1):
            if len(line) > LONGEST_MESSAGE:
                raise TooMuch(TOO_LONG)
            flow.add(line)
            if line.startswith(b"{"):  # Otherwise something that the program prints.
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
    except TooMuch as fault:
        faults.append(str(fault))
        program.kill()


def keep_last(program: IO[bytes], errors: bytearray) -> None:
    while data := os.read(program.fileno(), 4_096):
        errors += data
        del errors[:-LATEST]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
