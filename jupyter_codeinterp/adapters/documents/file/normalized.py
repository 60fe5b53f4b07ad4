"""A notebook as plain dictionaries in nbformat's types, with an id for each cell."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from typing import Any

from ....core.document.ops import Cell, Notebook, id_of, joined, shaped

CELL_IDS_SINCE = 5
"""The minor version of nbformat 4 that gave cells their ids."""


def is_usable(content: Any) -> bool:
    """Whether there are cells to work in. JupyterLab tolerates other defects."""
    cells = content.get("cells") if isinstance(content, dict) else None
    return isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)


def minor_of(content: Any) -> int:
    minor = content.get("nbformat_minor")
    return minor if type(minor) is int else 0


def normalized(content: Any) -> Notebook:
    """Fix odd types as JupyterLab does on save. A cell without an id gets the same id at each
    read, until the file is written."""
    plain: Notebook = _builtins(content)
    plain["cells"] = [shaped(cell) for cell in plain["cells"]]
    if not isinstance(plain.get("metadata"), dict):
        plain["metadata"] = {}
    plain["nbformat_minor"] = max(minor_of(content), CELL_IDS_SINCE)
    taken: set[str] = set()
    for cell in plain["cells"]:
        if not id_of(cell) or id_of(cell) in taken:
            cell["id"] = _id_for(cell, taken)
        taken.add(cell["id"])
    return plain


def sources_of(notebook: Notebook) -> dict[str, str]:
    return {id_of(cell): joined(cell["source"]) for cell in notebook["cells"]}


def with_known_ids(notebook: Notebook, known: Mapping[str, str]) -> Notebook:
    """Give cells their ``known`` ids by source, where the file cannot store ids: a script opened
    as a notebook gets new ids at each read."""
    if not known or known.keys() & sources_of(notebook).keys():
        return notebook
    left: dict[str, list[str]] = {}
    for cell_id, source in known.items():
        left.setdefault(source, []).append(cell_id)
    return {**notebook, "cells": [_with_known_id(cell, left) for cell in notebook["cells"]]}


def _with_known_id(cell: Cell, left: dict[str, list[str]]) -> Cell:
    ids = left.get(joined(cell["source"]))
    return {**cell, "id": ids.pop(0)} if ids else cell


def fingerprint(content: Any) -> str:
    """Identifies a notebook's content, without its cell ids."""
    plain = _builtins(content)
    if isinstance(plain, dict) and isinstance(plain.get("cells"), list):
        plain["cells"] = [
            {key: value for key, value in cell.items() if key != "id"}
            if isinstance(cell, dict)
            else cell
            for cell in plain["cells"]
        ]
    text = json.dumps(plain, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _id_for(cell: dict[str, Any], taken: set[str]) -> str:
    text = f"{cell.get('cell_type')}\n{joined(cell.get('source'))}".encode("utf-8", "replace")
    for number in itertools.count():
        name = hashlib.sha256(b"%d\n%s" % (number, text)).hexdigest()[:8]
        if name not in taken:
            return name
    raise AssertionError("there are numbers enough")


def _builtins(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _builtins(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_builtins(item) for item in value]
    return value
