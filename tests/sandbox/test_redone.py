"""A redo puts the kernel back that an undo took away."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from jupyter_codeinterp.adapters.kernels.zmq.copies import GONE, LAST_FIRST, RESTARTED, WENT_BACK
from jupyter_codeinterp.core.errors import KernelError
from jupyter_codeinterp.kernel_side.copies.keeping import RAN, SOON, TOO_LARGE
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import folder
from tests.sandbox.test_copies import sandboxed

__all__ = ["folder"]
UNDONE = "get_ipython().codeinterp_copies.undone"


@runs_here
async def test_turns_are_undone_in_a_row_and_redone_in_a_row(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path) as k:
        for turn in "abc":
            await k.keep(turn)
            count = (await k.run(f"x = {turn!r}; made = iter('123'); next(made)")).execution_count
        await k.back("c")
        await k.back("b")
        assert await k.look("x") == "'a'"
        assert [await k.why_no_redo(turn) for turn in "abc"] == [None, "", LAST_FIRST]
        with pytest.raises(KernelError, match=LAST_FIRST):
            await k.redo("c")
        k.copies._undone["b"] = GONE
        assert await k.why_no_redo("c") == GONE, "what cannot be redone is no advice"
        k.copies._undone["b"] = ""
        await k.redo("b")
        assert await k.look("x") == "'b'"
        await k.redo("c")
        assert await k.look("x") == "'c'"
        # An undo of an older turn takes back the later ones with it, and so does its redo.
        await k.back("a")
        assert await k.look("'x' in globals()") == "False"
        await k.redo("a")
        assert [await k.why_not(turn) for turn in "abc"] == ["", WENT_BACK, WENT_BACK]
        done = await k.run("x, next(made)")
        assert done.execution_count == (count or 0) + 1, "counts go on from the turn's end"
        assert done.outputs[0]["data"]["text/plain"] == "('c', '2')"


@runs_here
async def test_a_cell_or_a_restart_ends_what_a_redo_would_bring_back(
    tmp_path: Path, folder: Path
) -> None:
    async with sandboxed(tmp_path) as k:
        await k.run("x = 1")
        await k.keep("one")
        await k.run("x = 2")
        await k.back("one")
        pid = await k.look(f"{UNDONE}['one'].pid")
        await k.run(f"import os\nwhile os.path.exists('/proc/{pid}'): pass", timeout=5)
        assert await k.why_no_redo("one") == RAN
        with pytest.raises(KernelError, match=RAN):
            await k.redo("one")
        await k.keep("two")
        await k.run("x = 3")
        await k.back("two")
        assert await k.why_no_redo("two") == ""
        await k.link.restart()
        assert await k.why_no_redo("two") == RESTARTED
        assert await k.value("'x' in globals()") == "False"


@runs_here
async def test_no_redo_where_memory_is_short_or_a_thread_runs(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path, copies_memory=50 * 2**20) as k:
        await k.keep("one")
        await k.run("import os; big = os.urandom(80 * 2**20)")
        await k.back("one")
        await asyncio.sleep(SOON + 0.1)
        assert await k.why_no_redo("one") == TOO_LARGE
        await k.keep("two")
        await k.run(
            "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"
        )
        await k.back("two")
        assert "A thread of yours" in str(await k.why_no_redo("two"))
        assert await k.value("'threading' in globals()") == "False"


@pytest.mark.nightly
@runs_here
def test_nothing_that_waits_for_a_redo_outlives_a_killed_server(
    tmp_path: Path, folder: Path
) -> None:
    program = (
        "import asyncio; from pathlib import Path\n"
        "from tests.sandbox.test_copies import sandboxed\n"
        "async def main():\n"
        f"    async with sandboxed(Path({str(tmp_path)!r})) as k:\n"
        "        await k.keep('one'); await k.run('x = 2'); await k.back('one')\n"
        "        sandbox = k.kernels.get_kernel(k.kernel_id).provisioner._sandbox\n"
        "        print(sandbox.init, await k.why_no_redo('one') == '', flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        init, is_there = child.stdout.readline().split()
        space = os.readlink(f"/proc/{init}/ns/pid")  # noqa: PTH115
        assert is_there == "True" and in_space(space) >= 4, "bubblewrap, supervisor, kernel, copy"
        child.kill()
    deadline = time.monotonic() + 5
    while in_space(space):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def in_space(space: str) -> int:
    """The number of processes in a namespace."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/ns/pid"):
        with suppress(OSError):
            found += os.readlink(path) == space  # noqa: PTH115
    return found
