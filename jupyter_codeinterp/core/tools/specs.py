"""The tools that change the notebook or ask the person, and the titles of their cards."""

from __future__ import annotations

from typing import Union

import msgspec

from .base import Tool

TITLE_LENGTH = 60
"""Characters of a card's title."""


class RunCell(msgspec.Struct, frozen=True):
    source: str
    title: Union[str, None] = None
    after_cell_id: Union[str, None] = None


class EditCell(msgspec.Struct, frozen=True):
    cell_id: str
    source: str
    title: Union[str, None] = None


class AddMarkdown(msgspec.Struct, frozen=True):
    source: str
    after_cell_id: Union[str, None] = None


class DeleteCell(msgspec.Struct, frozen=True):
    cell_id: str


class AskUser(msgspec.Struct, frozen=True):
    question: str
    options: Union[tuple[str, ...], None] = None


_TITLE = {"type": "string", "description": "What the cell does, at most 60 characters."}
_CELL = {"type": "string", "description": "Id of a cell."}
_AFTER = {"type": "string", "description": "Id of the cell to insert after."}

RUN_CELL = Tool(
    "run_cell",
    "",
    "Insert a new code cell, have it reviewed, run it in the live kernel, and get its "
    "outputs. Goes after your last cell of this turn, at first where the person is, unless "
    "after_cell_id says otherwise; but always below cells that define what it uses.",
    RunCell,
    {
        "title": _TITLE,
        "after_cell_id": _AFTER,
        "source": {"type": "string", "description": "The code."},
    },
    ("source",),
    effect="changes",
)
EDIT_CELL = Tool(
    "edit_cell",
    "",
    "Replace the whole source of an existing cell, have the change reviewed, and run it if "
    "it is code. This is how to mend a cell that failed.",
    EditCell,
    {
        "title": _TITLE,
        "cell_id": _CELL,
        "source": {"type": "string", "description": "The whole new source."},
    },
    ("cell_id", "source"),
    effect="changes",
)
ADD_MARKDOWN = Tool(
    "add_markdown",
    "Write text",
    "Insert a Markdown cell.",
    AddMarkdown,
    {
        "after_cell_id": _AFTER,
        "source": {"type": "string", "description": "Markdown, without raw HTML."},
    },
    ("source",),
    effect="changes",
)
DELETE_CELL = Tool(
    "delete_cell",
    "Delete a cell",
    "Delete a cell.",
    DeleteCell,
    {"cell_id": _CELL},
    ("cell_id",),
    effect="changes",
)
ASK_USER = Tool(
    "ask_user",
    "Ask a question",
    "Ask the person a question and wait for the answer.",
    AskUser,
    {"question": {"type": "string"}, "options": {"type": "array", "items": {"type": "string"}}},
    ("question",),
    effect="asks",
)
WRITING_TOOLS = frozenset({"run_cell", "edit_cell", "add_markdown"})
"""Tools whose ``source`` streams into the notebook while it is written."""


def title_so_far(title: object, source: str) -> str:
    """The card's name while ``source`` is being written; "" until it is known."""
    given = isinstance(title, str) and bool(title.strip())
    whole_lines, _, _ = source.rpartition("\n")
    return title_of(title, whole_lines) if given or whole_lines.strip() else ""


def title_of(title: object, source: str) -> str:
    """The card's name: the title, else the first comment or line of the source."""
    text = title if isinstance(title, str) and title.strip() else ""
    if not text:
        lines = (line.strip() for line in source.splitlines())
        text = next((line for line in lines if line and not line.startswith("%%")), "")
        text = text.lstrip("#").strip() or "Cell"
    text = " ".join(text.split())
    return text if len(text) <= TITLE_LENGTH else text[: TITLE_LENGTH - 1] + "…"
