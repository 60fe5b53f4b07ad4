"""``--server``: turns on a running server, shown and reviewed in this terminal."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2

from ...core.approval.decisions import Alone
from ...core.errors import CommandError
from ...core.visible import visible_line
from ...core.wire import events as e
from ...core.wire.events import Mode
from ..local.problems import USAGE, Problem
from ..remote import RemoteServer, address, is_open
from ..terminal.fronts import Decision, Front
from ..terminal.stopping import Stopping
from .turn import exit_code, refused, to_the_end

VARIABLE = "JUPYTER_TOKEN"
"""The environment variable with the server's token or password."""
NOT_HERE = ("sandbox", "existing", "output", "max_steps", "timeout", "continued")
"""Options that apply only to work in this process."""


class RemoteConversation:
    def __init__(self, server: RemoteServer, notebook: str, kernel: str) -> None:
        self._server = server
        self._notebook = notebook
        self._kernel = kernel
        self._session_id = ""
        self._last = 0
        """The number of the last event that was read."""
        self._stopping: asyncio.Future[None] | None = None

    async def send(
        self,
        text: str,
        mode: Mode,
        model: str,
        references: tuple[e.Reference, ...] = (),
        alone: Alone = "",
    ) -> None:
        given = {"mode": mode, "model": model, "kernel": self._kernel}
        if not self._session_id:
            session = await self._begin("sessions", {"notebook": self._notebook, **given})
            self._session_id = str(session["session_id"])
        named = [{"kind": one.kind, "name": one.name} for one in references]
        message = {"text": text, "references": named, "alone": alone, **given}
        await self._begin(f"sessions/{self._session_id}/messages", message)

    async def retry(self) -> None:
        await self._begin(f"sessions/{self._session_id}/retry", {"kernel": self._kernel})

    async def _begin(self, path: str, given: dict[str, Any]) -> Any:
        try:
            return await self._server.post(path, given)
        except CommandError as error:
            raise refused(error) from None
        except httpx2.HTTPError as error:
            raise Problem(f"{self._server.url} does not answer: {error}.") from None

    async def events(self) -> AsyncIterator[bytes]:
        async for number, raw in self._server.events(self._session_id, self._last):
            self._last = number
            yield raw

    async def decide(self, draft: e.Draft, decision: Decision) -> None:
        given = {
            "draft_id": draft.draft_id,
            "nonce": draft.nonce,
            "action": decision.action,
            "source": decision.source,
            "run_all": decision.run_all,
            "reason": decision.reason,
            "nobody": decision.nobody,
        }
        await self._post("decisions", given)

    async def answer(self, call_id: str, text: str) -> None:
        await self._post("answers", {"call_id": call_id, "text": text})

    def stop(self) -> None:
        self._stopping = asyncio.ensure_future(self._stop())

    def leave(self) -> None:
        """Do nothing: the kernel belongs to the server."""

    async def unfinished(self, ended: e.TurnEnded) -> None:
        """Do nothing: the page shows it."""

    async def _stop(self) -> None:
        with suppress(CommandError):  # It has ended.
            await self._post("stop", {})

    async def _post(self, what: str, given: dict[str, Any]) -> None:
        """Raises CommandError. ``events`` reports a lost connection."""
        with suppress(httpx2.HTTPError):
            await self._server.post(f"sessions/{self._session_id}/{what}", given, again=True)


@asynccontextmanager
async def conversation_there(options: argparse.Namespace) -> AsyncIterator[RemoteConversation]:
    """Raises Problem."""
    if wrong := next((name for name in NOT_HERE if getattr(options, name, None)), ""):
        wrong = wrong.replace("_", "-").replace("continued", "continue")
        raise Problem(f"--{wrong} does not go with --server.", USAGE)
    url = address(options.server)
    async with RemoteServer(url) as server:
        await server.log_in(_password(url))
        yield RemoteConversation(server, options.notebook, options.kernel or "")


async def run_there(
    options: argparse.Namespace, mode: Mode, front: Front, stopping: Stopping
) -> int:
    """The exit code. Raises Problem."""
    async with conversation_there(options) as talk:
        await talk.send(options.prompt, mode, options.model or "", alone=front.alone)
        return exit_code(await to_the_end(talk, front, stopping))


def _password(url: str) -> str:
    """The password or token: from the environment, else typed without an echo. Raises Problem."""
    if is_open(url):
        words = f"The connection to {url} is not encrypted: others on the way can read it."
        print(visible_line(words), file=sys.stderr, flush=True)
    if given := os.environ.get(VARIABLE, ""):
        return given
    if not sys.stdin.isatty():
        raise Problem(f"Set {VARIABLE} to the token or password of {url}.", USAGE)
    try:
        return getpass.getpass(f"Token or password of {url} (not shown): ").strip()
    except EOFError:
        raise Problem("No password was given.", USAGE) from None
