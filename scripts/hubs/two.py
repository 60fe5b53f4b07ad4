"""Alice and Bob on one hub: each works, and neither reaches anything of the other."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from tests.fake_anthropic import FakeAnthropic
from tests.fake_anthropic.scenarios import SCENARIOS
from tests.fake_anthropic.scripts import by_words, echo

from .checks import Checks
from .hub import Hub, hub, key_of
from .inside import command, refusal
from .visitor import Visitor

OPENAPI = Path(__file__).parents[2] / "docs" / "openapi.json"
WORDS = {"alice": "aubergine-4711", "bob": "bergamot-0815"}
"""What each says, and nobody else may see."""
REFUSED = (302, 403, 404)


async def look(checks: Checks) -> None:
    script = by_words(SCENARIOS, otherwise=echo)
    async with AsyncExitStack() as open_:
        model = await open_.enter_async_context(FakeAnthropic(script))
        name = open_.enter_context(
            tempfile.TemporaryDirectory(prefix="codeinterp-hub-", ignore_cleanup_errors=True)
        )
        running = await open_.enter_async_context(hub(Path(name), list(WORDS), model.url))
        await _look(checks, running)
        print("At the gateway")
        _gateway(checks, model)


async def _look(checks: Checks, running: Hub) -> None:
    async with AsyncExitStack() as open_:
        alice, bob = [
            await open_.enter_async_context(Visitor(running.url, who, running.password))
            for who in WORDS
        ]
        await asyncio.gather(alice.enter(), bob.enter())
        print("Each works at their own server")
        ids = {person.name: await _works(checks, running, person) for person in (alice, bob)}
        print("Bob reaches nothing of Alice's over HTTP")
        await _routes(checks, alice, bob, ids["alice"])
        await _sockets(checks, alice, bob)
        await _lists(checks, alice, bob, ids["alice"])
        print("Bob's terminal reaches nothing of Alice's on the machine")
        await _machine(checks, running, alice, bob)


async def _works(checks: Checks, running: Hub, person: Visitor) -> str:
    """A turn by REST; the conversation's id."""
    who = person.name
    session_id = await person.notebook(f"{who}-rest.ipynb", running.kernel)
    await person.turn(session_id, f"Add for {WORDS[who]} #one_cell")
    book = await person.fetch("GET", f"api/contents/{who}-rest.ipynb")
    sources = [cell["source"] for cell in book["content"]["cells"]]
    checks.that(f"{who} runs a cell by REST", "1 + 1" in sources, sources)
    return session_id


def _addresses(session_id: str) -> list[tuple[str, str]]:
    """Each method and path of the API, with the conversation's id in it. An id of another form
    would meet no route of the extension."""
    names = {
        "session_id": session_id,
        "provider": "anthropic",
        "token": "0" * 16,
        "server": "0" * 64,
        "number": "1",
    }
    paths = json.loads(OPENAPI.read_text())["paths"]
    return [
        (method.upper(), path.format_map(names))
        for path, methods in paths.items()
        for method in methods
    ]


async def _routes(checks: Checks, alice: Visitor, bob: Visitor, session_id: str) -> None:
    token = (await command(bob, "printenv JUPYTERHUB_API_TOKEN")).strip()
    secret = {"X-Codeinterp-Window": alice.client_secret}
    own = bob.cookies("/user/bob/")
    ways: dict[str, dict[str, str]] = {
        "his cookies": {},
        "his cookies, sent all the same": {"Cookie": own},
        "his cookies under her name": {"Cookie": own.replace("user-bob", "user-alice")},
        "his server's token": {"Authorization": f"token {token}"},
        "his cookies and her window's secret": {"Cookie": own, **secret},
        "his token and her window's secret": {"Authorization": f"token {token}", **secret},
    }
    addresses = [*_addresses(session_id), ("GET", "/api/contents"), ("GET", "/api/sessions")]
    for way, headers in ways.items():
        wrong = []
        for method, path in addresses:
            body: Any = None if method in ("GET", "DELETE") else {}
            answer = await bob.send(method, f"{alice.base}{path}", body, headers)
            if answer.status_code not in REFUSED or WORDS["alice"] in answer.text:
                wrong.append((method, path, answer.status_code))
        checks.that(f"{len(addresses)} routes refuse {way}", not wrong, wrong)


async def _sockets(checks: Checks, alice: Visitor, bob: Visitor) -> None:
    given = await alice.send("POST", f"{alice.base}/codeinterp/api/tickets", {})
    ticket = given.json()["ticket"]
    hers = f"{alice.base}/codeinterp/api/channel?ticket={ticket}"
    status = await refusal(bob, hers)
    checks.that("her ticket is no good with his cookies", status in REFUSED, status)
    status = await refusal(bob, f"{bob.base}/codeinterp/api/channel?ticket={ticket}")
    checks.that("her ticket is no good at his server", status in REFUSED, status)
    foreign = {"Origin": "https://elsewhere.example"}
    status = await refusal(alice, hers, foreign)
    checks.that("her own cookies are no good from another site", status in REFUSED, status)
    given = await alice.send("POST", f"{alice.base}/codeinterp/api/tickets", {})
    hers = f"{alice.base}/codeinterp/api/channel?ticket={given.json()['ticket']}"
    status = await refusal(alice, hers)
    checks.that("she opens it herself", status == 101, status)


async def _lists(checks: Checks, alice: Visitor, bob: Visitor, session_id: str) -> None:
    listed = json.dumps(await bob.api("GET", "sessions"))
    checks.that("his list of conversations has none of hers", session_id not in listed, listed)
    answer = await bob.try_api("GET", f"sessions/{session_id}/events")
    checks.that("her conversation is unknown at his server", answer.status_code == 404, answer.text)
    for path in ("/hub/api/users", "/hub/api/users/alice", "/hub/metrics"):
        answer = await bob.send("GET", path, headers={"X-XSRFToken": bob.word("/hub/")})
        refused = answer.status_code in REFUSED and "aubergine" not in answer.text
        checks.that(f"the hub refuses {path}", refused, (answer.status_code, answer.text))


async def _machine(checks: Checks, running: Hub, alice: Visitor, bob: Visitor) -> None:
    """From Bob's terminal, which is less bound than his kernels."""
    if os.getuid() != 0:
        checks.left_out(
            "files and processes", "the hub does not run as root, so all are one account"
        )
        return
    home = running.home("alice")
    server = running.server_of("alice").pid
    tries = {
        "her notebook": f"cat {home}/notebooks/alice-rest.ipynb",
        "her journal": f"cat {home}/.local/share/jupyter/codeinterp/*",
        "her home": f"ls {home}",
        "the names of all homes": f"ls {home.parent}",
        "all keys": f"cat {running.folder}/keys.json",
        "the hub's database": f"cat {running.folder}/hub.sqlite",
        "the hub's secret": f"cat {running.folder}/cookie_secret",
        "her server's environment": f"cat /proc/{server}/environ",
        "her server's end": f"kill {server}",
    }
    for what, line in tries.items():
        said = await command(bob, line)
        denied = "denied" in said or "not permitted" in said
        checks.that(f"not {what}", denied and WORDS["alice"] not in said, said)


def _gateway(checks: Checks, model: FakeAnthropic) -> None:
    wrong = []
    for exchange in model.exchanges:
        key = exchange.headers.get("authorization", "")
        body = json.dumps(exchange.body)
        wrong += [who for who, word in WORDS.items() if word in body and key_of(who) not in key]
        wrong += [] if any(key_of(who) in key for who in WORDS) else [f"other key: {key}"]
    checks.that(
        f"{len(model.exchanges)} requests, each with the person's own key", not wrong, wrong
    )
    checks.that("every request was in order", not model.violations, model.violations)
