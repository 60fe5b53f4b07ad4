"""The notebook's own marker: the highest op number that it holds for each session."""

from __future__ import annotations

from ...core.document.ops import Notebook


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
