"""Ports for the kernels of tests.

A server chooses a kernel's ports up to a second before the kernel takes them. Chosen from those
that the system gives to every connection, as jupyter_client does, one of them is now and then
taken in between, and the kernel ends before it has begun. Where so many kernels are started and
so many connections made as by these tests, that is seen. So the ports come from below.
"""

from __future__ import annotations

import random
import socket

from jupyter_client.connect import LocalPortCache

FIRST, LAST = 10_000, 32_000
"""Linux gives connections ports from 32,768 on, others from higher up."""


def keep_apart() -> None:
    """From now on, in this process."""
    LocalPortCache.clear_instance()
    LowPorts.instance()
    assert LocalPortCache.instance() is LowPorts.instance()


class LowPorts(LocalPortCache):
    """One after the other, from anywhere: two servers are hardly at the same place."""

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
