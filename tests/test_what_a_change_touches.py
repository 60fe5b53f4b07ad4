"""The table in CONTRIBUTING.md that says which files a change touches: they are there, and few."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SECTION = TEXT.split("## What a change touches")[1].split("\n## ")[0]
ROWS = {
    change.strip(): (re.findall("`([^`]+)`", files), re.findall("`([^`]+)`", example))
    for change, files, example in re.findall(r"^\| (.+?)\|(.+?)\|(.*)\|$", SECTION, re.MULTILINE)
    if "`" in files
}


def there(path: str) -> bool:
    """In the tree; of something new, where it goes."""
    place = path.rstrip("/")
    if "NAME" in place:
        place = place.rpartition("/")[0]
    return (ROOT / place).exists() or (ROOT / "jupyter_codeinterp" / place).exists()


def test_the_table_has_thirteen_changes() -> None:
    assert len(ROWS) == 13


@pytest.mark.parametrize("change", ROWS)
def test_a_change_touches_at_most_three_files_that_are_there(change: str) -> None:
    files, example = ROWS[change]
    assert 0 < len(files) <= 3
    assert [path for path in (*files, *example) if not there(path)] == []


def test_each_kind_of_test_has_an_example() -> None:
    section = TEXT.split("## Tests")[1].split("\n## ")[0]
    examples = re.findall(r"^\| [a-z][^|]*\|[^|]*\| `([^`]+)` *\|$", section, re.MULTILINE)
    assert len(examples) == 8
    assert [path for path in examples if not there(path)] == []


def test_the_first_five_have_an_example() -> None:
    assert all(example for _, example in list(ROWS.values())[:5])
