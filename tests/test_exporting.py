"""A conversation as Markdown, from events written by hand."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.exports import LOOKS, markdown
from jupyter_codeinterp.journal.prose import plain
from jupyter_codeinterp.journal.transcript import FACTS
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import (
    Draft,
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
    MessagesHeard,
    Note,
    QuestionAnswered,
    QuestionAsked,
    Reference,
    RunStarted,
    Status,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ToolDone,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    TurnUndone,
    UsageChanged,
)
from jupyter_codeinterp.wire.findings import Finding, Place
from jupyter_codeinterp.wire.messages import Usage

INFO = SessionInfo("s", "work/sales.ipynb", "Growth", "m", "review", False, 1.7e9, 1.8e9)
ASKED = TurnStarted(1, "Which region\ngrew?", "review", "m")


def ran(
    source: str,
    detail: str = "status=ok cell_id=a\n42",
    status: Status = "ok",
    call_id: str = "c",
    language: str = "",
) -> list[Event]:
    return [
        ToolStarted(call_id, "run_cell", Sentence("Add")),
        DraftOpened(call_id, "d", "insert", "a", Sentence("Add")),
        DraftWaiting(Draft("d", call_id, "insert", "a", Sentence("Add"), "not this", "n")),
        DraftDecided(call_id, "d", "run", "person", source),
        RunStarted(call_id, "a", "r", "m", "k", language),
        ToolDone(call_id, "run_cell", Sentence("Add"), status, "a", detail=detail),
    ]


def test_markdown() -> None:
    events: list[Event] = [
        ASKED, StepStarted(1), TextDone(0, "I'll look."), *ran("1 + 41", language="Python"),
        StepStarted(2), TextDone(0, "See [the sum](#cell:a)."), TurnEnded(1, "end_turn"),
    ]  # fmt: skip
    assert markdown(INFO, events) == (
        """# Growth

Notebook: `work/sales.ipynb`  
Date: 2023-11-14 22:13 UTC

## You

> Which region
> grew?

## Answer

I'll look.

### Add (ok)

```python
1 + 41
```

```text
42
```

See the sum.
"""
    )


def test_markdown_lists_findings_as_text() -> None:
    place = Place(3, 0, 3, 4)
    found = (
        Finding("Filter", Sentence("<b>It</b> matched 0 rows."), place),
        Finding("X", Sentence("# a\n- [b](c)")),
    )
    *others, done = ran("x")
    assert isinstance(done, ToolDone)
    detail = f"{done.detail}\n{FACTS}\nFor the model."
    told = msgspec.structs.replace(done, findings=found, detail=detail)
    text = markdown(INFO, [ASKED, StepStarted(1), *others, told])
    lines = text.rpartition("Findings:\n\n")[2].rstrip("\n").split("\n")
    assert lines == [f"- {plain(str(one))}" for one in found]
    assert "For the model" not in text
    assert lines[0].startswith("- Line 3: ") and "<b>" not in text


def test_markdown_tells_what_did_not_run_and_what_happened_besides() -> None:
    events: list[Event] = [
        ASKED, StepStarted(1), TextDelta(0, "Void"), StepDiscarded(1, Sentence("broken")),
        StepStarted(2), TextDelta(0, "I am cu"), TextDelta(0, "t off"),
        ToolStarted("x", "run_cell"),
        DraftOpened("x", "d", "insert", "a", Sentence("Wipe the disk")),
        DraftWaiting(Draft("d", "x", "insert", "a", Sentence("Wipe the disk"), "rm -rf", "n")),
        DraftDecided("x", "d", "reject", "person", "rm -rf",
                     reason=Sentence("The person rejected it.")),
        ToolDone("x", "run_cell", Sentence("Wipe the disk"), "rejected",
                 detail="status=rejected\nThe person rejected it."),
        ToolStarted("q", "ask_user"), QuestionAsked("q", "Which year?", ("2024", "2025")),
        QuestionAnswered("q", "Both"),
        ToolDone("q", "ask_user", Sentence("Question"), "ok",
                 detail="status=ok\nThe person answered: Both"),
        ToolStarted("lost", "run_cell", Sentence("Not begun")),
        Note(Sentence("The kernel was restarted.")),
        TurnEnded(1, "cancelled", message=Sentence("Stopped.")),
        TurnUndone(1, ("a",), ()),
    ]  # fmt: skip
    text = markdown(INFO, events)
    assert "Void" not in text and "rm -rf" not in text
    assert "I am cut off" in text
    assert "### Wipe the disk (rejected)\n\n```text\nThe person rejected it.\n```" in text
    assert "### Question (ok)\n\nWhich year?\n\n> Both\n" in text
    assert "### Not begun (not started)" in text
    for words in ("The kernel was restarted.", "Stopped.", "The cells of a turn were restored."):
        assert f"\n*{words}*\n" in text


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize(("status", "there"), [("ok", False), ("error", True)])
def test_what_a_tool_read_for_the_model_alone_is_left_out(
    name: str, status: Status, there: bool
) -> None:
    detail = f"status={status}\nOnly the model reads this."
    events: list[Event] = [
        ToolStarted("l", name, Sentence("Look")),
        ToolDone("l", name, Sentence("Look"), status, detail=detail),
    ]
    text = markdown(INFO, [ASKED, StepStarted(1), *events])
    assert f"### Look ({status})\n" in text
    assert ("Only the model reads this." in text) is there


def test_a_picture_replaces_the_line_that_names_it() -> None:
    events = [ASKED, StepStarted(1), *ran("plot()", "status=ok\n[image: Sales]\nIt is drawn.")]
    with_picture = markdown(INFO, events, {"r": ["data:image/png;base64,iVBORw0KGgo="]})
    assert "```text\nIt is drawn.\n```\n\n![picture](data:image/png;base64," in with_picture
    assert "[image: Sales]\nIt is drawn." in markdown(INFO, events)


@pytest.mark.parametrize("ticks", ["`", "```", "`````", "a ```` b"])
def test_code_stays_within_its_fence(ticks: str) -> None:
    source = f"s = '''\n{ticks}\n# not a title\n'''"
    lines = markdown(INFO, [ASKED, StepStarted(1), *ran(source)]).split("\n")
    start = lines.index("s = '''")
    fence = lines[start - 1]
    assert set(fence) == {"`"} and fence not in source and lines[start + 4] == fence


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("![x](https://evil.example/?q=1)", "`![x](https://evil.example/?q=1)`"),
        ("a <img src=x> b", "a &lt;img src=x&gt; b"),
        ("<!-- x", "&lt;!-- x"),
        ("a < b and 3<4", "a &lt; b and 3&lt;4"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b&gt;"),
        ("~~~\n```\n<b>\n~~~ \n<b>", "````\n```\n<b>\n````\n&lt;b&gt;"),
        ("````\n```\n<b>", "````\n```\n<b>\n````"),
        ("- a\n  ```\n<b>", "- a\n```\n<b>\n```"),
        ("~~~\r~~~\r<b>", "```\n\n```\n&lt;b&gt;"),
        ("```a`\n<b>", "```` ``` ````a`` ` ``\n&lt;b&gt;"),
        ("a `b|c` d", "a `b|c` d"),
        ("costs $5, or $x$", "costs `$5, or $`x`$`"),
        ("see www.example.org or a@b.de", "see `www.example.org` or `a@b.de`"),
        ("## You\n- run\n  1. *it*", "**You**\n\n- run\n  1. *it*"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```"),
        ("```mermaid\nA-->B\n   ```\nx", "```text\nA-->B\n```\nx"),
        ("[two](#cell:a-1) [three](https://x.y)", "two `[three](https://x.y)`"),
        ('[two](#cell:a-1 "Kiel (a), b") four', "two four"),
        ("---\na: b\n===", "&#45;--\na: b\n&#61;=="),
        ("&lt;img&gt; \\(x\\)", "&amp;lt;img&amp;gt; `\\`(x`\\`)"),
    ],
)
def test_words_of_the_model_do_nothing_in_a_viewer(said: str, written: str) -> None:
    text = markdown(INFO, [ASKED, StepStarted(1), TextDone(0, said)])
    assert text.endswith(f"## Answer\n\n{written}\n")


def test_files_that_came_with_a_message_are_named() -> None:
    named = (Reference("file", "plot.png"), Reference("file", "a`![x](y)\n<b>.pdf"))
    asked = TurnStarted(1, "Look", "review", "m", references=(*named, Reference("error")))
    heard = MessagesHeard((1,), "And this", named[:1])
    text = markdown(INFO, [asked, StepStarted(1), heard])
    assert "> Look\n\nWith `plot.png`, ``a`![x](y) <b>.pdf``\n" in text
    assert "> And this\n\nWith `plot.png`\n" in text


def test_hostile_titles_and_paths_are_text() -> None:
    info = SessionInfo(
        "s", "a`b\n# c.ipynb", "<b>*x*\n# y ![z](w)", "m", "review", False, 0, 0
    )  # fmt: skip
    first, _, second, *_ = markdown(info, [ASKED]).split("\n")
    assert first == "# &lt;b&gt;*x* # y !&#91;z&#93;(w)"
    assert second == "Notebook: ``a`b # c.ipynb``  "


@pytest.mark.parametrize(
    ("dollars", "local", "words"),
    [(0.1234567, False, "$0.1235"), (None, False, "unknown"), (0.0, True, "local")],
)
def test_the_cost_stands_above_it(dollars: float | None, local: bool, words: str) -> None:
    used = [UsageChanged(Usage(1), 0.1, 0.01), UsageChanged(Usage(2), 0.1, dollars, local=local)]
    text = markdown(INFO, [ASKED, StepStarted(1), *used])
    assert f" UTC  \nCost: {words}\n\n## You" in text
