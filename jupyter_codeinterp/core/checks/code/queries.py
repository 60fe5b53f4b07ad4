"""SQL in the code: joins without a condition or on the wrong key, and comparisons with NULL."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import parsed

NAME = "SQL"
LONGEST = 5_000
"""Characters of a query that is read."""
_QUERY = re.compile(r"\bselect\b[\s\S]*\bfrom\b", re.IGNORECASE)
_TABLES = re.compile(r"\bfrom\s+([^()]*?)(?:\bwhere\b|\bgroup\b|\border\b|\blimit\b|;|$)", re.I)
_IDS = re.compile(r"\bon\s+(\w+)\.id\s*=\s*(\w+)\.id\b", re.IGNORECASE)
_NULL = re.compile(r"(?:=|<>|!=)\s*null\b", re.IGNORECASE)
_NOT_IN = re.compile(r"\bnot\s+in\s*\(\s*select\b", re.IGNORECASE)


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for node in source.nodes:
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        query = " ".join(node.value[:LONGEST].split())
        if not _QUERY.search(query):
            continue
        for words, audience in _faults(query):
            yield Finding(NAME, words, source.place(node), (), audience)


def _faults(query: str) -> Iterator[tuple[str, Literal["person", "model"]]]:
    found = _TABLES.search(query)
    tables = found[1].strip() if found is not None else ""
    lists = "," in tables and " join " not in tables.lower()
    if lists and not re.search(r"\bwhere\b", query, re.IGNORECASE):
        # A part of the query may have one row, such as a total.
        is_own = any(re.search(rf"\b{re.escape(name)}\s+as\s*\(", query, re.I) for name in
                     re.findall(r"(?:^|,)\s*(\w+)", tables))  # fmt: skip
        words = f"`FROM {tables}` joins each row to all rows: no condition."
        yield words, "model" if is_own else "person"
    ids = _IDS.search(query)
    if ids is not None and ids[1].lower() != ids[2].lower() and not _are_alike(query, ids):
        yield f"`{ids[0]}` compares the ids of two different tables.", "person"
    null = _NULL.search(query)
    if null is not None and not re.search(r"\bset\b", query, re.IGNORECASE):
        yield f"`{null[0]}` is never true; `IS NULL` is.", "person"
    if _NOT_IN.search(query):
        yield "`NOT IN` finds nothing if the inner query has a NULL.", "model"


def _are_alike(query: str, ids: re.Match[str]) -> bool:
    """Whether both tables are of the same things, as ``prices_2023`` and ``prices_2024``."""
    words = [set(re.split(r"[_\d]+", _table(query, name).lower())) - {""} for name in ids.groups()]
    return bool(words[0] & words[1])


def _table(query: str, alias: str) -> str:
    found = re.search(rf"\b(?:from|join)\s+(\w+)\s+(?:as\s+)?{alias}\b", query, re.IGNORECASE)
    return found[1] if found is not None else alias


CHECK = Check(NAME, before_run=read)
