"""Runs code in the process that the agent itself is in, on the thread that its code belongs to.

``kernel`` what the core sees  ← ``capture`` what a run prints and shows  ← ``main_thread`` the
thread, and its interrupts
"""

from .kernel import InProcessKernel
from .main_thread import MainThread

__all__ = ["InProcessKernel", "MainThread"]
