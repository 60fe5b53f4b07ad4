"""Executes code in a running kernel through the server's kernel manager.

``kernel`` what the core sees, and restarts ← ``run`` one execution, ``variables``, ``tables`` ←
``link`` the connection to a kernel, idle and start ← ``widgets`` captured outputs ←
``process`` and ``wire``: a kernel of this machine
"""

from .kernel import KernelPool, ZmqKernel
from .link import KernelLink

__all__ = ["KernelLink", "KernelPool", "ZmqKernel"]
