"""Executes code in a running kernel through the server's kernel manager.

kernel.py     what the core sees, and restarts
run.py        one execution
late.py       outputs that come after it
variables.py  what runs in a Python kernel: lists its variables, guards it, reports what cells did
fresh.py      cells in a new kernel, to verify a notebook
overlay.py    files that a sandboxed kernel has written
link.py       the shared connection to a kernel: idle or busy, and which start
process.py    a kernel process of this machine
unusable.py   a new process for a kernel that cannot run code
wire.py       its ZMQ sockets
"""

from .kernel import KernelPool, KernelSpecs, ZmqKernel
from .link import KernelLink

__all__ = ["KernelLink", "KernelPool", "KernelSpecs", "ZmqKernel"]
