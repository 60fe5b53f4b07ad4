"""A notebook's content for the documents that the server itself holds (a file, a room)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.visible import as_text
from ..view.redaction.private_names import assigned
from ..wire.ops import (
    PRIVATE,
    Cell,
    CellView,
    Notebook,
    Output,
    id_of,
    joined,
    run_id_of,
    shaped,
    tags_of,
)

# -------------------------------------------------------------------------------------------------
# The notebook's own marker: the highest op number that it holds for each session.


def applied(notebook: Notebook) -> dict[str, int]:
    ours = notebook["metadata"].get("codeinterp")
    marker = ours.get("applied") if isinstance(ours, dict) else None
    if not isinstance(marker, dict):
        return {}
    return {key: seq for key, seq in marker.items() if type(seq) is int}


def marked(notebook: Notebook, session_id: str, seq: int) -> Notebook:
    metadata = notebook["metadata"]
    ours = metadata.get("codeinterp")
    kept = ours if isinstance(ours, dict) else {}
    marker = {**applied(notebook), session_id: seq}
    return {**notebook, "metadata": {**metadata, "codeinterp": {**kept, "applied": marker}}}


# -------------------------------------------------------------------------------------------------
# The notebook as the model may see it. For windows, ``src/notebook/document/snapshot.ts`` does
# the same.

TEXT_LIMIT = 20_000
"""Characters of one output. The agent applies smaller limits."""
IMAGE_LIMIT = 1_000_000
"""Bytes of one image (the Messages API takes no more than a few of this size)."""
IMAGES = ("image/png", "image/jpeg")


def views(notebook: Notebook, cell_ids: Sequence[str] = ()) -> tuple[CellView, ...]:
    cells = (shaped(cell) for cell in notebook["cells"])
    return tuple(_view(cell) for cell in cells if not cell_ids or id_of(cell) in cell_ids)


def _view(cell: Cell) -> CellView:
    tags = tags_of(cell)
    hidden = PRIVATE in tags
    ran = cell["cell_type"] == "code" and not hidden
    return CellView(
        cell_id=id_of(cell),
        cell_type=cell["cell_type"],
        source="" if hidden else as_text(cell["source"]),
        outputs=tuple(_bounded(output) for output in cell["outputs"]) if ran else (),
        execution_count=cell["execution_count"] if ran else None,
        tags=tags,
        assigns=assigned(cell["source"]) if hidden else (),
        run_id=run_id_of(cell),
    )


def _bounded(output: Output) -> Output:
    """The part that the model may see, in nbformat's types."""
    kind = output.get("output_type")
    if kind == "stream":
        return {
            "output_type": kind,
            "name": joined(output.get("name")),
            "text": _cut(joined(output.get("text"))),
        }
    if kind == "error":
        trace = output.get("traceback")
        lines = trace if isinstance(trace, list) else [joined(trace)]
        whole = "\n".join(line for line in lines if isinstance(line, str))
        return {
            "output_type": kind,
            "ename": _cut(joined(output.get("ename"))),
            "evalue": _cut(joined(output.get("evalue"))),
            "traceback": _cut(whole).split("\n"),
        }
    data, count = output.get("data"), output.get("execution_count")
    return {
        "output_type": kind if isinstance(kind, str) else "display_data",
        "data": _bounded_bundle(data if isinstance(data, dict) else {}),
        "metadata": {},
        **({"execution_count": count} if type(count) is int else {}),
    }


def _bounded_bundle(bundle: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    notes: list[str] = []
    for mime, data in bundle.items():
        if mime.startswith("text/"):
            kept[mime] = _cut(joined(data))
        elif mime in IMAGES:
            size = len(joined(data)) * 3 // 4
            if size < IMAGE_LIMIT:
                kept[mime] = joined(data)
            else:
                notes.append(f"[{mime} of {size / 1000000.0:.1f} MB omitted]")
    if notes:
        plain = [kept["text/plain"]] if "text/plain" in kept else []
        kept["text/plain"] = "\n".join([*plain, *notes])
    return kept


def _cut(whole: str) -> str:
    if len(whole) <= TEXT_LIMIT:
        return whole
    # Room for the line that says how much is missing.
    room = TEXT_LIMIT - 60
    start, end = whole[: int(room * 0.6)], whole[-int(room * 0.4) :]
    missing = len(whole) - len(start) - len(end)
    return f"{start}\n[… {missing} characters left out …]\n{end}"
