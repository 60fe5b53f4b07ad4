"""An exported conversation holds text, code and pictures, whatever was said in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.exports import markdown, pictures
from jupyter_codeinterp.journal.prose import _LANGUAGES
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.commands import SessionInfo
from tests.attacks.shapes import SHAPES
from tests.kept_outputs import put_outputs

DEAD = {
    *("paragraph_open", "paragraph_close", "heading_open", "heading_close", "inline", "text"),
    *("blockquote_open", "blockquote_close", "bullet_list_open", "bullet_list_close"),
    *("ordered_list_open", "ordered_list_close", "list_item_open", "list_item_close"),
    *("em_open", "em_close", "strong_open", "strong_close", "code_inline", "code_block", "fence"),
    *("softbreak", "hardbreak", "s_open", "s_close", "hr", "text_special"),
}
ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://|//\w|www\.|\w@\w|\w\.(?:com|org|net|example|py|de)\b", re.IGNORECASE
)
READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def tokens(text: str) -> Iterator[Token]:
    for block in READER.parse(text):
        yield block
        yield from block.children or ()


def alive(text: str) -> list[str]:
    """What in a Markdown file does anything: fetches, links, draws, typesets."""
    found = []
    for token in tokens(text):
        source = str(token.attrGet("src"))
        if token.type == "image" and re.fullmatch(r"data:image/\w+;base64,[\w+/]+=*", source):
            found.append(f"image: {source[5:].partition(';')[0]}")
        elif token.type not in DEAD:
            found.append(f"{token.type}: {token.content or token.attrs}")
        elif token.type == "fence" and token.info.strip() not in {"", *_LANGUAGES}:
            found.append(f"a {token.info} block")
        elif token.type == "text" and ADDRESS.search(token.content):
            found.append(f"an address: {token.content}")
        elif token.type == "text" and re.search(r"\$|\\[(\[]|\\begin", token.content):
            found.append(f"a formula: {token.content}")
    return found


def export(said: str) -> str:
    info = SessionInfo("s", f"a{said}.ipynb", said, "m", "review", False, 0, 0)
    shown = said or "x"
    events: list[e.Event] = [
        e.TurnStarted(1, shown, "review", "m"), e.StepStarted(1), e.TextDone(0, said),
        e.ToolStarted("q", "ask_user", Sentence(said)), e.QuestionAsked("q", shown),
        e.QuestionAnswered("q", said),
        e.ToolDone("q", "ask_user", Sentence(said), "ok", detail=f"status=ok\n{said}"),
        e.ToolStarted("r", "run_cell", Sentence(said)),
        e.DraftDecided("r", "d", "run", "person", said),
        e.RunStarted("r", "c", "r", "m", "k", said),
        e.ToolDone("r", "run_cell", Sentence(said), "ok", detail=f"status=ok\n{said}"),
        e.Note(Sentence(said)), e.TextDone(1, said), e.TextDone(2, f"a\n{said}\nb\n{said}"),
    ]  # fmt: skip
    return markdown(info, events)


HOSTILE = [
    "mermaid",
    "python\n<img src=x>",
    "![x](http://h.example/?q=1)",
    "\\![x](http://h.example)",
    "\\\\![x](//h.example)",
    "<img src=//h.example>",
    "\\<img src=//h.example>",
    "<scr<script>ipt>",
    "<http://h.example>",
    "<a@h.example>",
    "http://h.example and www.h.example, mail a@h.example",
    "[a](javascript:alert(1)) [b]: http://h.example",
    "[b]: http://h.example\n\n[b] ![b]",
    "&lt;img src=x&gt; &#60;img&#62; &#x21;[x](y)",
    "```\ncode\n   ```\n![x](http://h.example)",
    "```\ncode\n```` \n<img src=x>",
    "~~~\ncode\n~~~~\n<img src=x>",
    "~~~ ~~~\n<img src=x>",
    "> ```\n> code\n<img src=x>",
    "> ```\n<img src=x>\n> ```",
    "- ```\n<img src=x>",
    "- a\n\n      ```\n  <img src=x>",
    "1. ~~~\n   x\n<img src=x>\n~~~",
    "```mermaid\nA@{ img: 'http://h.example' }\n```",
    "``` Mermaid\ngraph\n```",
    "~~~mermaid\ngraph\n~~~",
    "    ```mermaid\n    graph\n    ```",
    "- ```mermaid\n  graph\n  ```",
    "> ~~~mermaid\n> graph\n> ~~~",
    "`` ` `` `<img src=x>` ` <img src=x>",
    "`a\n<img src=x>`\n`",
    "`![x](http://h.example)",
    "|a|\n|-|\n|`<img src=x|y>`|",
    "x\n:-:\n`http://h.example/a|b`",
    "a | b\n--|--\n`|`<img src=x>`|`",
    "<!-- a\n\n--> <b>",
    "<?php ?> <!DOCTYPE x> <![CDATA[x]]>",
    "<pre>\n\n<img src=x>",
    "<details><summary>x</summary>",
    "$\\href{javascript:alert(1)}{x}$ \\(\\unicode{x}\\) \\[x\\] $$\n\\begin{x}\n$$",
    "a\r![x](http://h.example)\r\n<img src=x>",
    "a\u2028<img src=x>\x0b<img src=y>\x85<b>\x00",
    "[x][]\n\n[x]: <http://h.example>\n[^1]: http://h.example",
    "# [x](http://h.example)\n===\n## You\n---",
    "***\n* * *\n_<img src=x>_",
    "\t```\n\t<img src=x>\n",
    "[![a](b)](c) [a](<b> 'c')",
    "!\u200b[x](y) !&#91;x](y) &#33;[x](y)",
]


@pytest.mark.parametrize("said", HOSTILE)
def test_words_that_fetch_or_link_are_text_in_an_export(said: str) -> None:
    assert alive(export(said)) == []
    assert alive(export(f"words {said}")) == []
    assert alive(export(f"- {said}")) == []
    assert alive(export(f"> {said}")) == []
    assert alive(export(f"``{said}")) == []


@pytest.mark.parametrize("said", SHAPES)
def test_text_made_to_be_slow_is_text_in_an_export(said: str) -> None:
    assert alive(export(SHAPES[said](700))) == []


PIECES = st.sampled_from(
    [
        *("`", "``", "```", "~~~", "    ", "\t", "\n", "\n\n", "> ", "- ", "1. ", "# ", "|", "-|-"),
        *("![", "[", "](", ")", "<img src=x>", "<", ">", "<!--", "\\", "&lt;", "&#33;", "!", "$"),
        *("http://h.example", "www.h.example", "a@h.de", "mermaid", "x", " ", "*", "_", "---"),
        *("===", "\r", "[a]: b", "[a]", ":-:", "<pre>", "javascript:", "$$", "\\("),
    ]
)


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_pieces_of_markdown_in_any_order_do_nothing(said: str) -> None:
    assert alive(export(said)) == []


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_any_text_does_nothing(said: str) -> None:
    assert alive(export(said)) == []


@pytest.mark.parametrize("media", ["image/png", "image/jpeg", "image/svg+xml", "text/html"])
@pytest.mark.parametrize("said", [*HOSTILE, "iVBORw0KGgo", "iVBORw0KGgo) <b>", "/9j/4A=="])
async def test_pictures_of_outputs_are_data_and_nothing_else(
    tmp_path: Path, media: str, said: str
) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    info = SessionInfo("s", "a.ipynb", "", "m", "review", False, 0, 0)
    store.create(info)
    output: Any = {"output_type": "display_data", "data": {media: said}, "metadata": {}}
    put_outputs(store, "s", "c", (output,))
    drawn = await pictures(store, "s")
    store.close()
    ran: list[e.Event] = [e.TurnStarted(1, "x", "auto", "m"), e.ToolStarted("r", "run_cell")]
    ran += [e.DraftDecided("r", "d", "run", "person", "x"), e.RunStarted("r", "c", "r1", "m", "k")]
    text = markdown(info, ran, drawn)
    allowed = (media, said) in {("image/png", "iVBORw0KGgo"), ("image/jpeg", "/9j/4A==")}
    assert alive(text) == ([f"image: {media}"] if allowed else [])


def test_what_was_said_can_still_be_read() -> None:
    block = "```python\na = b[0]\n```"
    said = f"**Growth** is 3 < 4 & `x|y`:\n\n- one\n- see [two](#cell:c1)\n\n{block}"
    shown = f"**Growth** is 3 &lt; 4 &amp; `x|y`:\n\n- one\n- see two\n\n{block}"
    assert shown in export(said)
