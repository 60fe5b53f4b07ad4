"""A notebook that is nowhere but in memory: its cells are what a front shows of them."""

from .document import MemoryDocument

__all__ = ["MemoryDocument"]
