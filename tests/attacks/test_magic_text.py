"""Text of the model below ``%%ai``, where JupyterLab's own renderers show it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.base.visible import visible
from jupyter_codeinterp.magic.screens import bundle, code_bundle
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.magic.test_kernel_models import started
from tests.site import Site
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


@pytest.mark.parametrize("plain", PLAIN)
def test_plain_markdown_is_shown_as_such(plain: str) -> None:
    assert "text/markdown" in bundle(plain)


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("a\x1b[2J\x07\u202e\u200b\ud800\U000e0041b") == (
        "a\\x1b[2J\\x07\\u202e\\u200b\\ud800\\U000e0041b"
    )
    assert visible("tab\tline\n é 变量 😀") == "tab\tline\n é 变量 😀"
    assert visible("👩\u200d🔬") == "👩\u200d🔬"
    assert visible("a\u200db", code=True) == "a\\u200db"
    assert bundle("see [the cell](#cell:abc)")["text/plain"] == "see the cell"
    assert bundle('[7](#cell:abc "Kiel (a), b")')["text/plain"] == "7"


async def test_a_long_answer_fills_the_notebooks_connection(site: Site, api: FakeAnthropic) -> None:
    """Each display is all of the text again."""
    words = "A sentence of some words. " * 6_000
    api.play([answer(text(words)).at(chunk=400, delay=0.01)])
    sizes: list[int] = []
    texts: list[str] = []

    def hook(message: dict[str, Any]) -> None:
        data = message["content"].get("data")
        if data is not None:
            sizes.append(len(str(data)))
            texts.append(data["text/plain"])

    async with started(site) as kernel:
        await kernel.run("%load_ext jupyter_codeinterp")
        await kernel._client.execute_interactive("%%ai\nlong", output_hook=hook, timeout=100)
    assert texts[-1] == words and len(texts) > 4, "it is shown as it comes, and in the end whole"
    assert sum(sizes) < 15 * len(words)
