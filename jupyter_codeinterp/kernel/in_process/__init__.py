"""Runs code in the agent's own process, on the thread that the code belongs to.

``kernel`` what the core sees ← ``capture`` outputs of a run ← ``main_thread`` the thread and its
interrupts
"""

from .kernel import InProcessKernel
from .main_thread import MainThread

__all__ = ["InProcessKernel", "MainThread"]
