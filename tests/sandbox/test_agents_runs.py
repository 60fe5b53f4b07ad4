"""A sandboxed kernel as the agent uses it: a server's kernel manager and our own link."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from traitlets.config import Config

from jupyter_codeinterp.cli.commands.run import _sandboxed
from jupyter_codeinterp.cli.local.problems import USAGE, Problem
from jupyter_codeinterp.kernel.zmq import ZmqKernel
from jupyter_codeinterp.sandbox.install import installed
from jupyter_codeinterp.sandbox.shared.place import NAME, _root
from jupyter_codeinterp.sandbox.walls.launching import LAUNCHER, LaunchError
from jupyter_codeinterp.wire.ports import OutputsChanged
from tests.kernels import kernel_manager, run, running_kernel, text, until
from tests.sandbox.here import runs_here

NAMED = ("-f", "{connection_file}")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notebook's, with the home folder around it."""
    made = tmp_path / "home" / "work"
    made.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made.parent))
    monkeypatch.chdir(made)
    return made


def install(tmp_path: Path, *argv: str, **config: Any) -> str:
    """The folder in which the kernelspec ``sandboxed`` then is."""
    spec = tmp_path / "kernels" / "sandboxed"
    spec.mkdir(parents=True)
    # A path through a link that the sandbox does not have.
    python = Path(sys.executable)
    (tmp_path / "bin").symlink_to(python.parent)
    provisioner = {"provisioner_name": "codeinterp-sandbox", "config": config}
    written = {
        "argv": [str(tmp_path / "bin" / python.name), "-m", "ipykernel_launcher", *argv],
        "display_name": "Sandboxed",
        "language": "python",
        "metadata": {"kernel_provisioner": provisioner},
    }
    (spec / "kernel.json").write_text(json.dumps(written))
    return str(spec.parent)


def manager(tmp_path: Path, *argv: str) -> AsyncKernelManager:
    specs = KernelSpecManager(kernel_dirs=[install(tmp_path, *argv)])
    file = str(tmp_path / "connection.json")
    return AsyncKernelManager(
        kernel_name="sandboxed", kernel_spec_manager=specs, connection_file=file
    )


@asynccontextmanager
async def kernel_manager_behind_a_link(
    tmp_path: Path, **config: Any
) -> AsyncIterator[AsyncMappingKernelManager]:
    """The path of its connection files is not the one in the kernel's command."""
    async with kernel_manager(install(tmp_path, *NAMED, **config)) as kernels:
        link = tmp_path / "link"
        link.symlink_to(kernels.connection_dir)
        kernels.connection_dir = str(link)
        yield kernels


@runs_here
async def test_output_error_interrupt_restart_and_death(tmp_path: Path, folder: Path) -> None:
    async with (
        kernel_manager_behind_a_link(tmp_path) as kernels,
        running_kernel(kernels, "sandboxed") as (pool, kernel, kernel_id),
    ):
        _, done = await run(kernel, "x = 1; print('hello')\nx")
        assert (done.status, text(done)) == ("ok", "hello\n")
        assert done.outputs[-1]["data"]["text/plain"] == "1"
        _, done = await run(kernel, "1 / 0")
        assert (done.status, done.outputs[-1]["ename"]) == ("error", "ZeroDivisionError")
        _, done = await run(kernel, "import time\nwhile True: time.sleep(0.1)", timeout=0.3)
        assert done.status == "timeout"
        await _stopped(kernel)
        assert any(row["name"] == "x" for row in await kernel.variables() or [])

        link = pool.get(kernel_id)[0]
        assert (await link.info()).sandboxed
        await link.restart()
        _, done = await run(kernel, "print('x' in globals())")
        assert text(done) == "False\n"

        _, done = await run(kernel, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        assert done.status == "dead"
        _, done = await run(kernel, "print('again')")
        assert text(done) == "again\n"
    assert not _places()


def _places() -> list[Path]:
    """The folders of sockets that this process has made and not removed."""
    return list(Path(_root()).glob(f"{NAME}{os.getpid()}-*"))


def _sandboxes() -> list[str]:
    """Processes of bubblewrap that this process has started and that run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text(errors="replace").partition("(")[2].rpartition(")")
            state, parent = rest.split()[:2]
            if name == "bwrap" and state != "Z" and int(parent) == os.getpid():
                found.append(path.parent.name)
    return found


async def _stopped(kernel: ZmqKernel) -> None:
    """As "Stop" does."""
    async with kernel.hold() as slot:
        stream = slot.execute("print(1)\nwhile True: time.sleep(0.1)", msg_id=slot.new_msg_id())
        async for event in stream:
            if isinstance(event, OutputsChanged):
                break
        await stream.aclose()
        done = await slot.stopped()
        assert done is not None and done.status == "interrupted"
        assert done.outputs[-1]["ename"] == "KeyboardInterrupt"


@runs_here
async def test_a_command_without_the_connection_file_is_refused(
    tmp_path: Path, folder: Path
) -> None:
    with pytest.raises(LaunchError, match=r"does not name {connection_file}"):
        await manager(tmp_path, "--debug").start_kernel(cwd=str(folder))
    assert not _places()


@runs_here
async def test_a_start_that_is_given_up_leaves_nothing(tmp_path: Path, folder: Path) -> None:
    made = manager(tmp_path, *NAMED)
    starting = asyncio.ensure_future(made.start_kernel(cwd=str(folder)))
    for _ in range(1_000_000):
        if _places() or starting.done():
            break
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    await asyncio.wrap_future(LAUNCHER.submit(lambda: None))
    assert not _places()
    await until(lambda: not _sandboxes())


def test_the_provisioner_of_a_kernelspec_decides(tmp_path: Path) -> None:
    plain = tmp_path / "kernels" / "python3-sandboxed"
    plain.mkdir(parents=True)
    written = {"argv": ["python"], "display_name": "Plain", "language": "python"}
    (plain / "kernel.json").write_text(json.dumps(written))
    specs = KernelSpecManager(kernel_dirs=[str(plain.parent)])
    assert installed(specs) == ""
    install(tmp_path)
    assert installed(specs) == "sandboxed"


def test_without_the_kernel_the_option_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = KernelSpecManager(kernel_dirs=[str(tmp_path)])
    monkeypatch.setattr("jupyter_client.kernelspec.KernelSpecManager", lambda config: specs)
    with pytest.raises(Problem) as raised:
        _sandboxed(Config())
    assert "jupyter codeinterp sandbox install" in raised.value.words
    assert raised.value.code == USAGE
