"""What the cells behind an answer read, and its changed copies.

Files that have a table as text are changed here. The fresh kernel changes Parquet and Excel files
with its own libraries, and copies of variables.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...core.verify.beforehand import only_live
from ...core.verify.sheets import sheets_read
from ...core.verify.variations import Variation, outliers, variations
from ...core.verify.verification import CodeCell
from ...kernel_side.varying import COPY_FILES, INPUTS
from .tables import TABLES, TableFile, read_table

MOST_TABLE = 20_000_000
"""Bytes of a file that is changed."""
_FORMATS = {".parquet": "parquet", ".xlsx": "excel", ".xlsm": "excel"}
"""Changed by the kernel, if it has the library."""
_OTHERS = (".xls", ".feather", ".db", ".sqlite")
_COPIES = ".codeinterp-variables.json"
"""In the copy of the folder, until the kernel has read it."""


class Found(msgspec.Struct, frozen=True):
    """Files by their path in the folder. ``asked``: what the kernel has to know of each that it
    changes. ``variables``: names that no cell gives. ``others``: files that stay as they are."""

    tables: dict[str, TableFile]
    asked: dict[str, dict[str, Any]]
    variables: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def anything(self) -> bool:
        return bool(self.tables or self.asked or self.variables)


class Inputs:
    """``found``, with what the kernels have told of it."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.copies: dict[str, str] = {}
        """Variables of the person's kernel, as text."""
        self.refused: dict[str, str] = {}
        """Why something cannot be changed, in words."""
        self._told: dict[str, dict[str, int]] = {}

    @property
    def changed(self) -> tuple[str, ...]:
        """Files that change, as far as is known."""
        names = (*self.found.tables, *self.found.asked)
        return tuple(name for name in names if name not in self.refused)

    @property
    def variables(self) -> tuple[str, ...]:
        names = (name for name in self.found.variables if name not in self.refused)
        return tuple(name for name in names if not self._told or name in self._tables)

    @property
    def unchanged(self) -> tuple[str, ...]:
        refused = (f"{name} ({why})" for name, why in self.refused.items())
        return (*self.found.others, *refused)

    @property
    def _tables(self) -> dict[str, dict[str, int]]:
        return {name: told for name, told in self._told.items() if told["rows"]}

    def variations(self) -> tuple[Variation, ...]:
        """Before the kernel has told, the most."""
        most = [len(outliers(file.table)) for file in self.found.tables.values()]
        most += [told["outliers"] for told in self._told.values()]
        unknown = not self._told and (self.found.asked or self.found.variables)
        return variations(max(most, default=0) if not unknown else 99)

    def rows(self) -> list[int]:
        """Of each table."""
        texts = [len(file.table.rows) for file in self.found.tables.values()]
        return texts + [told["rows"] for told in self._tables.values()]

    def take(self, copies: dict[str, Any]) -> None:
        """The answer of the person's kernel."""
        whole = copies.get("refused")
        for name in self.found.variables:
            told = {"refused": whole} if isinstance(whole, str) else copies.get(name, {})
            if "text" in told:
                self.copies[name] = told["text"]
            elif told:
                self.refused[name] = _why(told)

    def write(self, copy: Path, variation: Variation | None) -> None:
        """Change what is text in this copy of the folder, and add the variables. Blocks."""
        if variation is not None:
            for name, file in self.found.tables.items():
                (copy / name).write_text(file.varied(variation), "utf-8")
        if self.copies:
            (copy / _COPIES).write_text(json.dumps(self.copies), "utf-8")

    def expression(self, copy: Path, variation: Variation | None) -> str:
        """What the fresh kernel evaluates for the rest; "" if there is none."""
        files = {k: v for k, v in self.found.asked.items() if k not in self.refused}
        if not files and not self.copies:
            return ""
        asked = {
            "folder": str(copy),
            "files": files,
            "variables": _COPIES if self.copies else "",
            "kind": variation.kind if variation is not None else "",
            "number": variation.number if variation is not None else 0,
        }
        from ...adapters.kernels.zmq.kernel_files import answer_of  # imports zmq

        return answer_of(COPY_FILES, __name__=INPUTS, ASKED=json.dumps(asked))

    def learn(self, answer: str) -> None:
        """What the fresh kernel tells of the unchanged data."""
        for name, told in json.loads(answer).items():
            if "refused" in told:
                self.refused[name] = _why(told)
                self.copies.pop(name, None)
            else:
                self._told[name] = told


def found_in(folder: Path, cells: Sequence[CodeCell], language: str) -> Found:
    """Data that the cells name. Blocks."""
    sources = [cell.source for cell in cells]
    code = "\n".join(sources)
    tables: dict[str, TableFile] = {}
    asked: dict[str, dict[str, Any]] = {}
    others: list[str] = []
    for file in sorted(folder.rglob("*"))[:2_000]:
        if file.name not in code or not file.is_file():
            continue
        name, kind = file.relative_to(folder).as_posix(), file.suffix.lower()
        fits = file.stat().st_size <= MOST_TABLE
        table = read_table(file) if fits and kind in TABLES else None
        if table is not None:
            tables[name] = table
        elif fits and language == "python" and kind in _FORMATS:
            about = _about(_FORMATS[kind], sources, file.name)
            if about is None:
                others.append(f"{name} (its rows cannot be told from its head)")
            else:
                asked[name] = about
        elif kind in (*TABLES, *_FORMATS, *_OTHERS):
            others.append(name)
    names = only_live(cells) if language == "python" else ()
    return Found(tables, asked, names, tuple(others))


def _about(kind: str, sources: Sequence[str], file: str) -> dict[str, Any] | None:
    if kind == "parquet":
        return {"format": kind}
    sheets = sheets_read(sources, file)
    return None if sheets is None else {"format": kind, **msgspec.to_builtins(sheets)}


def _why(told: dict[str, Any]) -> str:
    detail = str(told.get("detail", ""))[:100]
    return {
        "no_library": f"the kernel has no {detail}",
        "too_large": "too large",
        "few_rows": "fewer than two rows",
        "not_a_table": f"cannot be copied: {detail}",
        "busy": "the kernel is busy",
        "slow": "the kernel did not answer in time",
        "other_language": "the kernel is not Python",
    }.get(str(told["refused"]), f"cannot be read: {detail}")
