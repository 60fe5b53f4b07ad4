"""The MCP servers that are named for a notebook: by the admin, by the person's file in the data
folder, and by ``.codeinterp/mcp.json`` in the notebook's folder and those above.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

import msgspec

from ...adapters.rule_file import read_file
from ...core.model_view.rule_files import NOT_READ
from ...core.visible import visible_line
from ...server.files.paths import root_of
from ...server.files.rule_files import folders_of, read_instructions
from .entries import BadFile, Entry, entries, parsed

PROJECT = ".codeinterp/mcp.json"
PERSONAL = "mcp-servers.json"
TIMEOUT = 1.0
"""Seconds for all files, because a drive may be slow."""
SLOW = (
    f"Reading the files that name MCP servers took more than {TIMEOUT:g} s. Some are missing here."
)


class Found(msgspec.Struct, frozen=True):
    """An entry and where it comes from: ``admin``, ``person``, or the path of a file."""

    entry: Entry
    place: str


class _File(msgspec.Struct, frozen=True):
    """``folder``: the base of its relative paths; None if it cannot be resolved."""

    place: str
    text: str
    folder: Union[str, None]


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

    async def found(self, notebook: str, contents: Any = None) -> tuple[list[Found], list[str]]:
        """The servers of a notebook, and the faults of files. Of equal names the admin's wins, then
        the nearest file's, then the person's."""
        found: dict[str, Found] = {}
        faults: list[str] = []

        def add(place: str, make: Callable[[], list[Entry]]) -> None:
            try:
                for entry in make():
                    found.setdefault(entry.name, Found(entry, place))
            except BadFile as error:
                faults.append(f"{visible_line(place)}: {error}.")

        if self._admins:
            add("admin", lambda: entries(self._admins, self._home))
        if self._others:
            read, in_time = await self._read(notebook, contents or self._contents)
            for file in read:
                add(file.place, lambda file=file: _parsed(file))  # type: ignore[misc]
            if not in_time:
                faults.append(SLOW)
        return list(found.values()), faults

    async def _read(self, notebook: str, contents: Any) -> tuple[list[_File], bool]:
        """The files that could be read in time, nearest first, and whether these are all."""
        found: list[_File] = []
        root = root_of(contents)

        async def look() -> None:
            for folder in folders_of(notebook):
                path = f"{folder}/{PROJECT}" if folder else PROJECT
                text = await read_instructions(contents, path)
                if text is not None:
                    found.append(_File(path, text, await asyncio.to_thread(_whole, root, folder)))
            own = await asyncio.to_thread(read_file, self._folder, PERSONAL)
            if own is not None:
                found.append(_File("person", own, self._home))

        try:
            await asyncio.wait_for(look(), TIMEOUT)
        except asyncio.TimeoutError:
            return found, False
        return found, True


def _parsed(file: _File) -> list[Entry]:
    """Raises BadFile."""
    if file.text in NOT_READ:
        raise BadFile(file.text[1:-1])
    if file.folder is None:
        raise BadFile("its folder cannot be found; the links to it may form a loop")
    return parsed(file.text, file.folder)


def _whole(root: Union[Path, None], folder: str) -> Union[str, None]:
    """The folder without links: the same for every server and the command line. None as in
    ``_File``."""
    try:
        return str((root / folder).resolve() if root is not None else Path.home())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13.
        return None
