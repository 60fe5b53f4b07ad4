"""Executes code in a running kernel through the server's kernel manager.

``kernel`` what the core sees ← ``run`` one execution, ``variables`` ← ``link`` the connection to
a kernel, idle and start ← ``widgets`` captured outputs ← ``wire`` messages
"""

from .kernel import KernelPool, ZmqKernel

__all__ = ["KernelPool", "ZmqKernel"]
