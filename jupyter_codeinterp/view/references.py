"""Describes the references of a message: variables, columns, cells, files, the last error.

The text is untrusted: inert, without keys, bounded, and between the delimiters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..wire.events import Reference
from ..wire.ops import CellView, Snapshot, called
from .notebook_prompt import file_lines, is_private, one_line, outputs_text, variable_lines
from .outputs import see
from .plain_text import cut
from .untrusted import Untrusted, escaped

PART = 4_000
"""Characters of a cell's source, or of an error."""
ALL = 12_000
"""Characters of all references of one message: some 3,000 tokens."""
BEGINNING = "[The message names what follows"
"""First words of the text, which tell it from the person's words."""
_HEADING = f"{BEGINNING}. Between the delimiters stands what that is now.]"
_ERROR = "error"

Files = Sequence[tuple[str, int]]


class Named(msgspec.Struct, frozen=True):
    """``text`` is for the model, "" without references. ``missing``: names of missing things, for
    the person. ``whole``: ids of cells whose full source is in the text."""

    text: str = ""
    missing: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


class _Described(msgspec.Struct, frozen=True):
    """One reference. ``text`` is inert; ``brief`` replaces it if there is no room."""

    text: str
    brief: str
    missing: str = ""
    whole: str = ""


def named(
    references: Sequence[Reference],
    snapshot: Snapshot,
    variables: list[dict[str, Any]] | None,
    files: Files,
    untrusted: Untrusted,
    seen: Mapping[str, str] = {},
) -> Named:
    """``variables``: the referenced ones, None if they cannot be read. ``files``: names and sizes
    (bytes) of files beside the notebook. ``seen``: our own words on some files, by name."""
    if not references:
        return Named()
    parts: list[_Described] = []
    left = ALL
    for reference in references:
        if reference.kind in ("variable", "column"):
            part = _variable(reference, variables, untrusted.scrub)
        elif reference.kind == "cell":
            part = _cell(reference.name, snapshot, untrusted.scrub)
        elif reference.kind == "file":
            part = _file(reference.name, files, untrusted.scrub, seen.get(reference.name, ""))
        else:
            part = _last_error(snapshot, untrusted.scrub)
        if len(part.text) > left:
            part = _Described(f"{part.brief}: left out for its length", "", part.missing)
        left -= len(part.text)
        parts.append(part)
    body = "\n\n".join(part.text for part in parts)
    return Named(
        f"{_HEADING}\n{untrusted.quoted(body)}",
        tuple(part.missing for part in parts if part.missing),
        tuple(part.whole for part in parts if part.whole),
    )


def _variable(
    reference: Reference, variables: list[dict[str, Any]] | None, scrub: Callable[[str], str]
) -> _Described:
    """A variable or a column."""
    kind, name = reference.kind, reference.name
    what = f"{kind} {one_line(scrub(name))}"
    if variables is None:
        words = f"{what}: not available, because the kernel is busy or missing"
        return _Described(words, what, f"{what} (the kernel is busy or missing)")
    line = variable_lines(variables, scrub).get(name)
    if line is None:
        return _Described(f"{what}: not in the kernel", what, what)
    return _Described(f"{kind} {line}", what)


def _cell(cell_id: str, snapshot: Snapshot, scrub: Callable[[str], str]) -> _Described:
    cell = snapshot.cell(cell_id)
    if cell is None:
        what = f"cell {one_line(scrub(cell_id))}"
        return _Described(f"{what}: no longer in the notebook", what, what)
    what = _called(cell, snapshot)
    if is_private(cell):
        return _Described(f"{what}: it is private, and its content is not shown", what)
    source = scrub(cell.source)
    text = f"{what}:\n{escaped(cut(source, PART))}"
    if cell.outputs:
        text = f"{text}\nIts outputs:\n{outputs_text(cell.outputs, scrub)}"
    return _Described(text, what, whole=cell_id if len(source) <= PART else "")


def _file(name: str, files: Files, scrub: Callable[[str], str], seen: str) -> _Described:
    what = f"file {one_line(scrub(name), 300)}"
    size = next((size for known, size in files if known == name), None)
    if size is None:
        return _Described(f"{what}: not in the notebook's folder", what, what)
    if name.endswith("/"):
        return _Described(f"folder next to the notebook: {one_line(scrub(name), 300)}", what)
    line = f"file next to the notebook: {file_lines([(name, size)], scrub)[0]}"
    return _Described(f"{line}: {seen}" if seen else line, what)


def _last_error(snapshot: Snapshot, scrub: Callable[[str], str]) -> _Described:
    """The error of the failed cell that ran last."""
    failed = [
        (cell.execution_count or 0, index, cell)
        for index, cell in enumerate(snapshot.cells)
        if not is_private(cell) and any(_is_error(output) for output in cell.outputs)
    ]
    if not failed:
        return _Described("the last error: no cell shows one", "the last error", "the last error")
    *_, cell = max(failed, key=lambda one: one[:2])
    errors = [output for output in cell.outputs if _is_error(output)]
    text = see(errors[-1:], images_left=None, budget=PART, scrub=scrub).text
    what = f"the last error, of {_called(cell, snapshot)}"
    return _Described(f"{what}:\n{text}", what)


def _is_error(output: dict[str, Any]) -> bool:
    return output.get("output_type") == _ERROR


def _called(cell: CellView, snapshot: Snapshot) -> str:
    """The name of a cell: its execution count, id and type."""
    name = called(snapshot.cells.index(cell) + 1, cell.execution_count)
    return f"{name} ({one_line(cell.cell_id)}, {one_line(cell.cell_type)})"
