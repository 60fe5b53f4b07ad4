"""``auto_needs_sandbox`` at each way in: code runs unasked in a sandboxed kernel alone.

`%%ai` is not tested here, because it runs in the kernel (docs/security.md). Verify is in
tests/core/test_verify_tool.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.run.approval.policy import NEEDS_SANDBOX
from tests import pretending
from tests.cli import fake_process, make_cli
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import notebook
from tests.rest_client import rest_client
from tests.sandbox.here import runs_here
from tests.site import Site

TWO = [answer(run_cell("a = 1")), answer(run_cell("b = 2")), answer(text("Done."))]
Asked = tuple[int, list[Any]]
"""How many drafts waited, and what the first of them offered."""


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"auto_needs_sandbox": True}


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    path = jp_root_dir / "a.ipynb"
    path.write_text(json.dumps(notebook("import math")))
    return path


async def in_a_window(site: Site, mode: str) -> Asked:
    window = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    await window.ask("Go", mode=mode)
    return await _decided(site, window.session_id)


async def by_rest(site: Site, mode: str, **more: str) -> Asked:
    client = await rest_client(site)
    session_id = client.conversation("a.ipynb")
    await client.command("send_message", session_id, text="Go", mode=mode, **more)
    return await _decided(site, session_id)


async def _decided(site: Site, session_id: str) -> Asked:
    """A client decides, with “Run all in this turn” where it may."""
    client = await rest_client(site)
    drafts: list[Any] = []
    async with client.follow(session_id) as stream:
        while not stream.of("turn_ended"):
            await site.until(
                lambda: stream.of("turn_ended") or len(stream.of("draft_waiting")) > len(drafts)
            )
            for event in stream.of("draft_waiting")[len(drafts) :]:
                drafts.append(event["draft"])
                await client.decide(session_id, event["draft"], run_all=True)
    offers = [drafts[0].get("can_run_all", False), *drafts[0].get("notices", [])] if drafts else []
    return len(drafts), offers


WAYS: dict[str, Callable[[Site, str], Awaitable[Asked]]] = {
    "window": in_a_window,
    "REST": by_rest,
    "nobody asked": partial(by_rest, alone="all"),
}
ASKS = {
    # mode, sandboxed → drafts that wait, of two cells; whether "Run all" is offered
    ("auto", False): (2, False),
    ("auto", True): (0, None),
    ("review", False): (2, False),
    ("review", True): (1, True),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("mode", "sandboxed"), ASKS)
async def test_what_asks(
    site: Site, api: FakeAnthropic, file: Path, monkeypatch: pytest.MonkeyPatch,
    way: str, mode: str, sandboxed: bool,
) -> None:  # fmt: skip
    pretending.sandboxed(monkeypatch, sandboxed)
    api.play(in_order(TWO))
    number, offers = await WAYS[way](site, mode)
    expected, can_run_all = ASKS[mode, sandboxed]
    assert (number, offers[0] if offers else None) == (expected, can_run_all)
    unasked = mode == "auto" or way == "nobody asked"
    assert (NEEDS_SANDBOX in offers) is (unasked and not sandboxed)


@runs_here
@pytest.mark.parametrize("sandboxed", [False, True])
def test_the_command_line(tmp_path: Path, sandboxed: bool) -> None:
    with fake_process() as url:
        cli = make_cli(tmp_path, url)
        cli.configure(auto_needs_sandbox=True)
        spec = cli.data / "kernels" / "python3-sandboxed"
        spec.mkdir(parents=True)
        written = {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "Sandboxed",
            "language": "python",
            "metadata": {"kernel_provisioner": {"provisioner_name": "codeinterp-sandbox"}},
        }
        (spec / "kernel.json").write_text(json.dumps(written))
        more = ["--sandbox"] if sandboxed else []
        ran = cli.run("run", "a.ipynb", "#one_cell", "--yes", *more)
    assert ran.code == 0, ran.err
    assert ("no one could be asked" in ran.err) is not sandboxed
    assert ("1 + 1" in cli.sources()) is sandboxed
