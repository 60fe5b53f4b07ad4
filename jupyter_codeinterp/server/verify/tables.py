"""Files that have a table as text: CSV, and JSON with a record a row."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ...core.verify import json_tables, variations
from ...core.verify.json_tables import Layout
from ...core.verify.variations import Table, Variation

_JSON = (".json", ".jsonl", ".ndjson")
TABLES = (".csv", ".tsv", *_JSON)


class TableFile(msgspec.Struct, frozen=True):
    """``layout`` is that of a JSON file; None for CSV."""

    table: Table
    layout: Layout | None = None

    def varied(self, variation: Variation) -> str:
        """The text of the changed file."""
        table = variations.varied(self.table, variation)
        if self.layout is None:
            return variations.written(table)
        return json_tables.written(table, self.layout)


def read_table(file: Path) -> TableFile | None:
    """None if the file has no table that can be changed. Blocks."""
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeError):
        return None
    if file.suffix.lower() in _JSON:
        found = json_tables.parsed(text)
        return None if found is None else TableFile(*found)
    table = variations.parsed(text)
    return None if table is None else TableFile(table)
