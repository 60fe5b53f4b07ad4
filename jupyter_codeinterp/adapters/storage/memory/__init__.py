"""A journal that ends with its process, for conversations that nobody resumes."""

from .store import MemoryStore

__all__ = ["MemoryStore"]
