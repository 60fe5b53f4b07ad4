"""Two people on the hub of deploy/hub. Each can work, and neither can reach the other's data.

``scripts/engines hub`` runs this, against the fake model.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from scripts.benchmark.servers import free_port
from tests.fake_anthropic import FakeAnthropic
from tests.fake_anthropic.scenarios import SCENARIOS
from tests.fake_anthropic.scripts import by_words, echo

ROOT = Path(__file__).parents[1]
ENVIRONMENT = ROOT / ".packages" / "hub"
SANDBOXED = "python3-sandboxed"
WORDS = {"alice": "aubergine-4711", "bob": "bergamot-0815"}
"""Each person's secret words."""
KEYS = {name: f"sk-gateway-{name}-0123456789" for name in WORDS}
REFUSED = (302, 403, 404)
PATIENCE = 120.0
"""Maximum seconds for the hub, a person's server, or a turn."""


def check(what: str, holds: object, detail: object = "") -> None:
    if not holds:
        raise AssertionError(f"{what}: {detail!s:.1500}")
    print(f"  held  {what}", flush=True)


# --- the hub ---------------------------------------------------------------------------


@contextmanager
def hub(folder: Path, models: str, password: str) -> Iterator[tuple[str, psutil.Process]]:
    """The address and the process of a hub whose gateway is at ``models``."""
    folder.chmod(0o711)
    keys = folder / "keys.json"
    keys.touch(mode=0o600)
    keys.write_text(json.dumps(KEYS))
    port = free_port()
    programs = [ENVIRONMENT / "bin", ENVIRONMENT / "node_modules" / ".bin"]
    environment = {
        "PATH": ":".join([*map(str, programs), os.environ["PATH"]]),
        "HOME": str(folder),
        "HUB_FOLDER": str(folder),
        "HUB_KEYS": str(keys),
        "HUB_PEOPLE": ",".join(WORDS),
        "HUB_PASSWORD": password,
        "HUB_PORT": str(port),
        "HUB_INNER_PORT": str(free_port()),
        "HUB_PROXY_PORT": str(free_port()),
        "HUB_MODELS": models,
    }
    config = ROOT / "deploy" / "hub" / "jupyterhub_config.py"
    with (folder / "hub.log").open("wb") as log:
        process = psutil.Popen(
            [str(ENVIRONMENT / "bin" / "jupyterhub"), "-f", str(config)],
            **{"env": environment, "cwd": folder, "stdout": log, "stderr": log},
            start_new_session=True,
        )
    try:
        yield f"http://127.0.0.1:{port}", process
    except BaseException:
        print((folder / "hub.log").read_text(errors="replace")[-3000:])
        raise
    finally:
        # The hub ends its servers and the proxy. This ends the processes that remain.
        others = process.children(recursive=True)
        process.terminate()
        _, left = psutil.wait_procs([process, *others], timeout=PATIENCE / 2)
        for one in left:
            one.kill()


def server_of(name: str, process: psutil.Process) -> psutil.Process:
    for one in process.children(recursive=True):
        if "jupyterhub.singleuser" in one.cmdline() and one.environ()["JUPYTERHUB_USER"] == name:
            return one
    raise RuntimeError(f"{name} has no server")


# --- a person --------------------------------------------------------------------------


class Person:
    """A browser without pages: cookies, and each path's XSRF token."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.base = f"/user/{name}"
        self.url = url
        self.http = httpx.AsyncClient(base_url=url, follow_redirects=True, timeout=PATIENCE)
        self.secret = ""

    def word(self, path: str) -> str:
        jar = self.http.cookies.jar
        words = [one.value for one in jar if one.name == "_xsrf" and one.path == path]
        return words[-1] or "" if words else ""

    def cookies(self, path: str) -> str:
        sent = (one for one in self.http.cookies.jar if path.startswith(one.path))
        return "; ".join(f"{one.name}={one.value}" for one in sent)

    async def enter(self, password: str) -> None:
        """Log in, and wait until the person's server runs and has admitted this browser."""
        await self._until("/hub/login")
        form = {"username": self.name, "password": password, "_xsrf": self.word("/hub/")}
        await self.http.post("/hub/login?next=%2Fhub%2Fhome", data=form)
        await self.http.get("/hub/spawn", follow_redirects=False)
        await self._until(f"{self.base}/api")
        await self.http.get(f"{self.base}/lab", headers={"Sec-Fetch-Mode": "navigate"})
        self.secret = (await self.fetch("POST", "codeinterp/api/clients", {}))["secret"]

    async def _until(self, path: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if (await self.http.get(path)).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # The hub's proxy does not listen yet.
            await asyncio.sleep(0.5)
        raise RuntimeError(f"no answer to {self.name} at {path}")

    async def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Send a request, and return any answer. ``path`` may belong to any person's server."""
        given = {"X-XSRFToken": self.word(f"{self.base}/"), **(headers or {})}
        asked = self.http.build_request(method, path, json=body, headers=given)
        return await self.http.send(asked, follow_redirects=False)

    async def fetch(self, method: str, route: str, body: Any = None) -> Any:
        """The successful answer of the person's own server."""
        secret = {"X-Codeinterp-Window": self.secret}
        answer = await self.send(method, f"{self.base}/{route}", body, secret)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    async def refusal(self, method: str, route: str, body: Any = None) -> int:
        """The status of the own server's refusal; 0 if it does not refuse."""
        try:
            await self.fetch(method, route, body)
        except httpx.HTTPStatusError as error:
            return error.response.status_code
        return 0

    async def ticket(self) -> str:
        return str((await self.fetch("POST", "codeinterp/api/tickets", {}))["ticket"])

    async def opens(self, base: str, ticket: str, origin: str = "") -> int:
        """The status of that server's answer to a WebSocket request; 101 if it opens."""
        path = f"{base}/codeinterp/api/channel?ticket={ticket}"
        headers = {"Cookie": self.cookies(path), "Origin": origin or self.url}
        address = self.url.replace("http", "ws", 1) + path
        try:
            (await websocket_connect(HTTPRequest(address, headers=headers))).close()
        except HTTPClientError as error:
            return error.code
        return 101

    async def turn(self, notebook: str, kernel: str) -> str:
        """A turn that adds a cell to a new notebook; the conversation's id."""
        spec = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
        content = {"cells": [], "metadata": spec, "nbformat": 4, "nbformat_minor": 5}
        model = {"type": "notebook", "format": "json", "content": content}
        await self.fetch("PUT", f"api/contents/{notebook}", model)
        text = f"Add for {WORDS[self.name]} #one_cell"
        asked = {"type": "send_message", "notebook": notebook, "text": text, "mode": "review"}
        new = {"session_id": ""}
        made = await self.fetch("POST", "codeinterp/api/command", {**asked, **new})
        to = {"session_id": made["session_id"]}
        route, last, ended = f"codeinterp/api/sessions/{made['session_id']}/events", 0, False
        while not ended:
            for numbered in (await self.fetch("GET", f"{route}?after={last}"))["events"]:
                last, event = numbered["seq"], numbered["event"]
                if event["type"] == "draft_waiting":
                    draft = {name: event["draft"][name] for name in ("draft_id", "nonce", "source")}
                    run = {"type": "decide", "action": "run", **draft, **to}
                    await self.fetch("POST", "codeinterp/api/command", run)
                elif event["type"] == "turn_ended":
                    check(f"{self.name}'s turn", event["stop_reason"] == "end_turn", event)
                    ended = True
            await asyncio.sleep(0.2)
        book = await self.fetch("GET", f"api/contents/{notebook}")
        shown = [(cell["source"], cell.get("outputs")) for cell in book["content"]["cells"]]
        ran = any(source == "1 + 1" and outputs for source, outputs in shown)
        check(f"{self.name}'s cell has run", ran, shown)
        return str(made["session_id"])


# --- what is tried ---------------------------------------------------------------------


def addresses(session_id: str) -> list[tuple[str, str]]:
    """Each method and path of the API, with this conversation's id."""
    names = {"session_id": session_id, "provider": "anthropic", "number": "1"}
    names |= {"token": "0" * 16, "server": "0" * 64}
    paths = json.loads((ROOT / "docs" / "openapi.json").read_text())["paths"]
    return [(m.upper(), path.format_map(names)) for path, methods in paths.items() for m in methods]


async def over_http(alice: Person, bob: Person, session_id: str, token: str) -> None:
    cookies, secret = {"Cookie": bob.cookies("/user/bob/")}, {"X-Codeinterp-Window": alice.secret}
    bearer = {"Authorization": f"token {token}"}
    ways = {"his cookies and her window's secret": cookies | secret, "his token": bearer}
    for way, headers in {**ways, "his token and her window's secret": bearer | secret}.items():
        wrong = []
        for method, path in addresses(session_id):
            body: Any = None if method in ("GET", "DELETE") else {}
            answer = await bob.send(method, f"{alice.base}{path}", body, headers)
            if answer.status_code not in REFUSED or WORDS["alice"] in answer.text:
                wrong.append((method, path, answer.status_code))
        check(f"every route of her server refuses {way}", not wrong, wrong)
    ticket = await alice.ticket()
    for server in (alice, bob):
        status = await bob.opens(server.base, ticket)
        check(f"her ticket is no good for him at {server.base}", status in REFUSED, status)
    status = await alice.opens(alice.base, ticket, origin="https://elsewhere.example")
    check("her own cookies are no good from another site", status in REFUSED, status)
    check("she opens it herself", await alice.opens(alice.base, await alice.ticket()) == 101)
    listed = json.dumps(await bob.fetch("GET", "codeinterp/api/sessions"))
    check("his list of conversations has none of hers", session_id not in listed, listed)
    status = await bob.refusal("GET", f"codeinterp/api/sessions/{session_id}/events")
    check("her conversation is unknown at his server", status == 404, status)


def on_the_machine(folder: Path, server: int, account: int) -> None:
    """Attempts with the account of Bob's server, which may do more than his kernels."""
    home = folder / "homes" / "alice"
    tries = {
        "her notebook": f"cat {home}/notebooks/work.ipynb",
        "her journal": f"cat {home}/.local/share/jupyter/codeinterp/*",
        "her home": f"ls {home}",
        "the names of all homes": f"ls {home.parent}",
        "all keys": f"cat {folder}/keys.json",
        "the hub's database": f"cat {folder}/hub.sqlite",
        "the hub's secret": f"cat {folder}/cookie_secret",
        "her server's environment": f"cat /proc/{server}/environ",
        "her server's end": f"kill {server}",
    }
    for what, line in tries.items():
        who: dict[str, Any] = {"user": account, "group": account, "extra_groups": []}
        done = subprocess.run(["sh", "-c", line], **who, cwd="/", capture_output=True, text=True)
        said = done.stdout + done.stderr
        denied = "denied" in said or "not permitted" in said
        check(f"he has not {what}", denied and WORDS["alice"] not in said, said)


def at_the_gateway(model: FakeAnthropic) -> None:
    wrong = []
    for exchange in model.exchanges:
        key = exchange.headers.get("authorization", "")
        body = json.dumps(exchange.body)
        wrong += [who for who, word in WORDS.items() if word in body and KEYS[who] not in key]
        wrong += [] if any(one in key for one in KEYS.values()) else [f"other key: {key}"]
    check(f"{len(model.exchanges)} requests, each with the person's own key", not wrong, wrong)
    check("every request was in order", not model.violations, model.violations)


async def main() -> None:
    async with AsyncExitStack() as open_:
        model = await open_.enter_async_context(FakeAnthropic(by_words(SCENARIOS, otherwise=echo)))
        folder = Path(open_.enter_context(tempfile.TemporaryDirectory(prefix="codeinterp-hub-")))
        password = secrets.token_urlsafe(12)
        url, process = open_.enter_context(hub(folder, model.url, password))
        alice, bob = [Person(url, name) for name in WORDS]
        for one in (alice, bob):
            await open_.enter_async_context(one.http)
            await one.enter(password)
        spec = ENVIRONMENT / "share" / "jupyter" / "kernels" / SANDBOXED
        kernel = SANDBOXED if spec.exists() else "python3"
        hers, _ = [await one.turn("work.ipynb", kernel) for one in (alice, bob)]
        own = {"key": "sk-ant-of-bobs-own"}
        status = await bob.refusal("POST", "codeinterp/api/connections/anthropic", own)
        check("nobody enters a key of their own", status == 403, status)
        his = server_of("bob", process)
        await over_http(alice, bob, hers, his.environ()["JUPYTERHUB_API_TOKEN"])
        if os.getuid() == 0:
            on_the_machine(folder, server_of("alice", process).pid, his.uids().real)
        else:
            print("  ——    files and processes: without root, all servers are one account")
        at_the_gateway(model)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
