"""Marks the last cell of an unfinished turn with an output."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from ...adapters.documents.file import ContentsFile
from ...core.document.ops import id_of
from ...core.errors import DocumentError

MARK = "[The code interpreter stopped here: {why}]\n"

log = logging.getLogger(__name__)


async def mark_unfinished(contents: Any, path: str, cells: Collection[str], why: str) -> None:
    """Add an output with the reason ``why`` to the last of ``cells`` (ids).

    Skips an interrupted cell, which already shows that, and an unwritable notebook.
    """

    async def is_elsewhere(path: str) -> bool:
        return False

    file = ContentsFile(contents, lambda: path, is_elsewhere)
    try:
        reading = await file.read()
        notebook = reading.notebook
        last = next((one for one in reversed(notebook["cells"]) if id_of(one) in cells), None)
        if last is None or last.get("cell_type") != "code" or _interrupted(last):
            return
        mark = {"output_type": "stream", "name": "stderr", "text": MARK.format(why=why)}
        last["outputs"] = [*last.get("outputs", []), mark]
        await file.write(notebook, reading)
    except DocumentError as error:
        log.warning("Could not mark the unfinished cell in %s: %s", path, error.message)


def _interrupted(cell: dict[str, Any]) -> bool:
    names = [one.get("ename") for one in cell.get("outputs", []) if isinstance(one, dict)]
    return "KeyboardInterrupt" in names[-1:]
