"""The command line on another machine works at a person's server, with a token of the hub."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from tests.fake_anthropic import FakeAnthropic
from tests.fake_anthropic.scenarios import SCENARIOS
from tests.fake_anthropic.scripts import by_words, echo

from .checks import Checks
from .hub import ENVIRONMENT, Hub, hub
from .visitor import Visitor

TASK = "Add two numbers #one_cell"
PATIENCE = 120.0
"""Seconds for a turn of one cell, with the kernel's start."""


async def look(checks: Checks) -> None:
    print("A terminal elsewhere")
    for allowed in (False, True):
        async with AsyncExitStack() as open_:
            model = await open_.enter_async_context(
                FakeAnthropic(by_words(SCENARIOS, otherwise=echo))
            )
            name = open_.enter_context(
                tempfile.TemporaryDirectory(prefix="codeinterp-hub-", ignore_cleanup_errors=True)
            )
            running = await open_.enter_async_context(
                hub(Path(name), ["alice"], model.url, HUB_TOKEN_WINDOWS=str(int(allowed)))
            )
            alice = await open_.enter_async_context(Visitor(running.url, "alice", running.password))
            await alice.enter()
            await alice.notebook("far.ipynb", running.kernel)
            token = await _token(alice)
            said = await asyncio.to_thread(_run, running, token, Path(name))
            book = await alice.fetch("GET", "api/contents/far.ipynb")
            sources = [cell["source"] for cell in book["content"]["cells"]]
            if allowed:
                checks.that(
                    "with the admin's permission it runs a cell", sources == ["1 + 1"], said
                )
            else:
                refused = not sources and "allow_token_windows" in said
                checks.that("without it, nothing, and it says why", refused, said)
            checks.that("the token is not in what it prints", token not in said)


async def _token(person: Visitor) -> str:
    """A token of the hub, made as on its page of tokens."""
    answer = await person.send(
        "POST",
        f"/hub/api/users/{person.name}/tokens",
        {"note": "terminal"},
        {"X-XSRFToken": person.word("/hub/")},
    )
    return str(answer.json()["token"])


def _run(running: Hub, token: str, folder: Path) -> str:
    """What ``run --server`` prints, in a home without settings."""
    home = folder / "terminal"
    home.mkdir()
    command = str(ENVIRONMENT / "bin" / "jupyter-codeinterp")
    done = subprocess.run(
        [command, "run", "far.ipynb", TASK, "--yes", "--server", f"{running.url}/user/alice"],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "JUPYTER_TOKEN": token},
        cwd=home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        text=True,
        check=False,
    )
    return done.stdout
