"""``run --server``: a turn on a running server, from a terminal somewhere else."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import nbformat
import pexpect
import pytest

from jupyter_codeinterp.cli import remote
from jupyter_codeinterp.cli.local.problems import Problem
from jupyter_codeinterp.cli.remote import address, is_open
from tests.cli import COMMAND
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.gateways import Link
from tests.reference_window import notebook
from tests.site import Site

CELLS = ("a = 20", "b = a + 1", "print(b * 2)")


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    file = jp_root_dir / "a b.ipynb"
    file.write_text(json.dumps(notebook("import math")))
    return file


@asynccontextmanager
async def started(
    site: Site, *arguments: str, url: str = "", token: str = ""
) -> AsyncIterator[Process]:
    given = token or site.app.identity_provider.token
    process = await asyncio.create_subprocess_exec(
        *COMMAND, "run", "a b.ipynb", "What is it?", "--server", url or site.url, *arguments,
        env={**os.environ, "JUPYTER_TOKEN": given},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ran(site: Site, *arguments: str, **given: str) -> tuple[int, str, str]:
    async with started(site, *arguments, **given) as process:
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()


async def test_a_turn_on_a_server(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order([*(answer(run_cell(source)) for source in CELLS), answer(text("It is 42."))]))
    code, out, err = await ran(site, "--yes")
    assert (code, err) == (0, ""), err
    assert "It is 42." in out and out.endswith("Cells: 3 added.\n")
    book = nbformat.read(file, as_version=4)
    assert [cell.source for cell in book.cells] == ["import math", *CELLS]
    (session,) = site.extension.manager.sessions.values()
    assert session.info.mode == "auto"


async def test_events_for_programs(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order([answer(run_cell("1 + 1")), answer(text("The total is 9,999."))]))
    code, out, _ = await ran(site, "--yes", "--json")
    kinds = [json.loads(line)["type"] for line in out.splitlines()]
    assert (code, kinds[-1]) == (0, "turn_ended") and "turn_started" in kinds


async def test_what_cannot_be_begun(site: Site, file: Path) -> None:
    cases: list[tuple[list[str], dict[str, str], str]] = [
        (["--yes"], {"token": "wrong"}, "does not accept this password or token"),
        (["--yes", "--max-steps", "3"], {}, "--max-steps does not go with --server"),
        (["--yes", "--output", "x.ipynb"], {}, "--output does not go with --server"),
        (["--yes", "--kernel", "none"], {}, "none"),
        ([], {}, "No terminal to ask in"),
        (["--yes"], {"url": "http://localhost:1"}, "http://localhost:1 does not answer"),
        (["--yes"], {"url": f"{site.url}/nowhere"}, "nowhere"),
    ]
    for arguments, given, words in cases:
        code, out, err = await ran(site, *arguments, **given)
        assert code in (1, 2) and out == "" and words in err, (arguments, given)


async def test_ctrl_c_stops_the_turn_there(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order([answer(run_cell("import time\nprint('on')\ntime.sleep(600)"))]))
    async with started(site, "--yes", "--json") as process:
        await has(process, b'"run_started"')
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
        assert process.returncode == 130
    assert json.loads(out.splitlines()[-1])["stop_reason"] == "cancelled"


async def test_after_a_cut_it_goes_on(site: Site, api: FakeAnthropic, file: Path) -> None:
    go_on = file.parent / "go on"
    waits = "import os, time\nwhile not os.path.exists('go on'): time.sleep(0.1)"
    api.play(in_order([answer(run_cell(waits)), answer(text("It is 42."))]))
    parts = urlsplit(site.url)
    link = Link(parts.port or 0, 0.0)
    await link.open()
    try:
        url = f"http://127.0.0.1:{link.port}{parts.path}"
        async with started(site, "--yes", "--json", url=url) as process:
            seen = await has(process, b'"run_started"')
            link.cut()
            go_on.touch()
            (session,) = site.extension.manager.sessions.values()
            await site.until(lambda: not session.running)
            link.reconnect()
            out, err = await process.communicate()
            assert process.returncode == 0, err
    finally:
        await link.close()
    kinds = [json.loads(line)["type"] for line in [*seen, *out.splitlines()]]
    assert kinds.count("turn_started") == kinds.count("turn_ended") == kinds.count("tool_done") == 1


async def has(process: Process, part: bytes) -> list[bytes]:
    """The lines of its output up to the first with that part."""
    assert process.stdout is not None
    lines: list[bytes] = []
    while not lines or part not in lines[-1]:
        lines.append(await process.stdout.readline())
        assert lines[-1], lines
    return lines


async def test_a_person_decides_in_a_terminal(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order([answer(run_cell("6 * 7")), answer(text("It is 42."))]))

    def talk() -> Any:
        command, *others = [*COMMAND, "run", "a b.ipynb", "What?", "--server", site.url]
        child = pexpect.spawn(
            command, others, env={**os.environ, "TERM": "xterm"}, encoding="utf-8", timeout=100
        )
        child.expect("not shown")
        child.sendline(site.app.identity_provider.token)
        child.expect("Run it")
        child.sendline("y")
        child.expect(pexpect.EOF)
        child.close()
        return SimpleNamespace(code=child.exitstatus, said=child.before)

    done = await asyncio.to_thread(talk)
    assert done.code == 0 and "It is 42." in done.said
    assert nbformat.read(file, as_version=4).cells[1].source == "6 * 7"


async def test_a_chat_on_a_server(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(
        in_order(
            [
                answer(run_cell("kept = 6")),
                answer(text("It is kept.")),
                answer(run_cell("kept * 7")),
                answer(text("It is 42; see [it](#cell:x).")),
                answer(text("word " * 400)).at(delay=0.2),
            ]
        )
    )

    def talk() -> Any:
        command, *others = [*COMMAND, "chat", "a b.ipynb", "--server", site.url]
        child = pexpect.spawn(
            command,
            others,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            encoding="utf-8",
            timeout=100,
            dimensions=(50, 160),
        )
        child.expect("not shown")
        child.sendline(site.app.identity_provider.token)
        child.expect("Ask about a b.ipynb.*Review>")
        child.send("/mode auto\r")
        child.expect("Auto: Code runs without asking.*Auto>")
        child.send("Keep six\r")
        child.expect("It is kept.*Cells: 1 added.*Auto>")
        child.send("/mode review\r")
        child.expect("Review>")
        child.send("And seven times that?\r")
        child.expect("Run it")
        child.sendline("r")
        child.expect(r"It is 42; see it\..*Review>")
        child.send("Tell me more\r")
        child.expect("word word")
        child.send("\x03")
        child.expect("Stopped.*Review>")
        child.send("\x04")
        child.expect(pexpect.EOF)
        child.close()
        return child

    child = await asyncio.to_thread(talk)
    assert child.exitstatus == 0
    cells = nbformat.read(file, as_version=4).cells
    assert [cell.source for cell in cells] == ["import math", "kept = 6", "kept * 7"]
    assert cells[2].outputs[0].data["text/plain"] == "42"
    (session,) = site.extension.manager.sessions.values()
    assert not session.running


async def test_a_cut_after_a_long_silence_is_no_lost_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "RECONNECT", 0.4)
    monkeypatch.setattr(remote, "AGAIN", 0.01)
    asked: list[str] = []

    async def quiet_then_cut() -> AsyncIterator[bytes]:
        for _ in range(8):
            await asyncio.sleep(0.1)
            yield b": nothing happened\n\n"
        raise httpx2.ReadError("cut")

    async def answers(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.headers["Last-Event-ID"])
        if len(asked) == 1:
            return httpx2.Response(200, content=quiet_then_cut())
        return httpx2.Response(200, content=b"id: 7\ndata: {}\n\n")

    async with remote.RemoteServer("http://localhost") as server:
        server._http = httpx2.AsyncClient(transport=httpx2.MockTransport(answers))
        assert await anext(server.events("s")) == (7, b"{}")
    assert asked == ["0", "0"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("localhost:8888", "needs the address"),
        ("ftp://x", "needs the address"),
        ("http://", "needs the address"),
        ("http://x/lab?token=abc", "Leave the token"),
        ("http://me:abc@x", "Leave the token"),
    ],
)
def test_what_is_no_address(given: str, words: str) -> None:
    with pytest.raises(Problem) as refused:
        address(given)
    assert words in refused.value.words and "abc" not in refused.value.words


def test_addresses() -> None:
    assert address("https://hub.example.org/user/me/") == "https://hub.example.org/user/me"
    assert is_open("http://example.org") and not is_open("http://localhost:8888")
    assert not is_open("https://example.org") and sys.platform
