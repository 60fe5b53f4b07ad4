"""The MCP servers that are named for a notebook: by the admin, by the person's file in the data
folder, and by ``.codeinterp/mcp.json`` in the notebook's folder and those above.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...app.notebooks.rule_files import folders_of, read_instructions
from ...base.paths import root_of
from ...base.visible import visible_line
from ...notebook.rule_file import read_file
from ...view.rule_files import NOT_READ
from .entries import BadFile, ServerEntry, entries, parsed

PROJECT = ".codeinterp/mcp.json"
PERSONAL = "mcp-servers.json"
TIMEOUT = 1.0
"""Seconds for all files, because a drive may be slow."""
SLOW = (
    f"Reading the files that name MCP servers took more than {TIMEOUT:g} s. Some are missing here."
)


class Places:
    def __init__(
        self, contents: Any, folder: Path, admins: Mapping[str, Any], others: bool
    ) -> None:
        """``folder`` holds the person's file. ``admins``: the admin's servers. ``others``: whether
        files may name more."""
        self._contents = contents
        self._folder = folder
        self._admins = admins
        self._others = others
        self._home = str(Path.home())

    async def found(
        self, notebook: str, contents: Any = None
    ) -> tuple[list[ServerEntry], list[str]]:
        """The servers of a notebook, and the faults of files. Of equal names the admin's wins, then
        the nearest file's, then the person's."""
        found: dict[str, ServerEntry] = {}
        faults: list[str] = []
        contents = contents or self._contents
        root = root_of(contents)

        def add(place: str, text: str, folder: str | None) -> None:
            try:
                for entry in _parsed(text, folder, place):
                    found.setdefault(entry.name, entry)
            except BadFile as error:
                faults.append(f"{visible_line(place)}: {error}.")

        async def read() -> None:
            for folder in folders_of(notebook):
                path = f"{folder}/{PROJECT}" if folder else PROJECT
                text = await read_instructions(contents, path)
                if text is not None:
                    add(path, text, await asyncio.to_thread(_whole, root, folder))
            own = await asyncio.to_thread(read_file, self._folder, PERSONAL)
            if own is not None:
                add("person", own, self._home)

        try:
            admins = entries(self._admins, self._home, "admin")
            found.update((entry.name, entry) for entry in admins)
        except BadFile as error:
            faults.append(f"admin: {error}.")
        if self._others:
            try:
                await asyncio.wait_for(read(), TIMEOUT)
            except asyncio.TimeoutError:
                faults.append(SLOW)
        return list(found.values()), faults


def _parsed(text: str, folder: str | None, place: str) -> list[ServerEntry]:
    """``folder``: the base of relative paths; None if it cannot be resolved. Raises BadFile."""
    if text in NOT_READ:
        raise BadFile(text[1:-1])
    if folder is None:
        raise BadFile("its folder cannot be found; the links to it may form a loop")
    return parsed(text, folder, place)


def _whole(root: Path | None, folder: str) -> str | None:
    """The folder without links: the same for every server and the command line. None if it cannot
    be resolved."""
    try:
        return str((root / folder).resolve() if root is not None else Path.home())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13.
        return None
