"""Notebook, files and variables as bounded, tagged text for the model.

The tags mark where untrusted text ends; ``untrusted.py`` keeps that text from forging one. Keys are
removed before a text is cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ..document.ops import PRIVATE, CellView, Output
from ..ports import KernelInfo
from .outputs import see
from .plain_text import cut
from .untrusted import escaped

MOST_FILES = 50

_LINE = 100
"""Characters of a cell's first line, or of a file's name."""
_OUTPUTS = 300
"""Characters of a cell's outputs; `read_notebook` and `read_output` give more."""
_PART = 1_500
"""Characters of a cell that is too long to be shown whole."""
_VARIABLE = 200
_NAME = 210
"""Characters of the name of a variable with that of a column."""

_READ = 20_000
"""Characters searched for the first line that is not blank."""
_MOST_VARIABLES = 1_000
_LONGEST_FACT = 2_000
"""Characters read of one fact about a variable."""

Scrub = Callable[[str], str]


class Item(msgspec.Struct, frozen=True):
    """A cell to show. ``facts`` are attributes besides the cell's own (`change`, `after`)."""

    cell: CellView
    facts: tuple[tuple[str, str], ...] = ()


def tag(name: str, body: str, **facts: str) -> str:
    """Put ``body``, which must be inert, in a tag. Omits facts that are ""."""
    named = "".join(f' {key}="{_quoted(value)}"' for key, value in facts.items() if value)
    inside = f"\n{body}\n" if "\n" in body else body
    return f"<{name}{named}>{inside}</{name}>"


def one_line(text: str, limit: int = _LINE) -> str:
    """The first line that is not blank, inert. ``text`` must be free of keys."""
    return escaped(first_line(text, limit))


def first_line(text: str, limit: int = _LINE) -> str:
    line = next((line.strip() for line in text[:_READ].splitlines() if line.strip()), "")
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def is_private(cell: CellView) -> bool:
    return PRIVATE in cell.tags


# --- cells ---------------------------------------------------------------------------


def cells(
    items: Sequence[Item], own: set[str], active: str, room: int, scrub: Scrub = str
) -> tuple[list[str], set[str]]:
    """Texts of the items in order, and the ids of those with their whole source.

    Every item gets its id and first line if ``room`` (characters) allows. The rest goes to full
    sources, nearest to the active cell first (or to the end without one). If not even the first
    lines fit, the last text counts the omitted cells.
    """
    ids = [item.cell.cell_id for item in items]
    center = ids.index(active) if active in ids else len(ids)
    nearest = sorted(range(len(items)), key=lambda index: (abs(index - center), index))
    texts: dict[int, str] = {}
    left = room
    for index in nearest:
        text = _brief(items[index], own, active, scrub)
        if len(text) + 1 > left - 60:  # the line on what is left out
            break
        texts[index] = text
        left -= len(text) + 1
    whole: set[str] = set()
    for index in nearest:
        if index not in texts or left < _LINE:
            break
        item = items[index]
        for form in (_whole, _part):
            if form is _whole and len(item.cell.source) > room:
                continue
            text = form(item, own, active, scrub)
            if len(text) - len(texts[index]) <= left:
                left -= len(text) - len(texts[index])
                texts[index] = text
                if form is _whole and not is_private(item.cell):
                    whole.add(item.cell.cell_id)
                break
    shown = [texts[index] for index in sorted(texts)]
    if len(texts) < len(items):
        shown.append(f"[{len(items) - len(texts)} more cells; read_notebook shows them]")
    return shown, whole


def _whole(item: Item, own: set[str], active: str, scrub: Scrub) -> str:
    return _cell(item, own, active, scrub(item.cell.source), scrub)


def _part(item: Item, own: set[str], active: str, scrub: Scrub) -> str:
    source = item.cell.source
    lines = str(source.count("\n") + 1)
    shown = cut(scrub(source), _PART)
    return _cell(item, own, active, shown, scrub, lines=lines, shown="part")


def _brief(item: Item, own: set[str], active: str, scrub: Scrub) -> str:
    cell = item.cell
    facts = _facts(item, own, active)
    if is_private(cell):
        return tag("cell", "", **facts)
    # A cell of one line needs no hint; its beginning shows that, however long it is.
    beginning = cell.source[:_READ]
    if len(cell.source) > _LINE or beginning.strip() not in beginning.split("\n")[:1]:
        facts |= {"lines": str(cell.source.count("\n") + 1), "shown": "first line"}
    return tag("cell", one_line(scrub(beginning)), **facts)


def _cell(item: Item, own: set[str], active: str, source: str, scrub: Scrub, **more: str) -> str:
    facts = _facts(item, own, active) | more
    if is_private(item.cell):
        return tag("cell", "", **facts)
    body = escaped(source)
    if item.cell.outputs:
        body = f"{body}\n{tag('outputs', outputs_text(item.cell.outputs, scrub))}"
    return tag("cell", body, **facts)


def _facts(item: Item, own: set[str], active: str) -> dict[str, str]:
    cell = item.cell
    count = cell.execution_count
    return {
        "id": cell.cell_id,
        "type": cell.cell_type,
        "private": "its content is not shown" if is_private(cell) else "",
        "count": "" if count is None else str(count),
        "by": "you" if cell.cell_id in own else "",
        "active": "yes" if cell.cell_id == active else "",
        **dict(item.facts),
    }


def outputs_text(outputs: Sequence[Output], scrub: Scrub) -> str:
    return see(outputs, images_left=None, budget=_OUTPUTS, scrub=scrub, most=_READ).text


# --- kernel, files, variables --------------------------------------------------------


def kernel_text(kernel: KernelInfo | None) -> str:
    if kernel is None:
        return tag("kernel", "none: the notebook has no kernel")
    return tag("kernel", one_line(f"{kernel.language} {kernel.language_version}"))


def file_lines(files: Iterable[tuple[str, int]], scrub: Scrub = str) -> list[str]:
    """Name and size of at most 50 files."""
    return [f"{one_line(scrub(name))} {_size(size)}" for name, size in islice(files, MOST_FILES)]


def variable_lines(variables: Sequence[Any], scrub: Scrub = str) -> dict[str, str]:
    """A line for each variable, by name: `df: DataFrame shape=[3, 2] …`. The kernel may report
    anything."""
    lines: dict[str, str] = {}
    for variable in islice(variables, _MOST_VARIABLES):
        if not isinstance(variable, Mapping):
            continue
        name = str(variable.get("name", ""))[:_NAME]
        facts = [
            f"{key}={_fact(value)}"
            for key, value in islice(variable.items(), 20)
            if key not in ("name", "type") and value not in (None, "", [], {})
        ]
        line = " ".join([f"{name}:", str(variable.get("type", ""))[:_LINE], *facts])
        longest = _VARIABLE + max(0, len(name) - _LINE)
        lines[name] = one_line(scrub(line.replace("\n", " ")), longest)
    return lines


def _fact(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        return "…"
    return text if len(text) <= _LONGEST_FACT else f"{text[:_LONGEST_FACT]}…"


def bounded(lines: Sequence[str], room: int, what: str, total: int = 0) -> str:
    """The lines that fit into ``room`` characters, and a count of the others."""
    kept: list[str] = []
    left = room - 80
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    more = max(total, len(lines)) - len(kept)
    return "\n".join([*kept, f"[{more} more {what}]"] if more else kept)


def _size(size: int) -> str:
    if size < 1_000:
        return f"{size} B"
    if size < 1_000_000:
        return f"{size / 1_000:.0f} kB"
    return f"{size / 1_000_000:,.1f} MB"


def _quoted(value: str) -> str:
    flat = " ".join(value[:_READ].split())[:200]
    return escaped(flat.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;"))
