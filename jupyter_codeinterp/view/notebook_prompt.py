"""Notebook, files and variables as bounded, tagged text for the model.

Tags enclose untrusted text; ``untrusted.py`` keeps it from forging one. Keys are
removed before a text is cut.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any

import msgspec

from ..wire.ops import PRIVATE, CellView, Output
from ..wire.ports import KernelInfo, KernelState
from .outputs import see
from .untrusted import escaped

MOST_FILES = 50

_LINE = 100
"""Characters of a cell's line, or of a file's name."""
_SHORTEST_LINE = 60
"""Characters of a cell's line in the outline of a large notebook."""
_OUTPUTS = 300
"""Characters of a cell's outputs; `read_notebook` and `read_output` give more."""
_VARIABLE = 200
_PACKAGES = 600
_HEAD, _HEADS = 400, 2_500
"""Characters of the description of a table in a file or of a folder, and of all of them."""
_NAME = 210
"""Characters of the names of a variable and a column together."""

_READ = 20_000
"""Characters searched for the first line that is not blank."""
_MOST_VARIABLES = 1_000
_LONGEST_FACT = 2_000
"""Characters read of one fact about a variable."""

Scrub = Callable[[str], str]


class Item(msgspec.Struct, frozen=True):
    """A cell to show. ``place``: 1 is the top. ``facts`` are attributes besides the cell's own
    (`change`, `after`)."""

    cell: CellView
    place: int
    facts: tuple[tuple[str, str], ...] = ()


class Marks(msgspec.Struct, frozen=True):
    """Ids of the agent's cells, of the active one, and of those that ran in an earlier kernel."""

    own: Set[str] = frozenset()
    active: str = ""
    earlier: Set[str] = frozenset()


def earlier(cells: Iterable[CellView], state: KernelState) -> frozenset[str]:
    """Ids of cells whose execution count is not from a run of this source in this kernel."""
    return frozenset(c.cell_id for c in cells if state.lacks(c.source, c.execution_count))


def count_text(cell: CellView, earlier: Container[str]) -> str:
    """``7``, or ``7, not in this kernel``; "" for a cell that has not run."""
    count = "" if cell.execution_count is None else str(cell.execution_count)
    return f"{count}, not in this kernel" if cell.cell_id in earlier else count


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


PLACES = (
    '[place: from 1 at the top, "cell 7". count: of the run, "[7]". The person may mean either: '
    "say which one you took.]"
)
_OUTLINE = "[place, id, [count], then the first line]"
_GAP = 60
"""Characters of a line for cells that are left out."""


def cells(
    items: Sequence[Item], marks: Marks, room: int, scrub: Scrub = str
) -> tuple[list[str], set[str]]:
    """Texts of the items in order, and the ids of those with their whole source.

    Every item has a line in an outline if ``room`` (characters) allows, headings first. The rest
    goes to full sources, nearest to the active cell first (or to the end without one). A line
    stands for each run of cells that has no room.
    """
    ids = [item.cell.cell_id for item in items]
    center = ids.index(marks.active) if marks.active in ids else len(ids)
    nearest = sorted(range(len(items)), key=lambda index: (abs(index - center), index))
    longest = max(_SHORTEST_LINE, min(_LINE, room * 6 // 10 // max(1, len(items))))
    left = room - len(_OUTLINE) - 2 * _GAP
    lines: dict[int, str] = {}
    headings = [index for index in nearest if _is_heading(items[index])]
    for index in dict.fromkeys((*headings, *nearest)):
        line = _outlined(items[index], marks, longest, scrub)
        cost = len(line) + (1 if {index - 1, index + 1} & lines.keys() else _GAP)
        if cost > left:
            break
        lines[index] = line
        left -= cost
    texts: dict[int, str] = {}
    whole: set[str] = set()
    for index in nearest:
        if index not in lines or left < _LINE:
            break
        item = items[index]
        if len(item.cell.source) > room:
            continue
        text = _cell(item, marks, scrub)
        cost = len(text) - len(lines[index]) + len("<outline>\n\n</outline>")
        if cost <= left:
            left -= cost
            texts[index] = text
            if not is_private(item.cell):
                whole.add(item.cell.cell_id)
    return list(_in_order(items, lines, texts)), whole


def _in_order(items: Sequence[Item], lines: dict[int, str], texts: dict[int, str]) -> Iterator[str]:
    """The texts, between them outlines, and a line for each run that has neither."""
    explained = False
    kinds = [2 if index in texts else int(index in lines) for index in range(len(items))]
    for kind, indices in groupby(range(len(items)), kinds.__getitem__):
        run = list(indices)
        if kind == 2:
            yield from (texts[index] for index in run)
        elif kind == 1:
            head = () if explained else (_OUTLINE,)
            explained = True
            yield tag("outline", "\n".join([*head, *(lines[index] for index in run), ""]).rstrip())
        else:
            places = f"{items[run[0]].place} to {items[run[-1]].place}"
            yield f"[{len(run)} more cells, places {places}: read_notebook shows them]"


def _is_heading(item: Item) -> bool:
    return item.cell.cell_type == "markdown" and item.cell.source.lstrip()[:1] == "#"


def _outlined(item: Item, marks: Marks, longest: int, scrub: Scrub) -> str:
    """One line: `7 c0ffee [12] df = pd.read_csv("a.csv")`."""
    cell, facts = item.cell, _facts(item, marks)
    count = facts.pop("count")
    more = [f'{key}="{_quoted(facts[key])}"' for key in ("by", "active", *dict(item.facts))]
    start = [str(item.place), _quoted(cell.cell_id), f"[{count}]" if count else ""]
    head = " ".join(filter(None, [*start, *(one for one in more if not one.endswith('=""'))]))
    if is_private(cell):
        return f"{head} private: its content is not shown"
    return f"{head} {one_line(scrub(cell.source[:_READ]), max(20, longest - len(head)))}"


def _cell(item: Item, marks: Marks, scrub: Scrub) -> str:
    return cell_tag(item.cell, scrub(item.cell.source), scrub, _OUTPUTS, _facts(item, marks))


def cell_tag(cell: CellView, source: str, scrub: Scrub, room: int, facts: Mapping[str, str]) -> str:
    """``room``: characters of the outputs; 0 leaves them out."""
    if is_private(cell):
        return tag("cell", "", **{**facts, "private": "its content is not shown"})
    body = escaped(source)
    if room and cell.outputs:
        body = f"{body}\n{tag('outputs', outputs_text(cell.outputs, scrub, room))}"
    return tag("cell", body, **facts)


def _facts(item: Item, marks: Marks) -> dict[str, str]:
    cell = item.cell
    return {
        "id": cell.cell_id,
        "place": str(item.place),
        "type": cell.cell_type,
        "private": "its content is not shown" if is_private(cell) else "",
        "count": count_text(cell, marks.earlier),
        "by": "you" if cell.cell_id in marks.own else "",
        "active": "yes" if cell.cell_id == marks.active else "",
        **dict(item.facts),
    }


def outputs_text(outputs: Sequence[Output], scrub: Scrub, room: int = _OUTPUTS) -> str:
    return see(outputs, images_left=None, budget=room, scrub=scrub, most=_READ).text


# --- kernel, files, variables --------------------------------------------------------


NONE = "none: the notebook has no kernel; shown outputs are from before"
DEAD = "dead: it has died with its variables; shown outputs are from before"
BUSY = "busy: a cell runs in it"
NEW = "New kernel: no cell has run in it"
EARLIER = "; shown outputs are from before"


def kernel_text(kernel: KernelInfo | None, state: KernelState, outputs: bool = True) -> str:
    """``outputs``: whether cells show some."""
    if state.dead or kernel is None:
        return tag("kernel", DEAD if state.dead else NONE)
    words = BUSY if state.busy else "idle"
    if state.cells_run is not None and not state.busy:
        last = f"idle; its last execution number is {state.cells_run}"
        words = last if state.cells_run else f"{NEW}{EARLIER if outputs else ''}"
    return tag("kernel", f"{one_line(f'{kernel.language} {kernel.language_version}')}. {words}")


def packages_text(packages: Mapping[str, str]) -> list[str]:
    there = ", ".join(f"{name} {_short(version)}" for name, version in packages.items() if version)
    absent = ", ".join(name for name, version in packages.items() if not version)
    parts = (there, f"not installed: {absent}" if absent else "")
    words = "; ".join(filter(None, parts))
    return [tag("packages", one_line(words, _PACKAGES))] if words else []


def _short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def file_lines(
    files: Iterable[tuple[str, int]],
    scrub: Scrub = str,
    heads: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Name and size of at most 50 files; of a folder the name. ``heads``: descriptions of the
    tables and folders among them."""
    lines, room = [], _HEADS
    for name, size in islice(files, MOST_FILES):
        line = one_line(scrub(name))
        if not name.endswith("/"):
            line = f"{line} {_size(size)}"
        head = one_line(scrub(heads.get(name, "")[:_READ]), _HEAD)
        if head and len(head) <= room:
            line, room = f"{line}: {head}", room - len(head)
        lines.append(line)
    return lines


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
