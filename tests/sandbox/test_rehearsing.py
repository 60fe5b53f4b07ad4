"""A rehearsal in a sandboxed kernel: the fork has its own walls inside those of the sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernels import kernel_manager, run, running_kernel, text
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install

__all__ = ["folder"]


@runs_here
async def test_a_cell_is_tried(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.forks.rehearsing.IDLE", 30)
    async with (
        kernel_manager(install(tmp_path, *NAMED)) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        _, done = await run(kernel, "x = 1")
        assert done.status == "ok"
        answer = await kernel.rehearse("x = 2\nprint('tried')\nopen('made.txt', 'w')", 20)
        assert answer["messages"][0][1]["text"].startswith("tried"), answer
        assert answer["reached"] == [{"what": "write", "name": "made.txt"}]
        answer = await kernel.rehearse(
            "import threading\nlock = threading.Lock(); lock.acquire(); lock.acquire()", 4
        )
        assert answer["how"] in ("stalled", "timeout")
        _, done = await run(kernel, "import os; print(x, os.path.exists('made.txt'))")
        assert text(done) == "1 False\n"
