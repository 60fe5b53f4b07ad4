"""Reads a person's commands and skills: ``.codeinterp/commands/NAME.md`` and
``.codeinterp/skills/NAME/SKILL.md`` of a notebook's folder and the folders above it.

Folders and bounds are those of the instruction files (``rule_files.py``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...base.paths import root_of
from ...notebook.rule_file import entries
from ...view import own_command
from ...view.own_command import Kind, OwnCommand
from ...view.rule_files import NOT_READ
from .rule_files import TIMEOUT, folders_of, read_instructions

COMMANDS = ".codeinterp/commands"
SKILLS = ".codeinterp/skills"
SKILL = "SKILL.md"
MOST = 100
"""Files that are read; the nearest come first."""

log = logging.getLogger(__name__)


async def own_commands(contents: Any, notebook: str) -> list[OwnCommand]:
    """The commands and skills of a notebook, those with a defect too. Skips what cannot be read
    in time."""
    found: list[OwnCommand] = []

    async def look() -> None:
        async for kind, name, path in _files(contents, notebook):
            found.append(await _read(contents, kind, name, path))
            if len(found) == MOST:
                log.warning("Read the nearest %d commands and skills of %s", MOST, notebook)
                return

    try:
        await asyncio.wait_for(look(), TIMEOUT)
    except asyncio.TimeoutError:
        log.warning("Reading the commands and skills of %s took too long", notebook)
    return own_command.chosen(found)


async def _files(contents: Any, notebook: str) -> AsyncIterator[tuple[Kind, str, str]]:
    """Kind, name and path of each file, nearest first."""
    for folder in folders_of(notebook):
        start = f"{folder}/" if folder else ""
        for name in await _entries(contents, start + COMMANDS):
            if name.endswith(".md") and not name.startswith("."):
                yield "command", name[: -len(".md")], f"{start}{COMMANDS}/{name}"
        for name in await _entries(contents, start + SKILLS):
            if SKILL in await _entries(contents, f"{start}{SKILLS}/{name}"):
                yield "skill", name, f"{start}{SKILLS}/{name}/{SKILL}"


async def _entries(contents: Any, folder: str) -> list[str]:
    root = root_of(contents)
    if root is not None:
        return await asyncio.to_thread(entries, root, folder)
    try:
        model = await ensure_async(contents.get(folder, content=True, type="directory"))
    except (web.HTTPError, OSError):
        return []
    return sorted(str(entry["name"]) for entry in model["content"])


async def _read(contents: Any, kind: Kind, name: str, path: str) -> OwnCommand:
    text = await read_instructions(contents, path)
    if text is None or text in NOT_READ:
        trouble = own_command.NOT_TEXT if text is None else text[1:-1]
        return OwnCommand(kind, name[:64], path, trouble=trouble)
    return own_command.parsed(kind, name, path, text)
