"""What looks like a secret is removed from data for the model, and ordinary text stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.view.redaction.found_secrets import without_secrets
from jupyter_codeinterp.wire.messages import Text, ToolResult
from tests.core.conftest import Room, bench, jp_asyncio_loop, room, shared_room, store
from tests.injection.sets import canaries, changed, escaped, ordinary
from tests.reference_window import notebook
from tests.scripted import Bench, call, run, say

__all__ = ["bench", "jp_asyncio_loop", "room", "shared_room", "store"]

PART = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
MARKS = {
    f"ghp_{PART} and more": "[GitHub token removed] and more",
    f"postgresql://anna:{PART}@db/sales": "postgresql://anna:[password removed]@db/sales",
    f"REPORT_TOKEN='{PART}'": "REPORT_TOKEN='[value of REPORT_TOKEN removed]'",
    f"Authorization: Bearer {PART}": "Authorization: Bearer [credentials removed]",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n": "[private key removed]\n",
    f"x\\nhf_{PART}": "x\\n[Hugging Face token removed]",
    "DB_PASSWORD=hunter2!": "DB_PASSWORD=[value of DB_PASSWORD removed]",
}


@pytest.mark.parametrize("seed", range(5))
def test_all_canaries_are_removed(seed: int) -> None:
    known = list(canaries(seed))
    assert len(known) >= 100 and all(one.parts for one in known)
    assert escaped(known) == []


def test_ordinary_outputs_stay() -> None:
    found = ordinary()
    assert len(found) >= 200 and len(changed(found)) <= len(found) / 100


@pytest.mark.parametrize("text", MARKS)
def test_a_mark_says_what_was_there(text: str) -> None:
    assert without_secrets(text) == MARKS[text]
    assert without_secrets(MARKS[text]) == MARKS[text], "once is enough"


@pytest.mark.parametrize("text", MARKS)
@pytest.mark.parametrize("before", ["a line\n", "a word "])
def test_a_mark_in_a_long_text(text: str, before: str) -> None:
    start = before * 10_000
    assert without_secrets(f"{start}{text}") == f"{start}{MARKS[text]}"


async def test_the_model_does_not_read_them(bench: Callable[..., Bench], room: Room) -> None:
    await room.run(f"REPORT_TOKEN = {PART!r}")
    book = notebook(f"key = 'ghp_{PART}'")
    shown = "print('postgresql://anna:' + REPORT_TOKEN + '@db')"
    b = bench(run(shown), call("inspect_variables"), call("read_notebook"), say("Done."), book=book)
    await b.turn(f"My words stay: REPORT_TOKEN={PART}")
    texts = [
        part.text
        for message in b.model.requests[-1].messages
        for block in message.content
        for part in (block.content if isinstance(block, ToolResult) else (block,))
        if isinstance(part, Text)
    ]
    having = [text for text in texts if PART in text]
    assert having == [f"My words stay: REPORT_TOKEN={PART}"]
    told = "\n".join(texts)
    assert "[GitHub token removed]" in told and "[password removed]" in told
    assert "[value of REPORT_TOKEN removed]" in told
    assert book["cells"][0]["source"] == f"key = 'ghp_{PART}'"
