"""As a program: the socket that hears what a kernel publishes, as it is made, on kernels that
publish as fast as they can and end in the middle of it, one after the other at the same ports, for
the seconds that are given. It prints how many messages came.

What libzmq does not survive, it takes the process with: so this is one of its own.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time

import zmq
from jupyter_client.manager import AsyncKernelManager

from jupyter_codeinterp.kernel.wire import KernelMessage
from jupyter_codeinterp.kernel.zmq.wire import ZmqWire, new_context

LIFE = 0.13
"""Seconds of one kernel. A client connects again after a tenth of a second."""
PARTS = [b"stream.stdout", b"<IDS|MSG>", b"x" * 64, *[b"{}" * 20] * 3, b"c" * 100]


def publish(port: int, until: float) -> None:
    while time.monotonic() < until:
        with zmq.Context() as context:
            socket = context.socket(zmq.PUB)
            socket.bind(f"tcp://127.0.0.1:{port}")
            ends = time.monotonic() + LIFE
            while time.monotonic() < ends:
                for _ in range(50):
                    socket.send_multipart(PARTS)
            socket.close(linger=0)


def _nothing(message: KernelMessage) -> None:
    pass


async def listen(seconds: float) -> int:
    manager = AsyncKernelManager()
    for name in ("shell", "control", "iopub", "stdin", "hb"):
        with zmq.Context() as context, context.socket(zmq.DEALER) as probe:
            setattr(manager, f"{name}_port", probe.bind_to_random_port("tcp://127.0.0.1"))
    wire = ZmqWire(manager, new_context(), _nothing)
    for task in wire._tasks:
        task.cancel()
    until = time.monotonic() + seconds
    kernels = threading.Thread(target=publish, args=(manager.iopub_port, until), daemon=True)
    kernels.start()
    # Faster than the event loop, so that a message is being read when the end comes.
    socket: zmq.Socket[bytes] = zmq.Socket.shadow(wire._iopub.underlying)
    heard = 0
    while time.monotonic() < until:
        if socket.poll(20):
            try:
                while True:
                    socket.recv_multipart(zmq.NOBLOCK)
                    heard += 1
            except zmq.Again:
                pass
    kernels.join()
    wire.close()
    return heard


if __name__ == "__main__":
    print(asyncio.run(listen(float(sys.argv[1]))))
