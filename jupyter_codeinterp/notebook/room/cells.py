"""Cells of a shared notebook: read as nbformat has them, and written with the smallest change.

The CRDT (pycrdt) merges what others type at the same time, but a replaced cell loses it. So we
replace a cell only if its type, or the trust in its outputs, changes.
"""

from __future__ import annotations

from typing import Any

from pycrdt import Array, Map, Text

from ...wire.ops import Cell, Output

RUNNING, IDLE = "running", "idle"
_SHARED = {"source": Text, "metadata": Map, "outputs": Array}
"""The shared type of each field; all other fields are plain JSON."""
_NOT_SAVED = "execution_state"


def read(ycell: Any) -> Cell:
    """The cell as nbformat has it."""
    cell: Cell = plain(ycell.to_py() or {})
    cell.pop(_NOT_SAVED, None)
    if not cell.get("attachments", True):
        del cell["attachments"]
    return cell


def new(cell: Cell) -> Any:
    """A shared cell to insert into a document."""
    fields = {
        **cell,
        "source": Text(cell["source"]),
        "metadata": Map(cell["metadata"]),
    }
    if cell["cell_type"] == "code":
        fields["outputs"] = Array([_new_output(output) for output in cell["outputs"]])
        fields[_NOT_SAVED] = IDLE
    return Map(fields)


def can_rewrite(ycell: Any, before: Cell, after: Cell) -> bool:
    """Whether the cell can change in place. Pages cannot follow a change of its type. With line
    ends other than LF, their positions differ from the document's."""
    return (
        before["cell_type"] == after["cell_type"]
        and "\r" not in before["source"] + after["source"]
        and all(isinstance(ycell.get(key), kind) for key, kind in _SHARED.items() if key in after)
    )


def rewrite(ycell: Any, before: Cell, after: Cell) -> None:
    """Change only what differs."""
    for key in before.keys() - after.keys():
        if key in ycell:
            del ycell[key]
    for key, value in after.items():
        if key in before and before[key] == value:
            continue
        if key == "source":
            change_text(ycell["source"], before["source"], value)
        elif key == "metadata":
            _change_map(ycell["metadata"], before["metadata"], value)
        elif key == "outputs":
            change_outputs(ycell["outputs"], before["outputs"], value)
        else:
            ycell[key] = value


def set_running(ycell: Any, running: bool) -> None:
    """Show or remove [*] in every window."""
    if ycell.get("cell_type") == "code":
        ycell[_NOT_SAVED] = RUNNING if running else IDLE


def change_text(text: Any, before: str, after: str) -> None:
    """Replace the differing middle. Positions in a shared text are bytes of UTF-8."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = len(before[:head].encode())
    gone = len(before[head : len(before) - tail].encode())
    if gone:
        del text[start : start + gone]
    if part := after[head : len(after) - tail]:
        text.insert(start, part)


def change_outputs(youtputs: Any, before: list[Output], after: list[Output]) -> None:
    """Keep the equal outputs at the front, and the equal beginning of a stream's text."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    if same < len(before) and same < len(after) and _goes_on(before[same], after[same]):
        text = youtputs[same].get("text")
        if isinstance(text, Text):
            change_text(text, before[same]["text"], after[same]["text"])
            same += 1
    if same < len(before):
        del youtputs[same : len(before)]
    youtputs.extend([_new_output(output) for output in after[same:]])


def _goes_on(before: Output, after: Output) -> bool:
    """Whether ``after`` is the same stream with more text."""
    texts = before.get("text"), after.get("text")
    return (
        before.get("output_type") == after.get("output_type") == "stream"
        and before.get("name") == after.get("name")
        and isinstance(texts[0], str)
        and isinstance(texts[1], str)
        and texts[1].startswith(texts[0])
        and before.keys() == after.keys()
    )


def _new_output(output: Output) -> Any:
    """A shared output. Pages expect the text of a stream as a shared text."""
    if output.get("output_type") != "stream":
        return Map(output)
    text = output.get("text", "")
    return Map({**output, "text": Text(text if isinstance(text, str) else "".join(text))})


def _change_map(ymap: Any, before: dict[str, Any], after: dict[str, Any]) -> None:
    for key in before.keys() - after.keys():
        if key in ymap:
            del ymap[key]
    for key, value in after.items():
        if key not in before or before[key] != value:
            ymap[key] = value


def plain(value: Any) -> Any:
    """Turn whole floats into integers: a shared document has floats only."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
