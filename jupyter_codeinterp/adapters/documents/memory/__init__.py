"""The notebook of ``%%ai``, in memory: a kernel does not know the file of its notebook."""

from .document import MemoryDocument

__all__ = ["MemoryDocument"]
