"""Sample data made up in the code, beside a real file of that name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import Source, dotted, parsed

NAME = "Invented data"
DATA = (".csv", ".tsv", ".parquet", ".json", ".xlsx", ".xls", ".feather", ".db", ".sqlite")
FEWEST = 3
"""Characters of a file's stem that are compared."""


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    files = [name for name in cell.files if name.lower().endswith(DATA) and name not in cell.source]
    for node in source.nodes:
        if not isinstance(node, ast.Assign) or not _is_made_up(source, node.value):
            continue
        for target in node.targets:
            for name in _named_alike(target, files):
                words = f"`{source.text(target)}` is made up in the code; `{name}` is not read."
                yield Finding(NAME, words, source.place(node), (name,))


def _is_made_up(source: Source, node: ast.expr) -> bool:
    """Whether it is a table of literals or random numbers."""
    if not isinstance(node, ast.Call) or dotted(node.func).split(".")[-1] != "DataFrame":
        return False
    parts = [part for argument in node.args for part in ast.walk(argument)]
    names = {dotted(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))}
    is_random = any(".random." in name or name.startswith(("rng.", "random.")) for name in names)
    own = {name for name in names if "." not in name} - {"np", "pd", "rng", "random", "range"}
    return bool(parts) and isinstance(node.args[0], (ast.Dict, ast.List)) and (is_random or not own)


def _named_alike(target: ast.expr, files: list[str]) -> Iterator[str]:
    if not isinstance(target, ast.Name):
        return
    words = set(target.id.lower().split("_")) | {target.id.lower()}
    for name in files:
        stem = PurePosixPath(name).stem.lower()
        if len(stem) >= FEWEST and (stem in words or stem.rstrip("s") in words):
            yield name


CHECK = Check(NAME, before_run=read)
