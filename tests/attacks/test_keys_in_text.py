"""A key that the server knows reaches neither the model nor the journal, whole or in part."""

from __future__ import annotations

import base64
import codecs
import html
import json
import random
import string
import time
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.run.turn.limits import Rules
from jupyter_codeinterp.view import outputs
from jupyter_codeinterp.view.context import Context
from jupyter_codeinterp.view.notebook_prompt import variable_lines
from jupyter_codeinterp.view.redaction.secrets import REMOVED, Secrets
from jupyter_codeinterp.view.untrusted import Untrusted
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import CellView, Snapshot
from tests.core.conftest import bench, jp_asyncio_loop, room, shared_room, store
from tests.reference_window import notebook
from tests.scripted import call, run, say

__all__ = ["bench", "jp_asyncio_loop", "room", "shared_room", "store"]

LETTERS = random.Random(1)
LONG = "sk-ant-api03-" + "".join(LETTERS.choices(string.ascii_letters + string.digits, k=95))
SHORT = "Zq7-Tr4-Wm9-Kx"  # 14 characters
MOST_OF_SHORT = 8
"""Characters of it in a row that are no part yet: more than half is one."""


def knowing(*keys: str) -> Secrets:
    secrets = Secrets()
    for key in keys:
        secrets.add(key)
    return secrets


def shared(text: str, key: str) -> int:
    """The longest part of ``key`` that stands in ``text``."""
    best = 0
    for start in range(len(key)):
        while start + best < len(key) and key[start : start + best + 1] in text:
            best += 1
    return best


WRITINGS = {
    "as it is": lambda k: k,
    "as bytes": lambda k: repr(k.encode()),
    "in a list of characters": lambda k: repr(list(k)),
    "in a list of numbers": lambda k: repr(list(k.encode())),
    "in base64": lambda k: base64.b64encode(k.encode()).decode(),
    "in base64 behind one byte": lambda k: base64.b64encode(b"x" + k.encode() + b"yz").decode(),
    "in base64 behind two bytes": lambda k: base64.b64encode(b"xy" + k.encode() + b"z").decode(),
    "in base64 for addresses": lambda k: base64.urlsafe_b64encode(b"??" + k.encode()).decode(),
    "in base64 in lines": lambda k: base64.encodebytes(k.encode()).decode(),
    "in base32": lambda k: base64.b32encode(k.encode()).decode(),
    "in hex": lambda k: k.encode().hex(),
    "in upper-case hex": lambda k: k.encode().hex().upper(),
    "in hex with blanks": lambda k: k.encode().hex(" "),
    "in hex with colons": lambda k: k.encode().hex(":"),
    "as an address": lambda k: "".join(f"%{byte:02X}" for byte in k.encode()),
    "quoted for an address": lambda k: urllib.parse.quote(k, safe=""),
    "with Python's escapes": lambda k: "".join(f"\\x{byte:02x}" for byte in k.encode()),
    "with JSON's escapes": lambda k: "".join(f"\\u{byte:04x}" for byte in k.encode()),
    "as HTML": lambda k: "".join(f"&#{byte};" for byte in k.encode()),
    "reversed": lambda k: k[::-1],
    "in capitals": lambda k: k.upper(),
    "turned by thirteen": lambda k: codecs.encode(k, "rot13"),
    "with blanks": lambda k: " ".join(k),
    "in lines": lambda k: "\n".join(k),
    "in a web page": lambda k: html.escape(f"<b>{k}</b>"),
    "in JSON": lambda k: json.dumps({"key": k}),
    "in JSON in JSON": lambda k: json.dumps(json.dumps({"key": "\\x".join(["", k])})),
}


@pytest.mark.parametrize("key", [LONG, SHORT], ids=["a long key", "a short key"])
@pytest.mark.parametrize("writing", WRITINGS)
def test_a_key_written_otherwise_is_removed(writing: str, key: str) -> None:
    written = WRITINGS[writing](key)
    for text in (written, f"before {written} after", json.dumps({"a": f"x {written} y"})):
        left = knowing(LONG, SHORT).scrub(text)
        assert REMOVED in left and shared(left, written) <= max(len(written) // 3, 20)
        assert shared(left, key) < MOST_OF_SHORT


@pytest.mark.parametrize("key", ["Schlüssel-für-Türen-7", "~?>~~??>>key~?>~?>~?>"])
@pytest.mark.parametrize(
    "writing", ["as it is", "reversed", "in capitals", "in base64", "in base64 for addresses"]
)
def test_a_key_of_unusual_characters_is_removed(writing: str, key: str) -> None:
    """Of others than ASCII, and of those that the two kinds of base64 write differently."""
    written = WRITINGS[writing](key)
    left = knowing(key).scrub(f"before {written} after")
    assert REMOVED in left and shared(left, written) < MOST_OF_SHORT


@pytest.mark.parametrize("length", range(11, 108, 8))
def test_a_part_of_a_key_is_removed_wherever_it_was_cut(length: int) -> None:
    secrets = knowing(LONG, SHORT)
    for part in (LONG[:length], LONG[-length:], LONG[20 : 20 + length]):
        if len(part) >= 16 and part != LONG[: len("sk-ant-api03-")]:
            assert shared(secrets.scrub(f"x {part} y"), LONG[13:]) < 4
    for part in (SHORT[:11], SHORT[3:], SHORT[:9]):
        assert shared(secrets.scrub(f"'{part}"), SHORT) < 4


@pytest.mark.parametrize("length", range(4, 15))
def test_the_smallest_beginning_of_a_key_is_removed_before_a_cut(length: int) -> None:
    secrets = knowing(SHORT)
    start, end = SHORT[:length], SHORT[-length:]
    cut = f"{start}\n[… 1,234 characters left out …]\n{end} y"
    for text in (f"x{start}…", f"'{start}'…", cut):
        assert shared(secrets.scrub(text), SHORT) < 4


def test_ordinary_text_is_left_alone() -> None:
    text = "The key begins with sk-ant-api03- and has 108 characters; Tr4 is a column. " * 20
    assert knowing(LONG, SHORT).scrub(text) == text
    assert knowing().scrub(text) == text


@given(st.text(max_size=30), st.text(max_size=30), st.integers(0, 107), st.integers(0, 107))
def test_what_was_json_is_json_afterwards(before: str, after: str, one: int, two: int) -> None:
    start, end = sorted((one, two))
    for writing in ("as it is", "with Python's escapes", "with JSON's escapes", "in lines"):
        text = before + WRITINGS[writing](LONG)[start:end] + after
        for ascii_only in (True, False):
            json.loads(SECRETS.scrub(json.dumps([text, text], ensure_ascii=ascii_only)))


SECRETS = knowing(LONG, SHORT)


def test_an_escape_that_ends_as_a_part_of_a_key_begins_is_not_cut_in_two() -> None:
    """A line's end before "new", say, where the key has "nnew": JSON has an "n" there."""
    tried = set()
    for place, letter in enumerate(LONG[:80]):
        rest = LONG[place + 1 :]
        escapes = [f"\\{letter}"] if letter in "bfnrt" else []
        if letter in string.hexdigits:
            escapes += [f"\\u000{letter}", f"\\u010{letter}", f"\\ud83d\\ude0{letter}"]
        for escape in escapes:
            tried.add(escape)
            for before in ("", "x", "\\\\"):
                left = SECRETS.scrub(f'"{before}{escape}{rest}"')
                json.loads(left)
                assert REMOVED in left
    assert len(tried) > 30


@pytest.mark.parametrize("writing", ["with Python's escapes", "with JSON's escapes"])
@pytest.mark.parametrize("after", ['"', "\n", "\x01", '\\"', "\\", "ä"])
def test_an_escape_behind_an_escaped_key_is_not_cut_in_two(writing: str, after: str) -> None:
    written = WRITINGS[writing](LONG[:40])
    for text in (written + after, written + after + "x", [written, after]):
        left = SECRETS.scrub(json.dumps(text))
        json.loads(left)
        assert REMOVED in left


@pytest.mark.parametrize("fill", [0, 5_990, 9_990, 179_990, 299_990, 300_100])
def test_an_output_is_cut_after_its_keys_are_removed(fill: int) -> None:
    for offset in range(0, 24, 3):
        text = "x" * (fill + offset) + SHORT + "y" * 320_000
        stream = {"output_type": "stream", "name": "stdout", "text": text}
        error = {"output_type": "error", "ename": "E", "evalue": text, "traceback": [text]}
        for given_ in ([stream], [error], [{"output_type": "display_data",
                                            "data": {"text/plain": text}}]):  # fmt: skip
            assert shared(outputs.see(given_, images_left=0, scrub=SECRETS.scrub).text, SHORT) < 4
        assert shared(outputs.summary([error], SECRETS.scrub), SHORT) < 4


def test_names_sources_titles_and_values_are_cut_after_their_keys_are_removed() -> None:
    for fill in range(80, 204):
        text = "x" * fill + SHORT + "y" * 300
        cell = CellView("c", "code", text, ({"output_type": "stream", "text": text},))
        big = CellView("d", "code", text + "\n" + "z" * 20_000)
        told = Context(scrub=SECRETS.scrub).describe(
            Snapshot("a.ipynb", (cell, big)),
            [(text, 1)],
            None,
            [{"name": "v", "value": text}],
            set(),
        )
        assert shared(told, SHORT) < 4
        (line,) = variable_lines([{"name": "v", "value": text[:199] + "…"}], SECRETS.scrub).values()
        assert shared(line, SHORT) < 4
    source = "s" * 5_940 + SHORT + "t" * 20_000
    assert shared(Untrusted(SECRETS.scrub).shown(source), SHORT) < 4


def test_a_key_in_two_outputs_in_a_row() -> None:
    halves = [
        {"output_type": "stream", "name": "stdout", "text": part} for part in (LONG[:50], LONG[50:])
    ]
    assert shared(outputs.see(halves, images_left=0, scrub=SECRETS.scrub).text, LONG) < 4


def test_a_key_that_a_terminal_puts_together() -> None:
    for text in (f"{LONG[:30]}\x1b[1m{LONG[30:]}", f"xx\r{LONG}", f"{LONG[:9]}x\b{LONG[9:]}"):
        stream = {"output_type": "stream", "name": "stdout", "text": text}
        assert shared(outputs.see([stream], images_left=0, scrub=SECRETS.scrub).text, LONG) < 13


def _seconds(text: str) -> float:
    began = time.thread_time()
    SECRETS.scrub(text)
    return time.thread_time() - began


async def test_code_prints_the_key_in_every_way_that_is_known(bench: Any, tmp_path: Path) -> None:
    prints = f"""\
import base64
k = {LONG[:60]!r} + {LONG[60:]!r}
print(k[::-1], k.encode().hex())
print(base64.b64encode(b"x" + k.encode())[4:80])
print("z" * 5_990 + k + "z" * 9_000)
v = "w" * 150 + k
raise ValueError("q" * 1_400 + k)"""
    store = SqliteStore(tmp_path / "own.db", SECRETS.scrub)
    b = bench(
        run(prints),
        call("inspect_variables"),
        call("read_notebook", outputs=True),
        say("Done."),
        book=notebook(f"key = {LONG!r}"),
        rules=Rules(scrub=SECRETS.scrub),
    )
    b.send(mode="auto")
    b.decide(await b.draft())  # Parts of a key in code ask in every mode.
    await b.ended()
    sent = "".join(repr(request.messages) for request in b.model.requests)
    assert "ValueError" in sent and REMOVED in sent
    for writing in ("as it is", "reversed", "in hex", "in base64 behind one byte"):
        written = WRITINGS[writing](LONG)
        model_wrote = run(prints)  # The halves that the script itself writes.
        assert shared(sent.replace(repr(model_wrote), ""), written) <= 60
    for done in b.of(e.ToolDone):
        assert shared(done.detail + done.summary, LONG[13:]) < 8
    store.close()
