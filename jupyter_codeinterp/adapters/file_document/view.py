"""The notebook as the model may see it. ``src/snapshot.ts`` does the same in a window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.document import Cell, CellView, Notebook, Output

PRIVATE = "codeinterp-private"
"""A cell with this tag goes to nobody: neither source nor outputs."""
TEXT_LIMIT = 20_000
"""Characters of one output. The agent bounds further."""
IMAGE_LIMIT = 1_000_000
"""Bytes of one image (the Messages API takes no more than a few of this size)."""
IMAGES = ("image/png", "image/jpeg")


def views(notebook: Notebook) -> tuple[CellView, ...]:
    return tuple(_view(cell) for cell in notebook["cells"])


def _view(cell: Cell) -> CellView:
    tags = tuple(cell["metadata"].get("tags", ()))
    hidden = PRIVATE in tags
    ran = cell["cell_type"] == "code" and not hidden
    return CellView(
        cell_id=cell["id"],
        cell_type=cell["cell_type"],
        source="" if hidden else cell["source"],
        outputs=tuple(_bounded(output) for output in cell["outputs"]) if ran else (),
        execution_count=cell["execution_count"] if ran else None,
        tags=tags,
    )


def _bounded(output: Output) -> Output:
    kind = output["output_type"]
    if kind == "stream":
        return {**output, "text": _cut(output["text"])}
    if kind == "error":
        return {**output, "traceback": _cut("\n".join(output["traceback"])).split("\n")}
    return {**output, "data": _bounded_bundle(output["data"])}


def _bounded_bundle(bundle: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    notes: list[str] = []
    for mime, data in bundle.items():
        if mime.startswith("text/"):
            kept[mime] = _cut(_text(data))
        elif mime in IMAGES:
            size = len(_text(data)) * 3 // 4
            if size < IMAGE_LIMIT:
                kept[mime] = data
            else:
                notes.append(f"[{mime} of {size / 1e6:.1f} MB left out]")
    if notes:
        kept["text/plain"] = "\n".join([*_present(kept.get("text/plain")), *notes])
    return kept


def _present(text: str | None) -> Iterable[str]:
    return () if text is None else (text,)


def _text(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def _cut(whole: str) -> str:
    if len(whole) <= TEXT_LIMIT:
        return whole
    # Room for the line that says how much is missing.
    room = TEXT_LIMIT - 60
    start, end = whole[: int(room * 0.6)], whole[-int(room * 0.4) :]
    missing = len(whole) - len(start) - len(end)
    return f"{start}\n[… {missing} characters left out …]\n{end}"
