"""A notebook in memory only: its cells are what a front end shows."""

from .document import MemoryDocument

__all__ = ["MemoryDocument"]
