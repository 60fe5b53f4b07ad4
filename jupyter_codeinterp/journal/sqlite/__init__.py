"""The journal of all sessions in one SQLite file."""

from __future__ import annotations

from .retention import Retention
from .store import SqliteStore

__all__ = ["Retention", "SqliteStore"]
