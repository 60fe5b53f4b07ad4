"""A copy of the kernel's process that sleeps until the kernel wakes it. This file's text runs **in
the kernel**, and in the copy.

A socket leads to each copy. The kernel wakes the copy through it, and then hands over its other
copies: the descriptors that wake and end them. So a copy can also wake one that is younger than
itself. A copy ends when no kernel is left that could wake it. Standard library only.
"""

from __future__ import annotations

import _socket as sockets  # code may have replaced the class of ``socket``
import json
import os
import select
import signal
import struct
from contextlib import suppress
from typing import Any

WAKES = 10.0
"""Seconds that a copy may take to wake."""
LONGEST = 4_096
"""Bytes of a message. Each is one packet."""
TWO = struct.Struct("2i")
"""Descriptors as Linux passes them."""


class Copy:
    """``pid``, a ``handle`` that no other process can get, and the ``channel`` to it."""

    def __init__(self, pid: int, handle: int, channel: sockets.socket) -> None:
        self.pid, self.handle, self.channel = pid, handle, channel

    @property
    def lives(self) -> bool:
        return not select.select([self.handle], [], [], 0)[0]

    def wake(self) -> None:
        with suppress(OSError):  # it has ended: then it does not answer
            self.channel.send(b"w")

    def hand_over(self, lists: dict[str, dict[str, Copy]]) -> None:
        """Give it these copies. They stay ours, too."""
        with suppress(OSError):
            for name, copies in lists.items():
                for key, copy in copies.items():
                    text = json.dumps([name, key, copy.pid]).encode()
                    both = TWO.pack(copy.handle, copy.channel.fileno())
                    rights = (sockets.SOL_SOCKET, sockets.SCM_RIGHTS, both)
                    self.channel.sendmsg([text], [rights])
            self.channel.send(b"null")

    def answer(self) -> str:
        """What it says once it is awake; "" if it says nothing."""
        if not select.select([self.channel], [], [], WAKES)[0]:
            return ""
        try:
            return self.channel.recv(LONGEST).decode(errors="replace")
        except OSError:
            return ""

    def end(self) -> None:
        with suppress(OSError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        with suppress(OSError):  # or it is the child of an earlier kernel
            os.waitpid(self.pid, 0)
        self.forget()

    def forget(self) -> None:
        os.close(self.handle)
        self.channel.close()


def new_copy() -> tuple[Copy | None, sockets.socket]:
    """Fork. In the kernel, this answers with the copy; in the copy, with None and its end of the
    channel. Raises OSError."""
    ours, its = sockets.socketpair(sockets.AF_UNIX, sockets.SOCK_SEQPACKET)
    for channel in (ours, its):
        channel.settimeout(None)  # code may have set one for all sockets
    try:
        pid = os.fork()
    except OSError:
        ours.close()
        its.close()
        raise
    if pid == 0:
        ours.close()
        return None, its
    its.close()
    return Copy(pid, os.pidfd_open(pid), ours), its


def is_woken(channel: sockets.socket) -> bool:
    """Wait, in a copy. False if nobody can wake it any more."""
    with suppress(OSError):
        return channel.recv(1) == b"w"
    return False


def handed_over(channel: sockets.socket) -> dict[str, dict[str, Copy]]:
    """In a copy that wakes: the kernel's other copies, by list and key. Raises OSError, also where
    the kernel has ended."""
    found: dict[str, dict[str, Copy]] = {}
    space = sockets.CMSG_SPACE(TWO.size)
    while True:
        text, rights, _, _ = channel.recvmsg(LONGEST, space, sockets.MSG_CMSG_CLOEXEC)
        if not text:
            raise ConnectionError("the kernel has ended")
        given: Any = json.loads(text)
        if given is None:
            return found
        name, key, pid = given
        handle, number = TWO.unpack(rights[0][2])
        other = sockets.socket(fileno=number)
        other.settimeout(None)
        found.setdefault(name, {})[key] = Copy(pid, handle, other)
