"""The allow list of a sandboxed kernel, with real kernels and real servers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.sandbox.walls.launching import LaunchError
from tests.kernels import kernel_manager, run, running_kernel, text
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install, manager
from tests.sandbox.web import web

__all__ = ["folder"]


@asynccontextmanager
async def kernel(tmp_path: Path, *allow: str) -> AsyncIterator[tuple[Any, Any]]:
    """A sandboxed one with this list, and its manager."""
    async with (
        kernel_manager(install(tmp_path, *NAMED, allow=list(allow))) as kernels,
        running_kernel(kernels, "sandboxed") as (_, made, kernel_id),
    ):
        yield made, kernels.get_kernel(kernel_id)


@runs_here
async def test_programs_reach_a_host_of_the_list_and_no_other(tmp_path: Path, folder: Path) -> None:
    async with web() as allowed, web() as other, kernel(tmp_path, allowed.at) as (made, _):
        code = f"""
import urllib.request, requests, httpx, subprocess
for read in (
    lambda url: urllib.request.urlopen(url, timeout=20).read().decode(),
    lambda url: requests.get(url, timeout=20).text,
    lambda url: httpx.get(url, timeout=20).text,
    lambda url: requests.post(url, data=iter([b'a', b'b']), timeout=20).text,
):
    print(read('http://{allowed.at}/'))
"""
        _, done = await run(made, code)
        assert (text(done), done.note) == ("hello\n" * 4, ""), done.outputs
        assert allowed.bodies[-1] == b"ab"

        _, done = await run(made, f"requests.get('http://{other.at}/', timeout=20).text")
        assert done.outputs[-1]["data"]["text/plain"].startswith("'The sandbox refused this")
        assert done.note == (
            f"The sandbox refused connections: {other.at} (not on the list of allowed hosts)."
        )
        # The next run has nothing to do with it.
        _, done = await run(made, "requests.get('https://example.invalid/', timeout=20)")
        assert done.status == "error"
        assert "example.invalid:443" in done.note and other.at not in done.note
        _, done = await run(made, "1 + 1")
        assert done.note == ""
    assert other.requests == []


@runs_here
async def test_a_request_on_a_connection_that_a_host_keeps_reaches_its_own_host(
    tmp_path: Path, folder: Path
) -> None:
    async with web() as one, web() as two, kernel(tmp_path, one.at, two.at) as (made, _):
        one.keeps = True
        code = f"""
import requests
session = requests.Session()
print([session.get(f'http://{{at}}/', timeout=20).text for at in ({one.at!r}, {two.at!r})])
"""
        _, done = await run(made, code)
        assert text(done) == "['hello', 'hello']\n", done.outputs
        assert (len(one.requests), len(two.requests)) == (1, 1)


@runs_here
async def test_a_tunnel_leads_to_a_host_of_the_list(tmp_path: Path, folder: Path) -> None:
    async with web() as allowed, web() as other, kernel(tmp_path, allowed.at) as (made, _):
        code = """
import http.client, os
def get(at):
    client = http.client.HTTPConnection(os.environ['HTTPS_PROXY'].removeprefix('http://'))
    client.set_tunnel(at)
    client.request('GET', '/')
    return client.getresponse().read().decode()
"""
        await run(made, code)
        _, done = await run(made, f"print(get({allowed.at!r}))")
        assert text(done) == "hello\n"
        _, done = await run(made, f"print(get({other.at!r}))")
        assert "403 Refused by the sandbox" in done.outputs[-1]["evalue"]
        assert other.at in done.note


@runs_here
async def test_a_server_in_the_sandbox_is_reached_without_the_proxy(
    tmp_path: Path, folder: Path
) -> None:
    async with kernel(tmp_path, "example.org:443") as (made, _):
        code = """
import http.server, threading, urllib.request
one = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=one.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f'http://127.0.0.1:{one.server_port}/', timeout=20).status)
"""
        _, done = await run(made, code)
        # The server's own line goes to stderr, sometimes first.
        assert "200\n" in [one.get("text") for one in done.outputs] and done.note == ""


@runs_here
async def test_the_proxy_ends_with_the_kernel(tmp_path: Path, folder: Path) -> None:
    async with web() as allowed:
        async with kernel(tmp_path, allowed.at) as (made, its_manager):
            code = f"import requests; print(requests.get('http://{allowed.at}', timeout=20).text)"
            _, done = await run(made, code)
            (first,) = _proxies(os.getpid())
            await its_manager.restart_kernel()
            _, done = await run(made, code)
            assert text(done) == "hello\n"
            (second,) = _proxies(os.getpid())
            assert first != second
            _, done = await run(made, "import os; os._exit(1)")
            await _until(lambda: second not in _proxies(os.getpid()))
        await _until(lambda: not _proxies(os.getpid()))


@runs_here
def test_the_proxy_ends_with_a_server_that_is_killed(tmp_path: Path, folder: Path) -> None:
    program = (
        "import asyncio; from pathlib import Path\n"
        "from tests.sandbox.test_network import kernel, run\n"
        "async def main():\n"
        f"    async with kernel(Path({str(tmp_path)!r}), 'example.org:443') as (made, _):\n"
        "        await run(made, '1')\n"
        "        print('ready', flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        (proxy,) = _proxies(child.pid)
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while Path("/proc", proxy).exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@runs_here
async def test_without_a_list_there_is_no_proxy(tmp_path: Path, folder: Path) -> None:
    async with kernel(tmp_path) as (made, _):
        code = "import os; print([name for name in os.environ if 'PROXY' in name.upper()])"
        _, done = await run(made, f"{code}\nprint(os.path.exists('/run/network'))")
        assert text(done) == "[]\nFalse\n"
        assert _proxies(os.getpid()) == []


@runs_here
async def test_an_entry_without_a_port_is_refused(tmp_path: Path, folder: Path) -> None:
    made = manager(tmp_path, *NAMED)
    assert made.kernel_spec is not None
    made.kernel_spec.metadata["kernel_provisioner"]["config"] = {"allow": ["example.org"]}
    with pytest.raises(LaunchError, match=r"'example.org' is not host:port"):
        await made.start_kernel(cwd=str(folder))


def _proxies(parent: int) -> list[str]:
    """The process ids of the proxies that this process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (path / "cmdline").read_bytes()
            of = (path / "stat").read_text(errors="replace").rpartition(")")[2].split()[1]
            if b"sandbox.network" in words and int(of) == parent:
                found.append(path.name)
    return found


async def _until(condition: Any) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.05)
