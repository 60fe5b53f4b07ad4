"""Measures ``%%ai``: ``%load_ext`` in a new process, and the first word beyond the SDK's own
time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys

from tests.fake_anthropic import FakeAnthropic, Speed, answer, text

from .figures import Bound, Figure

TIMES = 9
WORDS = "One word after the other, and so on. " * 8
LOAD = """
import time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
began = time.perf_counter()
shell.run_line_magic("load_ext", "jupyter_codeinterp")
print(time.perf_counter() - began)
"""
FIRST_WORD = """
import json, os, sys, time
import anthropic
from IPython.core.interactiveshell import InteractiveShell
from jupyter_codeinterp.magic.screens import TerminalScreen
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "jupyter_codeinterp")
seen = []
write = TerminalScreen._write
def timed(self, text):
    if text.strip():
        seen.append(time.perf_counter())
    write(self, text)
TerminalScreen._write = timed
client = anthropic.Anthropic()
magic, alone = [], []
for _ in range(12):
    began = time.perf_counter()
    with client.messages.stream(model="claude-sonnet-5-5", max_tokens=100, system="x",
            messages=[{"role": "user", "content": "hello"}]) as stream:
        next(iter(stream.text_stream))
        alone.append(time.perf_counter() - began)
        for _ in stream.text_stream:
            pass
    seen.clear()
    began = time.perf_counter()
    shell.run_cell_magic("ai", "--plan", "hello")
    magic.append(seen[0] - began)
    shell.run_line_magic("ai", "reset")
print()
print(json.dumps([m - a for m, a in zip(magic[1:], alone[1:])]))
"""


def measure() -> list[Figure]:
    loads = [float(_python(LOAD)) for _ in range(TIMES)]
    beyond = asyncio.run(_first_words())
    loaded, first = (Bound(100, "median"),), (Bound(50, "median"),)
    return [
        Figure("%load_ext jupyter_codeinterp", [s * 1000 for s in loads], "ms", loaded),
        Figure("first word of %%ai, beyond the SDK's", [s * 1000 for s in beyond], "ms", first),
    ]


async def _first_words() -> list[float]:
    """Returns seconds. The fake model streams for longer than the magic gathers words."""
    script = lambda request: answer(text(WORDS))  # noqa: E731
    async with FakeAnthropic(script, speed=Speed(delay=0.02), check=False) as model:
        said = await asyncio.to_thread(_python, FIRST_WORD, ANTHROPIC_BASE_URL=model.url)
    beyond: list[float] = json.loads(said)
    return beyond


def _python(code: str, **env: str) -> str:
    """Run the code, and return the last line that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ANTHROPIC_API_KEY": "sk-fake", **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip().splitlines()[-1]
