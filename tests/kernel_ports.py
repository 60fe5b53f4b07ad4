"""Ports for the kernels of tests.

A server chooses a kernel's ports up to a second before the kernel takes them. Chosen from those
that the system gives to every connection, as jupyter_client does, one of them is now and then
taken in between, and the kernel ends before it has begun. Where so many kernels are started and
so many connections made as by these tests, that is seen. So the ports come from below.
"""

from __future__ import annotations

import os
import random
import re
import socket

from jupyter_client.connect import LocalPortCache

SLICE = 4_000


def own() -> tuple[int, int]:
    """The first port, and the one after the last: a slice for each of pytest's workers, with the
    servers that it starts, and one for all others, such as the browser tests'. Linux gives
    connections ports from 32,768 on, others from higher up."""
    worker = re.fullmatch(r"gw([0-3])", os.environ.get("PYTEST_XDIST_WORKER", ""))
    if worker is None:
        return 26_000, 32_000
    first = 10_000 + int(worker[1]) * SLICE
    return first, first + SLICE


FIRST, LAST = own()


def keep_apart() -> None:
    """From now on, in this process."""
    LocalPortCache.clear_instance()
    LowPorts.instance()
    assert LocalPortCache.instance() is LowPorts.instance()


class LowPorts(LocalPortCache):
    """One after the other, from anywhere in the slice: two servers in one are hardly at the same
    place."""

    last = random.randrange(FIRST, LAST)

    def find_available_port(self, ip: str) -> int:
        while True:
            LowPorts.last = FIRST + (LowPorts.last + 1 - FIRST) % (LAST - FIRST)
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((ip, LowPorts.last))
                except OSError:
                    continue
            self.currently_used_ports.add(LowPorts.last)
            return LowPorts.last
