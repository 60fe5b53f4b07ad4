"""A notebook that a turn has left half-finished says so: in an output of the last cell that the
turn has made or changed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from ...adapters.documents.file import ContentsFile
from ...core.document.ops import id_of
from ...core.errors import DocumentError

SAYS = "[The code interpreter stopped here: {why}]\n"

log = logging.getLogger(__name__)


async def say_where(contents: Any, path: str, cells: Collection[str], why: str) -> None:
    """``cells`` are ids. Nothing is said where the last of them has been interrupted, which says
    so already, and nothing in a notebook that cannot be written."""

    async def is_elsewhere(path: str) -> bool:
        return False

    file = ContentsFile(contents, lambda: path, is_elsewhere)
    try:
        notebook, _ = await file.read()
        last = next((one for one in reversed(notebook["cells"]) if id_of(one) in cells), None)
        if last is None or last.get("cell_type") != "code" or _interrupted(last):
            return
        said = {"output_type": "stream", "name": "stderr", "text": SAYS.format(why=why)}
        last["outputs"] = [*last.get("outputs", []), said]
        await file.write(notebook)
    except DocumentError as error:
        log.warning("%s does not say where it is half-finished: %s", path, error.message)


def _interrupted(cell: dict[str, Any]) -> bool:
    names = [one.get("ename") for one in cell.get("outputs", []) if isinstance(one, dict)]
    return "KeyboardInterrupt" in names[-1:]
