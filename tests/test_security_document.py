"""docs/security.md promises nothing without a test: each of its promises names those that hold
it, and they exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "security.md"
PROMISES = re.compile(r"^- .+$", re.MULTILINE)
TRIED = re.compile(r"`((?:tests|ui-tests|src)/[\w./-]+)`((?:,? “[^”]+”)*)")
TITLE = re.compile(r"“([^”]+)”")
NO_PROMISE = (
    "## What it does not protect against",
    "## What leaves your machine",
    "## What is kept",
)
"""Sections that say what is not promised, or what happens."""


def _promises() -> list[str]:
    sections = re.split(r"^(?=## )", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    held = (text for text in sections if not text.startswith(NO_PROMISE))
    return [line for text in held for line in PROMISES.findall(text)]


@pytest.mark.parametrize("promise", _promises())
def test_a_promise_names_tests_that_exist(promise: str) -> None:
    named = TRIED.findall(promise)
    assert named, "no test is named"
    for path, titles in named:
        text = _flat((ROOT / path).read_text(encoding="utf-8"))
        for title in TITLE.findall(titles):
            assert _flat(title) in text, f"{path} has no “{title}”"


def _flat(text: str) -> str:
    """A Python test's name and its words are the same: blanks for underscores."""
    return re.sub(r"[\s_]+", " ", text).lower()
