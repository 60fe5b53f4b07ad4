"""Text of the model below ``%%ai``, where JupyterLab's own renderers show it."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.magic.front.harmless import bundle, code_bundle, visible
from tests.test_plain_markdown import PLAIN, RISKY


@pytest.mark.parametrize("text", RISKY)
def test_an_answer_of_the_magic_fetches_or_draws(text: str) -> None:
    assert set(bundle(text)) == {"text/plain"}


LOADS = [text for text in RISKY if "![" in text or "<img" in text or "mermaid" in text]


@pytest.mark.parametrize("text", LOADS)
def test_code_below_the_magic_is_markup(text: str) -> None:
    assert set(code_bundle(f"x = '''{text}'''")) == {"text/plain"}


@pytest.mark.parametrize(
    "source", ["```\n![x](http://x)", "`````\n<img src=x>\n`````", "~~~\n# ![x](http://x)"]
)
def test_code_below_the_magic_leaves_its_fence(source: str) -> None:
    assert set(code_bundle(source)) == {"text/plain"}


def test_code_with_backticks_stays_within_its_fence() -> None:
    shown = code_bundle("a = '```'\nb = '````'")
    assert shown.get("text/markdown", "`````python").startswith("`````python")


@pytest.mark.parametrize("text", PLAIN)
def test_plain_markdown_is_shown_as_such(text: str) -> None:
    assert "text/markdown" in bundle(text)


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("a\x1b[2J\x07\u202e\u200b\ud800\U000e0041b") == (
        "a\\x1b[2J\\x07\\u202e\\u200b\\ud800\ufffdb"
    )
    assert visible("tab\tline\n é 变量 😀") == "tab\tline\n é 变量 😀"
    assert bundle("see [the cell](#cell:abc)")["text/plain"] == "see the cell"
