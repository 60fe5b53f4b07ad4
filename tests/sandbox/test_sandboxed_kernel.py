"""A kernel in a sandbox, launched as jupyter_client launches any other."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from jupyter_codeinterp.sandbox import is_sandboxed
from jupyter_codeinterp.sandbox.shared import bpf, folders, place, seccomp
from tests.sandbox.here import runs_here

SITE = ".venv/lib/python3/site-packages"
REFUSED = {
    "a file of the home folder": "open(os.path.expanduser('~/secret')).read()",
    "the passwords of the system": "open('/etc/shadow').read()",
    "a setting of the system": "open('/proc/sys/kernel/core_pattern', 'w')",
    "a file next to the root": "open('/new', 'w')",
    "a device": "open('/dev/new', 'w')",
    "a program of the system": "open('/usr/new', 'w')",
    "a hook of git": "open('.git/hooks/pre-commit', 'w')",
    "a hook of a repository further down": "open('deep/er/.git/config', 'w')",
    "git's folder by another name": "os.rename('.git', 'other')",
    "a path file of an environment": f"open('{SITE}/new.pth', 'w')",
    "the start of an environment's Python": f"open('{SITE}/sitecustomize.py', 'w')",
    "an environment by another name": "os.rename('.venv', 'other')",
    "a folder that leads to an environment": "os.rename('with', 'another')",
    "another host": "socket.create_connection(('192.0.2.1', 80), 2)",
    "a server on this machine": "socket.create_connection(('127.0.0.1', PORT), 2)",
    "a packet socket": "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "a socket to the machine's host": "socket.socket(40, socket.SOCK_STREAM)",
    "a namespace": "call('unshare', 0x10000000)",
    "a trace of another process": "call('ptrace', 16, 1, 0, 0)",
    "a mount": "call('mount', b'none', b'/tmp', b'tmpfs', 0, None)",
    "the processes outside": "os.kill(OUTSIDE, 0)",
    "too large a file": "open('/tmp/large', 'wb').truncate(2 ** 50)",
}
HELPERS = """
import ctypes, os, socket
def call(name, *given):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*given) == -1:
        raise OSError(ctypes.get_errno(), name)
"""


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    home = tmp_path / "home"
    folder = home / "work"
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "deep" / "er" / ".git").mkdir(parents=True)
    (folder / SITE).mkdir(parents=True)
    (folder / ".venv" / "pyvenv.cfg").touch()
    (folder / "with" / "env" / "conda-meta").mkdir(parents=True)
    (home / "secret").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("A_SECRET", "secret")
    yield folder


@asynccontextmanager
async def kernel(tmp_path: Path, folder: Path, **config: Any) -> AsyncIterator[tuple[Any, Any]]:
    spec = tmp_path / "kernels" / "sandboxed"
    spec.mkdir(parents=True)
    provisioner = {"provisioner_name": "codeinterp-sandbox", "config": config}
    written = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Sandboxed",
        "language": "python",
        "metadata": {"kernel_provisioner": provisioner},
    }
    (spec / "kernel.json").write_text(json.dumps(written))
    specs = KernelSpecManager(kernel_dirs=[str(spec.parent)])
    manager = AsyncKernelManager(
        kernel_name="sandboxed",
        kernel_spec_manager=specs,
        connection_file=str(tmp_path / "connection.json"),
    )
    await manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=30)
        yield manager, client
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)


async def run(client: Any, code: str) -> dict[str, Any]:
    reply = await client.execute_interactive(code, timeout=30, output_hook=lambda message: None)
    content: dict[str, Any] = reply["content"]
    return content


@runs_here
async def test_what_the_sandbox_refuses(tmp_path: Path, notebook: Path) -> None:
    async with kernel(tmp_path, notebook) as (manager, client):
        assert is_sandboxed(manager)
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        await run(client, f"{HELPERS}\nPORT, OUTSIDE = {port}, {os.getpid()}")
        got_out = []
        for name, code in REFUSED.items():
            if (await run(client, code)).get("ename") is None:
                got_out.append(name)
        server.close()
        assert not got_out
        hidden = (
            "assert 'A_SECRET' not in os.environ and 'SECRET' not in open('/proc/1/environ').read()"
        )
        assert (await run(client, hidden))["status"] == "ok"
        assert (await run(client, "open('result', 'w').write('1')"))["status"] == "ok"
        assert (notebook / "result").read_text() == "1"


@runs_here
async def test_interrupt_restart_and_the_end(tmp_path: Path, notebook: Path) -> None:
    async with kernel(tmp_path, notebook) as (manager, client):
        place = manager.provisioner.place.path
        running = asyncio.create_task(run(client, "import time\nwhile True: time.sleep(0.1)"))
        await asyncio.sleep(0.5)
        await manager.interrupt_kernel()
        assert (await running)["ename"] == "KeyboardInterrupt"
        await manager.restart_kernel()
        await client.wait_for_ready(timeout=30)
        code = "import subprocess; subprocess.Popen(['sleep', '86399.5'])"
        assert (await run(client, code))["status"] == "ok"
        assert _running("86399.5")
    assert not is_sandboxed(manager)
    assert not place.exists()
    assert not _running("86399.5")


@runs_here
async def test_a_link_in_place_of_its_socket_leads_nowhere(tmp_path: Path, notebook: Path) -> None:
    """With an overlay, where it can make links."""
    layers = str(tmp_path / "layers")
    async with kernel(tmp_path, notebook, overlay=True, overlay_folder=layers) as (manager, client):
        code = "import os\nfor n in os.listdir('/run/kernel'):\n"
        code += "    os.remove(f'/run/kernel/{n}'); os.symlink('/elsewhere', f'/run/kernel/{n}')"
        assert (await run(client, code))["status"] == "ok"
        names = list(manager.provisioner.place.path.glob("s-*"))
        assert len(names) == 5
        assert all(path.is_socket() and not path.is_symlink() for path in names)


@runs_here
def test_nothing_is_left_after_a_kill(tmp_path: Path, notebook: Path) -> None:
    program = (
        "import asyncio; from pathlib import Path\n"
        "from tests.sandbox.test_sandboxed_kernel import kernel, run\n"
        "async def main():\n"
        f"    async with kernel(Path({str(tmp_path)!r}), Path({str(notebook)!r})) as (_, client):\n"
        '        await run(client, \'import subprocess; subprocess.Popen(["sleep", "86398.5"])\')\n'
        "        print('ready', flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        assert _running("86398.5")
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while _running("86398.5"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    # The next start removes its folder.
    left = f"{place.NAME}{child.pid}-*"
    assert list(Path(place._root()).glob(left))
    place.sweep()
    assert not list(Path(place._root()).glob(left))


def test_a_folder_that_holds_the_home_folder_is_refused(notebook: Path) -> None:
    for folder in (notebook.parent, notebook.parent.parent):
        with pytest.raises(folders.FolderError, match="Move the notebook"):
            folders.folders_of(str(folder), [], [])


def test_a_search_that_cannot_end_refuses(notebook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(folders.protected(notebook)) == 4
    monkeypatch.setattr(folders, "ENTRIES", 2)
    with pytest.raises(folders.FolderError, match="more than 2 files"):
        folders.protected(notebook)


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
def test_the_filter_is_whole(machine: str) -> None:
    assert len(seccomp.compiled(machine)) % 8 == 0


def _running(text: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().split(b"\0")[:2] == [b"sleep", text.encode()]:
                return True
        except OSError:
            continue
    return False
