"""``jupyter codeinterp run --existing``: in the kernel that a running server has."""

from __future__ import annotations

import json
import secrets
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from tests.cli import DEADLINE, Cli, is_running, make_cli, until
from tests.test_cli_run import code, outputs


@dataclass
class Server:
    url: str
    token: str
    runtime: Path
    kernel_id: str = ""

    def ask(self, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=DEADLINE) as answer:
            return json.loads(answer.read() or b"null")

    @property
    def connection_file(self) -> Path:
        return self.runtime / f"kernel-{self.kernel_id}.json"

    def run(self, source: str) -> str:
        """In its kernel, as somebody who is no page; what it prints."""
        client = BlockingKernelClient(connection_file=str(self.connection_file))
        client.load_connection_file()
        client.start_channels(stdin=False, hb=False)
        said: list[str] = []
        try:
            client.wait_for_ready(timeout=DEADLINE)
            client.execute_interactive(
                source,
                timeout=DEADLINE,
                output_hook=lambda message: said.append(message["content"].get("text", "")),
            )
        finally:
            client.stop_channels()
            client.context.destroy()
        return "".join(said)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, fake: str) -> Iterator[tuple[Cli, Server]]:
    """A server of the same person in the folder, with a kernel for ``a.ipynb``."""
    cli = make_cli(tmp_path_factory.mktemp("existing"), fake)
    runtime = Path(cli.environment["JUPYTER_RUNTIME_DIR"])
    token = secrets.token_hex(8)
    command = [
        *(sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser"),
        *("--ServerApp.port=0", "--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={token}"),
    ]
    with subprocess.Popen(
        command, cwd=cli.folder, env=cli.environment, stderr=subprocess.DEVNULL
    ) as process:
        try:
            file = runtime / f"jpserver-{process.pid}.json"
            until(file.is_file, "the server did not start")
            until(lambda: "url" in file.read_text(), "it did not say where it is")
            server = Server(json.loads(file.read_text())["url"], token, runtime)
            # On a busy machine it says so before it listens.
            until(lambda: is_listening(server.url), "it does not listen")
            made = {"path": "a.ipynb", "name": "a.ipynb", "type": "notebook"}
            kernel = {"kernel": {"name": "python3"}}
            server.kernel_id = server.ask("api/sessions", made | kernel)["kernel"]["id"]
            yield cli, server
        finally:
            process.send_signal(signal.SIGTERM)


def is_listening(url: str) -> bool:
    place = urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((place.hostname, place.port)) == 0


def test_the_server_has_conversations_of_the_command_line(served: tuple[Cli, Server]) -> None:
    cli, server = served
    (cli.folder / "deep").mkdir()
    (cli.folder / "deep" / "b.ipynb").write_bytes(cli.file.read_bytes())
    assert cli.run("run", "deep/b.ipynb", "#prose Hello", "--plan", "--json").code == 0
    found = server.ask("codeinterp/api/sessions?notebook=deep/b.ipynb")
    assert [one["title"] for one in found["sessions"]] == ["#prose Hello"]


def existing(cli: Cli, *lines: str) -> Any:
    return cli.run("run", "a.ipynb", code(*lines), "--yes", "--json", "--existing")


def test_its_variables_are_there_and_stay(served: tuple[Cli, Server]) -> None:
    cli, server = served
    server.run("mine = 41")
    ran = existing(cli, "mine += 1", "print(mine)")
    assert ran.code == 0, ran
    assert outputs(cli.book().cells[-1]) == "42\n"
    assert server.run("print(mine)") == "42\n"


def test_ctrl_c_interrupts_it_and_leaves_it_alive(served: tuple[Cli, Server]) -> None:
    cli, server = served
    server.run("mine = 1")
    begun = cli.folder / "begun"
    lines = ("import time, pathlib", "pathlib.Path('begun').touch()", "time.sleep(600)")
    arguments = ("run", "a.ipynb", code(*lines), "--yes", "--json", "--existing")
    with cli.started(*arguments) as process:
        until(begun.is_file, "the code did not begin")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE)
        assert process.returncode == 130
    assert server.run("print(mine)") == "1\n"
    assert cli.book().cells[-1].outputs[-1].ename == "KeyboardInterrupt"


def beside_a_page(cli: Cli, server: Server, *options: str) -> Any:
    """A run while a page has the notebook open."""
    arguments = ("run", "a.ipynb", code("print(1)"), "--yes", "--json", *options)

    async def with_a_page() -> Any:
        kernel = f"{server.url}api/kernels/{server.kernel_id}/channels?token={server.token}"
        page = await websocket_connect(kernel.replace("http:", "ws:"))
        try:
            return await IOLoop.current().run_in_executor(None, cli.program, *arguments)
        finally:
            page.close()

    ran = IOLoop(make_current=False).run_sync(with_a_page)
    gone = lambda: server.ask(f"api/kernels/{server.kernel_id}")["connections"] == 0  # noqa: E731
    until(gone, "the page did not leave")
    return ran


def test_while_a_page_has_it_open(served: tuple[Cli, Server]) -> None:
    """Its kernel is not used; a run with a kernel of its own changes the file under it."""
    cli, server = served
    before = cli.file.read_bytes()
    ran = beside_a_page(cli, server, "--existing")
    assert (ran.code, ran.out) == (2, "") and "is open in a page" in ran.err
    assert cli.file.read_bytes() == before
    ran = beside_a_page(cli, server)
    assert ran.code == 0 and ran.err.startswith("a.ipynb is open in a page of http"), ran
    again = cli.run("run", "a.ipynb", code("print(1)"), "--yes", "--json")
    assert (again.code, again.err) == (0, "")


def test_a_kernel_that_dies_ends_the_run(served: tuple[Cli, Server]) -> None:
    cli, server = served
    pid = int(server.run("import os; print(os.getpid())"))
    ran = existing(cli, "import os, signal", "os.kill(os.getpid(), signal.SIGKILL)")
    assert ran.code == 0 and any("died" in line for line in ran.out.splitlines()), ran
    assert not is_running(pid)


def test_no_server_has_one_or_answers(tmp_path: Path, fake: str) -> None:
    cli = make_cli(tmp_path, fake)
    ran = existing(cli, "print(1)")
    assert (ran.code, ran.out) == (2, "")
    assert "No running Jupyter server of yours has a kernel" in ran.err
    runtime = Path(cli.environment["JUPYTER_RUNTIME_DIR"])
    runtime.mkdir(exist_ok=True)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        info = {"pid": process.pid, "url": "http://127.0.0.1:9/", "root_dir": str(cli.folder)}
        (runtime / f"jpserver-{process.pid}.json").write_text(json.dumps(info))
        ran = existing(cli, "print(1)")
        process.communicate(b"\n")
    assert ran.code == 2 and "http://127.0.0.1:9/ does not respond" in ran.err
