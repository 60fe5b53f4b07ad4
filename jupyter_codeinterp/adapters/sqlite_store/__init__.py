"""The journal of all sessions in one SQLite file."""

from __future__ import annotations

from .keeping import Keeping
from .store import SqliteStore

__all__ = ["Keeping", "SqliteStore"]
