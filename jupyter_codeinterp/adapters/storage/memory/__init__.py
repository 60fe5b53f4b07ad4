"""A journal that ends with its process, for conversations that nobody takes up again."""

from .store import MemoryStore

__all__ = ["MemoryStore"]
