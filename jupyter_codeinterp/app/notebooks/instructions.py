"""Reads and saves a person's instructions: ``AGENTS.md``, ``.codeinterp/rules.md`` and
``.codeinterp/skills/NAME/SKILL.md``, in a notebook's folder and the folders above it.

Jupyter's contents managers refuse hidden files by default and follow links, so the files are read
from the disk. Those of a contents manager elsewhere are not read.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from tornado import web

from ...base.paths import root_of
from ...notebook.rule_file import HIDDEN, OPEN, entries, read_file
from ...sandbox.shared import open_folders
from ...view.rule_files import NOT_READ, RuleFile
from ...view.skills import NOT_TEXT, Skill, nearest, parsed

SKILLS = ".codeinterp/skills"
SKILL = "SKILL.md"
MOST_SKILLS = 100
"""Skills that are read; the nearest come first."""
MAX_FOLDERS = 10
"""The notebook's folder and the nearest above it."""
TIMEOUT = 1.0
"""Seconds for all files, because a drive may be slow."""

log = logging.getLogger(__name__)
_Found = TypeVar("_Found")


async def rule_files(contents: Any, notebook: str) -> list[RuleFile]:
    """The instruction files from the root down."""
    return (await _read_in_time(contents, notebook, _rule_files))[::-1]


async def skills(contents: Any, notebook: str) -> list[Skill]:
    """The skills of a notebook, those with a defect too."""
    return nearest(await _read_in_time(contents, notebook, _skills))


async def _read_in_time(
    contents: Any, notebook: str, read: Callable[[Path, str], Iterator[_Found]]
) -> list[_Found]:
    """What ``read`` yields within the time limit."""
    root = root_of(contents)
    found: list[_Found] = []
    if root is None:
        return found

    def look() -> None:
        for one in read(root, notebook):
            found.append(one)

    try:
        await asyncio.wait_for(asyncio.to_thread(look), TIMEOUT)
    except asyncio.TimeoutError:
        log.warning("Reading the instructions for %s took too long", notebook)
    return list(found)


def _rule_files(root: Path, notebook: str) -> Iterator[RuleFile]:
    for folder in _folders_of(notebook):
        for name in (HIDDEN, OPEN):  # The caller reverses the order: the nearest file wins.
            text = read_file(root, folder + name)
            if text is not None:
                yield folder + name, text


def _skills(root: Path, notebook: str) -> Iterator[Skill]:
    paths = (
        (name, f"{folder}{SKILLS}/{name}/{SKILL}")
        for folder in _folders_of(notebook)
        for name in entries(root, folder + SKILLS)
        if SKILL in entries(root, f"{folder}{SKILLS}/{name}")
    )
    for name, path in islice(paths, MOST_SKILLS):
        text = read_file(root, path)
        if text is None or text in NOT_READ:
            trouble = NOT_TEXT if text is None else text[1:-1]
            yield Skill(name[:64], path, trouble=trouble)
        else:
            yield parsed(name, path, text)


def _folders_of(notebook: str) -> Iterator[str]:
    """The notebook's folder and those above it, nearest first, each "" or with a final slash."""
    parts = notebook.strip("/").split("/")[:-1]
    for count in range(len(parts), max(-1, len(parts) - MAX_FOLDERS), -1):
        yield "".join(f"{part}/" for part in parts[:count])


def before_save(*, model: dict[str, Any], path: str, contents_manager: Any, **_: Any) -> None:
    """The pre-save hook of Jupyter's contents manager. It refuses a save that a sandboxed kernel
    could redirect. Instructions saved through the server are the person's, because such a kernel
    cannot reach the server. Raises HTTPError."""
    root = root_of(contents_manager)
    if root is None:
        return
    path = path.strip("/")
    if why := open_folders.refusal(root, path):
        raise web.HTTPError(409, f"{path} was not saved: {why}")
    text, there = model.get("content"), Path(os.path.realpath(contents_manager._get_os_path(path)))
    if open_folders.takes_instructions(there) and isinstance(text, str) and "chunk" not in model:
        as_text = model.get("format") == "text"
        open_folders.confirm(there, text.encode() if as_text else base64.b64decode(text))
