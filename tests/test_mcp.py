"""Outside agents over MCP: the official client over HTTP, a real server and a real kernel."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import nbformat
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.features.mcp_server import conversation
from jupyter_codeinterp.features.mcp_server.conversation import NEEDS
from jupyter_codeinterp.features.mcp_server.service import NO_TOKEN, TokenFile
from jupyter_codeinterp.session.server import service
from tests.fake_anthropic import FakeAnthropic, answer, in_order, text
from tests.reference_window import notebook
from tests.rest_client import RestClient, rest_client
from tests.site import Site

PATH = "work/a.ipynb"
CHANGES = {"run_cell", "edit_cell", "add_markdown", "delete_cell"}


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"window_grace": 600.0}


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    (jp_root_dir / "work").mkdir()
    path = jp_root_dir / "work" / "a.ipynb"
    path.write_text(json.dumps(notebook("import math")))
    return path


@asynccontextmanager
async def outside(site: Site, token: str, **given: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        url = f"{site.url}/codeinterp/api/mcp"
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, **given) as client:
            yield client


async def token(client: RestClient) -> str:
    return str((await client.post("mcp", "token"))["token"])


def texts(result: Any) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def sources(file: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(file, as_version=4).cells]


async def begun(site: Site) -> str:
    """The id of the one conversation, once there is one."""
    await site.until(lambda: site.extension.manager.sessions)
    (session,) = site.extension.manager.sessions.values()
    return str(session.info.session_id)


@asynccontextmanager
async def drafted(
    site: Site, rest: RestClient, client: Client, **given: Any
) -> AsyncIterator[tuple[asyncio.Future[Any], str, dict[str, Any]]]:
    """A call of ``run_cell`` whose draft waits."""
    call = client.call_tool("run_cell", {"notebook": PATH, **given})
    calling = asyncio.ensure_future(call)
    session_id = await begun(site)
    async with rest.follow(session_id) as stream:
        draft = (await stream.event("draft_waiting"))["draft"]
    assert not calling.done()
    yield calling, session_id, draft


ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])


@ERAS
async def test_a_client_reads(site: Site, file: Path, mode: str) -> None:
    rest = await rest_client(site)
    before = sources(file)
    async with outside(site, await token(rest), mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert set(tools) == set(NEEDS) and len(tools) == len(NEEDS)
        assert texts(await client.call_tool("list_notebooks", {})) == "No notebook is open."
        read = await client.call_tool("read_notebook", {"notebook": PATH})
        assert "import math" in texts(read) and not read.is_error
        looked = await client.call_tool("inspect_variables", {"notebook": PATH})
        assert looked.is_error and "kernel" in texts(looked), "and none is started for it"
        wrong = await client.call_tool("other", {"notebook": PATH})
        assert wrong.is_error and "no tool 'other'" in texts(wrong)
        lost = await client.call_tool("read_notebook", {"notebook": "../other.ipynb"})
        assert lost.is_error and "No notebook" in texts(lost)
    assert sources(file) == before
    (session,) = site.extension.manager.sessions.values()
    assert session.info.title == "By another agent"


async def test_it_lists_the_notebooks_that_a_page_has_open(site: Site) -> None:
    w = await site.window()
    async with outside(site, await token(await rest_client(site))) as client:
        assert texts(await client.call_tool("list_notebooks", {})) == w.path


async def test_a_client_reads_nothing_behind_a_link(
    site: Site, file: Path, jp_root_dir: Path, tmp_path: Path
) -> None:
    """It could lead out of the server's root."""
    there = tmp_path / "outside"
    there.mkdir()
    shutil.copy(file, there / "b.ipynb")
    (jp_root_dir / "linked").symlink_to(there)
    (file.parent / "b.ipynb").symlink_to(there / "b.ipynb")
    async with outside(site, await token(await rest_client(site))) as client:
        for name, given in (
            ("read_notebook", {"notebook": "linked/b.ipynb"}),
            ("read_notebook", {"notebook": "work/b.ipynb"}),
        ):
            refused = await client.call_tool(name, given)
            assert refused.is_error and "is a link, or behind one" in texts(refused), given


@ERAS
async def test_a_run_waits_for_a_person(site: Site, file: Path, mode: str) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest), mode=mode) as client:
        async with drafted(site, rest, client, source="print(6 * 7)") as (
            calling,
            session_id,
            draft,
        ):
            await rest.decide(session_id, draft)
            result = await calling
        assert "42" in texts(result) and not result.is_error
        # The next call is a step of the same turn, and needs its own decision.
        async with drafted(site, rest, client, source="1 / 0") as (calling, session_id, draft):
            draft = await second(rest, session_id)
            await rest.decide(session_id, draft)
            assert "ZeroDivisionError" in texts(await calling)
        (session,) = site.extension.manager.sessions.values()
        assert session.turn == 1 and session.running
        await rest.command("cancel", session_id)
    assert sources(file) == ["import math", "print(6 * 7)", "1 / 0"]
    listed = (await site.get("sessions"))["sessions"]
    assert [one["model"].startswith("mcp/") for one in listed] == [True]


async def second(rest: RestClient, session_id: str) -> dict[str, Any]:
    async with rest.follow(session_id) as stream:
        return dict((await stream.event("draft_waiting", 2))["draft"])


async def test_a_rejected_run_is_told_in_words(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        async with drafted(site, rest, client, source="print(1)") as (calling, session_id, draft):
            word = {name: draft[name] for name in ("draft_id", "nonce", "source")}
            given = {**word, "action": "reject", "reason": "Not on a Friday"}
            await rest.command("decide", session_id, **given)
            result = await calling
        assert "Not on a Friday" in texts(result)
        await site.until(lambda: sources(file) == ["import math"])


async def test_a_person_stops_a_client_and_the_next_call_begins_anew(
    site: Site, file: Path
) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        async with drafted(site, rest, client, source="print(1)") as (calling, session_id, _):
            await rest.command("cancel", session_id)
            stopped = await calling
            assert stopped.is_error and texts(stopped)
        read = await client.call_tool("read_notebook", {"notebook": PATH})
        assert not read.is_error
        (session,) = site.extension.manager.sessions.values()
        assert session.turn == 2 and session.info.session_id == session_id


@ERAS
async def test_a_cancelled_call_interrupts_the_kernel(site: Site, file: Path, mode: str) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest), mode=mode) as client:
        source = "import time\nprint('on', flush=True)\ntime.sleep(600)"
        async with (
            drafted(site, rest, client, source=source) as (calling, session_id, draft),
            rest.follow(session_id) as stream,
        ):
            await rest.decide(session_id, draft)
            await stream.event("run_started")
            await asyncio.sleep(0.5)
            calling.cancel()
            ended = await stream.event("turn_ended")
            assert ended["stop_reason"] == "cancelled"
        watch = await site.watch(await site.kernel_of(PATH))
        assert await watch.run("print(5)") == "5\n"


async def test_words_of_the_person_reach_the_client(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        async with drafted(site, rest, client, source="print(1)") as (calling, session_id, draft):
            await rest.command("send_message", session_id, text="Use the other file")
            await rest.decide(session_id, draft)
            await calling
        read = await client.call_tool("read_notebook", {"notebook": PATH})
        assert "Use the other file" in texts(read) or "Use the other file" in texts(await calling)


async def test_a_person_can_go_on_with_a_model_and_the_client_begins_anew(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order([answer(text("Done."))]))
    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        await client.call_tool("read_notebook", {"notebook": PATH})
        session_id = await begun(site)
        await rest.command("cancel", session_id)
        async with rest.follow(session_id) as stream:
            await stream.event("turn_ended")
            # Without a model, nobody answers but the client.
            await rest.command("send_message", session_id, text="And you?")
            await stream.event("turn_ended", 2)
            assert "another program" in list(stream.of("turn_ended"))[-1]["message"]
            model = "claude-sonnet-5-5"
            await rest.command("send_message", session_id, text="And you?", model=model)
            await stream.event("turn_ended", 3)
        assert not (await client.call_tool("read_notebook", {"notebook": PATH})).is_error
    assert len(site.extension.manager.sessions) == 2


async def test_after_a_call_that_could_not_begin_a_persons_turn_stays_theirs(
    site: Site, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their mode may be Auto, in which the client's code would not wait for a review."""

    async def refused(*given: Any) -> None:
        raise CommandError("busy", "Not now.")

    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        with monkeypatch.context() as patched:
            patched.setattr(service, "send", refused)
            assert (await client.call_tool("read_notebook", {"notebook": PATH})).is_error
        (session,) = site.extension.manager.sessions.values()
        session_id = session.info.session_id
        monkeypatch.setattr(conversation, "PATIENCE", 0.1)
        await rest.command("send_message", session_id, text="Go", mode="auto")
        async with rest.follow(session_id) as stream:
            assert "another program" in (await stream.event("turn_ended"))["message"]


async def test_another_conversation_does_not_get_the_clients_calls(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest)) as client:
        await client.call_tool("read_notebook", {"notebook": PATH})
        (session,) = site.extension.manager.sessions.values()
        model = session.info.model
        other = rest.conversation(PATH, model)
        await rest.command("send_message", other, text="Go")
        async with rest.follow(other) as stream:
            assert "another program" in (await stream.event("turn_ended"))["message"]
        assert not (await client.call_tool("read_notebook", {"notebook": PATH})).is_error
        assert session.running and session.turn == 1


async def test_figures_are_images(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    png = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5E"
        "rkJggg=="
    )
    source = f"from IPython.display import Image\nimport base64\nImage(base64.b64decode('{png}'))"
    async with outside(site, await token(rest)) as client:
        async with drafted(site, rest, client, source=source) as (calling, session_id, draft):
            await rest.decide(session_id, draft)
            result = await calling
        (image,) = [part for part in result.content if part.type == "image"]
        assert image.mime_type == "image/png"


async def test_a_long_output_is_bounded_and_paged(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    source = "for i in range(100_000): print(i)"
    async with outside(site, await token(rest)) as client:
        async with drafted(site, rest, client, source=source) as (calling, session_id, draft):
            await rest.decide(session_id, draft)
            assert len(texts(await calling)) < 20_000
        cell_id = nbformat.read(file, as_version=4).cells[1].id
        given = {"notebook": PATH, "cell_id": cell_id, "start": 10_000, "length": 100}
        page = texts(await client.call_tool("read_output", given))
        assert len(page) < 1_000 and "\n22" in page


# --- who may -------------------------------------------------------------------------------------


async def raw(
    site: Site, token: str = "", method: str = "POST", path: str = "mcp", **more: str
) -> Any:
    headers = {"Authorization": f"Bearer {token}", **more}
    return await site.request(method, *path.split("/"), headers=headers)


async def test_only_a_token_of_its_own_counts(site: Site, file: Path) -> None:
    secret = await token(await rest_client(site))
    for wrong in ("", "x", site.app.identity_provider.token, f"{secret}x"):
        refused = await raw(site, wrong)
        assert refused.code == 401 and refused.headers["WWW-Authenticate"] == "Bearer", wrong
    login = await site.login()
    cookies = {**login.headers, "Authorization": "none", "Host": login.url.split("/")[2]}
    assert (await site.request("POST", "mcp", headers=cookies)).code == 401
    # The server's token makes no other: code in a kernel can read it.
    assert (await site.request("POST", "mcp", "token")).code == 403
    assert (await site.request("DELETE", "mcp", "token")).code == 403
    assert secret not in json.dumps(await site.get("mcp", "token"))


async def test_a_token_is_kept_as_a_digest_alone(site: Site, file: Path) -> None:
    rest = await rest_client(site)
    secret = await token(rest)
    async with outside(site, secret) as client:
        await client.call_tool("read_notebook", {"notebook": PATH})
    kept = site.extension.folder / "mcp-token.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    for found in site.extension.folder.rglob("*"):
        if found.is_file():
            assert secret.encode() not in found.read_bytes(), found.name
    assert secret not in "".join(sources(file))


@pytest.mark.parametrize("by", ["page", "another server", "a new token"])
@ERAS
async def test_a_revoked_tokens_call_ends_without_a_result(
    site: Site, file: Path, by: str, mode: str
) -> None:
    rest = await rest_client(site)
    async with outside(site, await token(rest), mode=mode) as client:
        async with drafted(site, rest, client, source="print(6 * 7)") as (calling, session_id, _):
            if by == "page":
                await site.as_page("DELETE", "mcp", "token")
            elif by == "another server":
                TokenFile(site.extension.folder).revoke()
            else:
                await token(rest)
            ended = await calling
        assert ended.is_error and texts(ended) == NO_TOKEN
        async with rest.follow(session_id) as stream:
            await stream.event("turn_ended")
    await site.until(lambda: sources(file) == ["import math"])


def made_by(site: Site) -> str:
    return (site.extension.folder / "mcp-token.json").read_text()


@pytest.mark.parametrize("denied", ["read contents", "write contents", "execute kernels"])
async def test_a_token_obeys_the_authorizer_at_each_call(
    site: Site, file: Path, monkeypatch: pytest.MonkeyPatch, denied: str
) -> None:
    rest = await rest_client(site)
    asked: list[str] = []

    def is_authorized(handler: Any, user: Any, action: str, resource: str) -> bool:
        asked.append(user.username)
        return f"{action} {resource}" != denied

    refused = {
        "read contents": {"list_notebooks", "read_notebook", "read_output", "inspect_variables"},
        "write contents": CHANGES,
        "execute kernels": {*CHANGES, "inspect_variables"},
    }[denied]
    async with outside(site, await token(rest)) as client:
        assert not (await client.call_tool("read_notebook", {"notebook": PATH})).is_error
        monkeypatch.setattr(site.app.authorizer, "is_authorized", is_authorized)
        for name in NEEDS:
            if name in refused or name not in CHANGES:
                result = await client.call_tool(name, {"notebook": PATH})
                assert ("You are not allowed" in texts(result)) is (name in refused)
    # The person who made the token, whom the test's login names.
    assert len(set(asked)) == 1 and asked[0] in made_by(site)
    assert sources(file) == ["import math"]


async def test_a_revoked_token_ends_at_once(site: Site, file: Path) -> None:
    secret = await token(await rest_client(site))
    async with outside(site, secret) as client:
        assert not (await client.call_tool("list_notebooks", {})).is_error
        assert (await site.as_page("DELETE", "mcp", "token")).code == 204
        assert (await raw(site, secret)).code == 401


async def test_web_pages_of_other_sites_are_refused(site: Site, file: Path) -> None:
    secret = await token(await rest_client(site))
    refused = await raw(site, secret, Origin="https://evil.example")
    assert refused.code == 403
    rebound = await raw(site, secret, Host="evil.example")
    assert rebound.code == 403


async def test_without_the_package_the_server_says_what_to_install(
    site: Site, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = await token(await rest_client(site))
    monkeypatch.setitem(sys.modules, "jupyter_codeinterp.features.mcp_server.protocol", None)
    refused = await raw(site, secret)
    assert refused.code == 501
    assert "pip install 'jupyter_codeinterp[mcp]'" in json.loads(refused.body)["message"]


IMPORTS = """
import asyncio, sys, threading
from pathlib import Path
from types import SimpleNamespace
from jupyter_codeinterp.features.mcp_server.service import ClientService

on_the_loop = []


class Watch:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            on_the_loop.append(name)


async def main():
    settings = SimpleNamespace(folder=Path("/nowhere"))
    parts = dict.fromkeys(("manager", "notebook_kernels", "contents"))
    service = ClientService(SimpleNamespace(settings=settings, **parts))
    sys.meta_path.insert(0, Watch())
    await service.protocol()
    await service.close()


asyncio.run(main())
print(*[name for name in on_the_loop if name.partition(".")[0] not in sys.stdlib_module_names])
"""


def test_the_package_is_loaded_beside_the_event_loop() -> None:
    script = [sys.executable, "-c", IMPORTS]
    ran = subprocess.run(script, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_the_server_starts_without_the_package() -> None:
    script = (
        "import sys; import jupyter_codeinterp.server.rest.routes; "
        "import jupyter_codeinterp.features.mcp_server.handlers; "
        "import jupyter_codeinterp.features.mcp_client.servers; "
        "import jupyter_codeinterp.app.workbench; "
        "assert not {'mcp', 'starlette', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
