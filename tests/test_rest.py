"""The REST side: who may ask, what is answered, and where the key is not."""

from __future__ import annotations

import json
import re
import shutil
import stat
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.services.contents.manager import ContentsManager

from jupyter_codeinterp._version import __version__
from jupyter_codeinterp.extensions import Route
from jupyter_codeinterp.server.rest.routes import ROUTES as REST
from jupyter_codeinterp.server.rest.routes import handlers
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wiring import FEATURES
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.local_addresses import elsewhere
from tests.reference_window import body
from tests.site import Site

DOCS = Path(__file__).parents[1] / "docs"
SESSION = "0" * 32
SERVER = "0" * 64
OF_FEATURES = {
    "completion": (("POST", "complete", "execute kernels"),),
    "tables": (
        ("POST", "tables", "read contents"),
        ("POST", "tables", "execute kernels"),
    ),
    "mcp_server": (
        ("GET", "mcp/token", "read contents"),
        ("POST", "mcp/token", "execute kernels"),
        ("POST", "mcp/token", "write contents"),
        ("DELETE", "mcp/token", "execute kernels"),
        ("DELETE", "mcp/token", "write contents"),
    ),
    "mcp_client": (
        ("GET", "tool-servers", "read contents"),
        ("PATCH", f"tool-servers/{SERVER}", "execute kernels"),
        ("PATCH", f"tool-servers/{SERVER}", "write contents"),
    ),
}
"""Routes of features, which may be absent."""
ROUTES = (
    ("GET", "status", "read contents"),
    ("GET", "models", "read contents"),
    ("GET", "local", "execute kernels"),
    ("GET", "connections", "read contents"),
    ("POST", "connections/anthropic", "execute kernels"),
    ("DELETE", "connections/anthropic", "execute kernels"),
    ("POST", "connections/anthropic/test", "execute kernels"),
    ("POST", "demo", "write contents"),
    ("POST", "tickets", "read contents"),
    ("POST", "clients", "read contents"),
    ("GET", "names", "read contents"),
    ("GET", "names", "execute kernels"),
    ("GET", "skills", "read contents"),
    ("GET", "sessions", "read contents"),
    ("POST", "command", "read contents"),
    ("PATCH", f"sessions/{SESSION}", "write contents"),
    ("DELETE", f"sessions/{SESSION}", "write contents"),
    ("GET", f"sessions/{SESSION}/events", "read contents"),
    ("GET", f"sessions/{SESSION}/export", "read contents"),
    ("GET", f"sessions/{SESSION}/sent/1", "read contents"),
    ("GET", f"sessions/{SESSION}/turns/1/changes", "read contents"),
    ("GET", f"sessions/{SESSION}/files", "read contents"),
    ("GET", f"sessions/{SESSION}/files/text", "read contents"),
    ("GET", "verifications", "read contents"),
    ("POST", "verifications", "execute kernels"),
    ("DELETE", "verifications", "execute kernels"),
    ("GET", "channel", "read contents"),
    *(row for name in FEATURES for row in OF_FEATURES.get(name, ())),
)
PASTED = "sk-ant-a-key-that-a-person-has-pasted"


class Denying(Authorizer):
    """Allows all but what a test has put here."""

    denied = ""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return f"{action} {resource}" != self.denied


@pytest.fixture
def server_config() -> dict[str, Any]:
    return {"authorizer_class": Denying}


# --- who may ask ---------------------------------------------------------------------


def unnamed(route: str) -> str:
    """The route with ``{}`` for each pattern and each name."""
    return re.sub(r"\([^)]*\)|\{[a-z_]+\}", "{}", route)


async def test_every_route_is_tried_here_and_described(site: Site) -> None:
    added = site.extension._prepare()
    routes = [route for route in (*REST, *added) if isinstance(route, Route)]
    described = json.loads((DOCS / "openapi.json").read_text("utf-8"))["paths"]
    absent = {
        f"{method} {path.replace(SERVER, '{}')}"
        for name in OF_FEATURES.keys() - set(FEATURES)
        for method, path, _ in OF_FEATURES[name]
    }
    served = {unnamed(f"{route.method} {route.path}") for route in routes} | {"GET channel"}
    assert served | absent == {
        unnamed(f"{method.upper()} {path.removeprefix('/codeinterp/api/')}")
        for path, methods in described.items()
        for method in methods
    }
    patterns = [pattern for pattern, *_ in handlers("/", added)]
    ours = {p.rpartition("/api/")[2] for p in patterns if "/codeinterp/api/" in p}
    tried = {re.sub(f"{SERVER}|{SESSION}", "ID", path).replace("/1", "/N") for _, path, _ in ROUTES}
    served = {p.replace("([a-z][a-z0-9_-]{0,31})", "anthropic") for p in ours}
    served = {re.sub(r"\(\[0-9a-f\]\{\d+\}\)", "ID", p) for p in served}
    served = {p.replace("([0-9]{1,15})", "N") for p in served}
    # Those of outside agents take no login (tests/test_mcp.py).
    without = {route[0] for route in added if not isinstance(route, Route)}
    assert served - without == tried


async def test_nobody_gets_in_without_a_token(site: Site) -> None:
    for method, path, _ in ROUTES:
        for headers in ({"Authorization": ""}, {"Authorization": "token wrong"}):
            response = await site.request(method, path, headers=headers)
            assert response.code in (401, 403), (method, path)
    assert not site.extension.workbench.models.described("anthropic").entered
    assert names(Path(site.app.root_dir)) == []


async def test_nobody_does_what_they_are_not_allowed_to(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await site.of_a_page()
    for method, path, need in ROUTES:
        monkeypatch.setattr(Denying, "denied", need)
        assert (await site.request(method, path, headers=dict(page))).code == 403, (method, path)
        monkeypatch.setattr(Denying, "denied", "")
        if path not in ("local", "demo", "channel"):
            assert (await site.request(method, path, headers=dict(page))).code != 403, path


async def test_a_foreign_page_cannot_post(site: Site) -> None:
    """A page of another origin has the cookie, not the token and not the XSRF token."""
    login = await site.login()
    host = urlsplit(login.url).netloc
    headers = {"Cookie": login.headers["Cookie"], "Authorization": "none", "Host": host}
    assert (await site.request("GET", "status", headers=dict(headers))).code == 200
    for method, path, _ in ROUTES:
        if method != "GET":
            assert (await site.request(method, path, headers=dict(headers))).code == 403, path
    foreign = {**headers, "Origin": "http://evil.example"}
    for method, path, _ in ROUTES:
        assert (await site.request(method, path, headers=dict(foreign))).code in (403, 404), path
    assert (await site.request("GET", "status", headers={"Host": "evil.example"})).code == 403


# --- status, models, sessions --------------------------------------------------------


async def test_status_and_models(site: Site, api: FakeAnthropic) -> None:
    assert await site.get("status") == {
        "configured": True,
        "default_model": "claude-sonnet-5-5",
        "connected": ["anthropic"],
        "demo_model": "offline-demo",
        "looks_around": True,
        "untrusted_clicks": True,
        "keys_from_admin": False,
        "highest_mode": "auto",
        "version": __version__,
        "warning": "",
    }
    found = await site.get("models")
    unprefixed = [model["id"] for model in found["models"] if "/" not in model["id"]]
    assert unprefixed[-1] == "offline-demo", "others, if any, are named with their provider"
    assert {"claude-sonnet-5-5", "claude-opus-5-5"} <= {m["id"] for m in found["models"]}


async def test_models_that_cannot_be_listed(site: Site, api: FakeAnthropic) -> None:
    await api.__aexit__()
    found = await site.get("models")
    await api.__aenter__()
    assert found["error"]["code"] == "offline" and api.url in found["error"]["message"]
    assert [model["id"] for model in found["models"]] == ["offline-demo"]


async def test_sessions_their_events_and_what_was_sent(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(run_cell("1 + 1")), answer(text("Two."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("What is 1 + 1?")
    await w.decide(await w.draft())
    await w.ended()
    await site.until(lambda: not site.extension.manager.running)
    await w.until(lambda: not w.sessions[w.session_id].session.running)

    (listed,) = (await site.get("sessions"))["sessions"]
    assert listed["session_id"] == w.session_id and listed["title"] == "What is 1 + 1?"
    assert listed["running"] is False
    assert (await site.get("sessions", params={"notebook": "b.ipynb"}))["sessions"] == []

    events = (await site.get("sessions", w.session_id, "events"))["events"]
    whole = [x for x in w.events if not isinstance(x[1], e.TextDelta)]
    assert [x["seq"] for x in events] == [seq for seq, _ in whole]
    assert [x["event"]["type"] for x in events] == [tag(event) for _, event in whole]
    last = await site.get("sessions", w.session_id, "events", params={"after": events[-2]["seq"]})
    assert last["events"] == events[-1:]

    sent = await site.get("sessions", w.session_id, "sent", "2")
    assert sent["model"] == "claude-sonnet-5-5" and "run_cell" in sent["tools"]
    assert len(sent["messages"]) == 3

    assert (await site.as_page("DELETE", "sessions", w.session_id)).code == 204
    assert (await site.get("sessions"))["sessions"] == []
    assert (await site.request("GET", "sessions", w.session_id, "events")).code == 404


def tag(event: e.Event) -> object:
    return type(event).__struct_config__.tag


async def test_a_running_session_can_be_deleted(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(run_cell("while True: pass"))]))
    kernel_id = await site.kernel()
    w = await site.window(kernel_id=kernel_id)
    await w.ask("Go")
    await w.decide(await w.draft())
    await w.event(e.RunStarted)
    assert (await site.as_page("DELETE", "sessions", w.session_id)).code == 204
    assert not site.extension.manager.running
    watch = await site.watch(kernel_id)
    assert await watch.run("print('mine')") == "mine\n", "the kernel is free"
    assert (await w.send(c.Cancel(w.session_id))).error == "unknown_session"
    assert (await site.as_page("DELETE", "sessions", w.session_id)).code == 404


async def test_questions_that_make_no_sense(site: Site) -> None:
    w = await site.window()
    await w.ask("Go")
    await w.ended()
    for after in ("x", "-1", "1.5", "", "9" * 400, "²"):
        response = await site.request(
            "GET", "sessions", w.session_id, "events", params={"after": after}
        )
        assert response.code == 400 and body(response)["code"] == "malformed", after
    assert (await site.request("GET", "sessions", SESSION, "events")).code == 404
    assert (await site.request("GET", "sessions", w.session_id, "sent", "99")).code == 404
    for path in (("sessions", "x", "events"), ("sessions", w.session_id, "sent", "9" * 400)):
        assert (await site.request("GET", *path)).code == 404
    for given in ("[]", "7", "{", "\xff", '{"key": 5}', '{"base_url": ["http://x"]}'):
        response = await site.as_page("POST", "connections", "anthropic", body=given)
        assert response.code == 400 and body(response)["code"] == "malformed", given


# --- the key -------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def traces(key: str, folder: Path) -> list[str]:
    """Files below the folder that hold the key."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and key.encode() in path.read_bytes()
    ]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """One that is open to all, as somebody has made it."""
    folder = tmp_path / "codeinterp"
    folder.mkdir()
    folder.chmod(0o755)
    return folder


async def test_a_key_is_kept_on_the_server_and_nowhere_else(
    site: Site,
    api: FakeAnthropic,
    data_dir: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await site.get("status")  # The server knows the key of its environment from here on.
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    answered = body(await site.set_key(key=f"  {PASTED}\n"))
    assert answered["connection"]["entered"] and answered["status"]["configured"]
    assert api.exchanges[-1].path == "/v1/models"
    assert mode(data_dir / "credentials.json") == 0o600
    assert mode(data_dir) == 0o700

    # A turn with both keys in the person's words, in their code, its output and its error.
    code = f"print('{PASTED}'); raise ValueError('{KEY}')"
    api.play(in_order([answer(run_cell("1")), answer(text("Keep it to yourself."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask(f"My key is {PASTED} and {KEY}.")
    draft = await w.draft()
    await w.decide(draft, source=code)
    await w.ended()
    answers = [
        (await site.request("GET", *path)).body
        for path in (
            ("status",),
            ("models",),
            ("sessions",),
            ("sessions", w.session_id, "events"),
            ("sessions", w.session_id, "sent", "2"),
        )
    ]
    for key in (PASTED, KEY):
        assert traces(key, data_dir) == (["credentials.json"] if key == PASTED else [])
        assert not any(key.encode() in given for given in answers)
        assert key not in caplog.text
        assert not any(key in str(request.body) for request in api.requests)
    assert api.requests[-1].headers["authorization"] == f"Bearer {PASTED}"

    assert (await site.as_page("DELETE", "connections", "anthropic")).code == 200
    assert "credentials.json" not in names(data_dir)
    assert not site.extension.workbench.models.described("anthropic").entered


async def test_keys_that_do_not_work_are_not_kept(
    site: Site, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = await site.set_key(key=PASTED)
    assert (body(response)["code"], response.code) == ("key_in_environment", 409)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    wrong = "sk-ant-wrong-key"
    dead = "http://127.0.0.1:9"
    for given, code, status in (
        ({"key": wrong}, "wrong_key", 400),
        ({"key": "two words"}, "wrong_key", 400),
        ({"key": "sk-ant-ü"}, "wrong_key", 400),
        ({"key": ""}, "empty_key", 400),
        ({"key": PASTED, "base_url": dead}, "offline", 502),
        ({"key": PASTED, "base_url": "ftp://example"}, "bad_address", 400),
        ({"key": PASTED, "base_url": "http://[broken"}, "bad_address", 400),
        ({"key": PASTED, "base_url": "file:///etc/passwd"}, "bad_address", 400),
        ({"key": PASTED, "base_url": "127.0.0.1:11434"}, "bad_address", 400),
    ):
        response = await site.set_key(**given)
        answered = body(response)
        assert (answered["code"], response.code) == (code, status), given
        assert wrong not in answered["message"] and PASTED not in answered["message"]
    assert "credentials.json" not in names(data_dir)
    assert not site.extension.workbench.models.described("anthropic").entered


async def test_a_server_without_a_key(site: Site, api: FakeAnthropic) -> None:
    url = api.url.replace("http://", "http://ann:secret@")
    status = body(await site.set_key(base_url=url, model="local-model"))["status"]
    assert status["default_model"] == "local-model"
    (one,) = [x for x in (await site.get("connections"))["connections"] if x["entered"]]
    assert one["address"] == api.url, "without what else it carries"


async def test_local_servers(site: Site, api: FakeAnthropic) -> None:
    api._keyless = True
    async with FakeAnthropic(keyless=True) as other:
        addresses = elsewhere(ollama=api.url, vllm=other.url)
        site.extension.workbench.models._local_addresses = addresses
        answered = await site.get("local")
        assert [(x["provider"], x["base_url"]) for x in answered["servers"]] == [
            ("ollama", api.url),
            ("vllm", other.url),
        ]
        assert "claude-sonnet-5-5" in answered["servers"][0]["models"]
        assert f"vLLM ({other.url})" in answered["tried"]
        assert [x.path for x in other.exchanges] == ["/v1/models"]
        for asked in (api.exchanges[-1], other.exchanges[0]):
            assert KEY not in str(asked.headers), "not even at its own address, as another's"


# --- the demo ------------------------------------------------------------------------


async def test_the_demo_is_copied_and_found_again(site: Site) -> None:
    root = Path(site.app.root_dir)
    first = await site.post("demo")
    assert first == {"notebook": "codeinterp-demo/sales.ipynb", "model": "offline-demo"}
    assert names(root / "codeinterp-demo") == ["sales.csv", "sales.ipynb"]
    again = await site.post("demo", json_body={"notebook": first["notebook"]})
    assert again == first and names(root) == ["codeinterp-demo"]
    elsewhere = await site.post("demo", json_body={"notebook": "work/mine.ipynb"})
    assert elsewhere["notebook"] == "codeinterp-demo-2/sales.ipynb"
    assert (await site.post("demo", json_body={"notebook": elsewhere["notebook"]})) == elsewhere


async def test_the_demo_under_a_root_with_a_slash(site: Site) -> None:
    site.app.contents_manager.root_dir = f"{site.app.root_dir}/"
    assert (await site.post("demo"))["notebook"] == "codeinterp-demo/sales.ipynb"


async def test_the_demo_where_it_cannot_be_copied(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = site.app.contents_manager
    monkeypatch.setitem(site.app.web_app.settings, "contents_manager", ContentsManager())
    response = await site.as_page("POST", "demo")
    assert (response.code, body(response)["code"]) == (400, "no_files")
    monkeypatch.setitem(site.app.web_app.settings, "contents_manager", contents)
    shutil.rmtree(site.app.root_dir)
    response = await site.as_page("POST", "demo")
    assert (response.code, body(response)["code"]) == (400, "not_writable")
