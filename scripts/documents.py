"""Documents whose tables are made by a command."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path

END = "<!-- end -->"


def made_by(command: str, facts: Sequence[str], packages: Sequence[str]) -> str:
    """A line that says what made a table, when, and on which machine. ``facts`` come first."""
    versions = [f"{name} {version(name)}" for name in packages]
    machine = f"{platform.system()} {platform.machine()}"
    said = [*facts, machine, f"Python {platform.python_version()}", *versions]
    return f"`{command}`, {date.today():%d %B %Y}: {', '.join(said)}."


def cores() -> str:
    return f"{os.cpu_count()} cores"


def renew(document: Path, command: str, text: str) -> None:
    """Put ``text`` between the two marks that name the command."""
    begin = f"<!-- begin: {command} --write -->"
    old = document.read_text(encoding="utf-8")
    marked = re.compile(f"{re.escape(begin)}.*?{re.escape(END)}", re.DOTALL)
    new = marked.sub(lambda _: f"{begin}\n\n{text}\n\n{END}", old)
    document.write_text(new, encoding="utf-8")
