"""A Jupyter server with the extension, over a fake of the Messages API; see ``site``."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.sessions.sessionmanager import SessionManager

from tests import kernel_ports
from tests.cli import Cli, fake_process, make_cli
from tests.fake_anthropic import FakeAnthropic
from tests.site import Site

pytest_plugins = ("pytest_jupyter.jupyter_server",)

KEY = "sk-ant-a-key-of-the-environment"


kernel_ports.keep_apart()
# The same examples each time, so that a change is blamed for what it did; with
# CODEINTERP_RANDOM set others are looked for.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("other", deadline=None)
settings.load_profile("other" if "CODEINTERP_RANDOM" in os.environ else "same")


# Files that take longest, by their time and not their number of tests. They begin first, lest one
# worker be left with them: pytest --durations=50
LONGEST = (
    "test_cli_run.py",
    "test_cli_commands.py",
    "test_kept.py",
    "test_cli_terminal.py",
    "test_notebook.py",
    "test_hostile_recordings.py",
    "test_frozen_by_text.py",
    "test_nothing_lost.py",
    "test_gateway.py",
    "test_cli_document.py",
    "test_moved.py",
    "test_committing.py",
    "test_idle.py",
    "test_zmq_outputs.py",
    "test_zmq_kernel.py",
    "test_slow_windows.py",
    "test_acts_generated.py",
    "test_truth.py",
)


# Fewer tests stay in the order in which they were named.
MANY = 1000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nightly", action="store_true", help="with the cases of the night")
    parser.addoption("--cuts", type=int, default=50, help="how often the journal is cut")


def pytest_configure(config: pytest.Config) -> None:
    words = "nightly: more cases of a kind, for scripts/attack and scripts/torture"
    config.addinivalue_line("markers", words)
    if not (config.option.nightly or config.option.markexpr):
        config.option.markexpr = "not nightly"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first, then those with most tests; in a file the order stays."""
    if len(items) > MANY:
        count = Counter(item.path for item in items)

        def place(item: pytest.Item) -> tuple[int, int, str]:
            name = item.path.name
            rank = LONGEST.index(name) if name in LONGEST else len(LONGEST)
            return rank, -count[item.path], str(item.path)

        items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What was logged of odd texts may hold half of a surrogate pair, which cannot be sent from
    one process to another."""
    report = yield
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    """The address of the fake of the Messages API as a process."""
    with fake_process() as url:
        yield url


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    return make_cli(tmp_path, fake)


@pytest.fixture
def api(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[FakeAnthropic]:
    fake = FakeAnthropic()
    jp_asyncio_loop.run_until_complete(fake.__aenter__())
    yield fake
    jp_asyncio_loop.run_until_complete(fake.__aexit__())
    assert not fake.violations


@pytest.fixture
def environment(api: FakeAnthropic) -> dict[str, str]:
    """The variables that say where the model is. Override them to test others."""
    return {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": KEY}


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    """Settings of the extension."""
    return {}


@pytest.fixture
def server_config() -> dict[str, Any]:
    """Settings of the server itself."""
    return {}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "codeinterp"


@pytest.fixture
def jp_server_config(
    codeinterp_config: dict[str, Any], server_config: dict[str, Any], data_dir: Path
) -> dict[str, Any]:
    server = {"jpserver_extensions": {"jupyter_codeinterp": True}, **server_config}
    return {"ServerApp": server, "CodeInterp": {"data_dir": str(data_dir), **codeinterp_config}}


@pytest.fixture
def jp_configurable_serverapp(
    jp_configurable_serverapp: Callable[..., ServerApp], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., ServerApp]]:
    """Makes servers, and closes their databases in this thread when the test ends.

    Otherwise Jupyter closes them when they are collected, which may be in another thread and in
    a later test. SQLite refuses that, and the later test fails.
    """
    made: list[ServerApp] = []
    managers: list[SessionManager] = []
    begin = SessionManager.__init__

    def noted(self: SessionManager, *args: Any, **kwargs: Any) -> None:
        managers.append(self)
        begin(self, *args, **kwargs)

    def make(*args: Any, **kwargs: Any) -> ServerApp:
        app = jp_configurable_serverapp(*args, **kwargs)
        made.append(app)
        return app

    # Also those of servers that refuse to start.
    monkeypatch.setattr(SessionManager, "__init__", noted)
    yield make
    for manager in managers:
        manager.close()
        # The closed connection stays in its place, so that nothing opens another.
        manager.connection.close()


@pytest.fixture
def site(
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    jp_asyncio_loop: asyncio.AbstractEventLoop,
    request: pytest.FixtureRequest,
) -> Iterator[Site]:
    """A running server; its windows and people are gone when the test ends."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    app: ServerApp = request.getfixturevalue("jp_serverapp")
    fetch: Callable[..., Any] = request.getfixturevalue("jp_fetch")
    socket: Callable[..., Any] = request.getfixturevalue("jp_ws_fetch")
    port, base_url = request.getfixturevalue("jp_http_port"), app.base_url.rstrip("/")
    site = Site(app, fetch, socket, f"http://localhost:{port}{base_url}")
    yield site
    jp_asyncio_loop.run_until_complete(site.close())
