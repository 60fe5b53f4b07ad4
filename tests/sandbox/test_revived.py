"""Kernels after undo and redo with variables: libraries, limits of the sandbox, interrupts."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from pathlib import Path

import pytest

from jupyter_codeinterp.adapters.kernels.zmq.copies import WENT_BACK
from jupyter_codeinterp.core.ports import ExecutionDone
from tests.kernels import text
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import folder
from tests.sandbox.test_copies import Kernel, sandboxed
from tests.sandbox.test_sandboxed_kernel import HELPERS, REFUSED

__all__ = ["folder"]
MORE = Path(__file__).parents[2] / ".packages" / "rehearsals"
"""What ``scripts/rehearsals`` installs."""
OF_GIT = [name for name, code in REFUSED.items() if ".git" in code]
LIBRARIES = {
    # module: what prepares it, what changes it in a turn, and what it answers before and then
    "numpy": (
        "import numpy as np; a = np.ones((300, 300))",
        "a *= 2",
        "int(a.dot(a).sum())",
        ("27000000", "108000000"),
    ),
    "pandas": (
        "import pandas as pd; df = pd.DataFrame({'k': ['a', 'b'] * 500, 'v': range(1000)})",
        "df['v'] = 0",
        "df.groupby('k').v.sum().tolist(), len(df.merge(df, on='v'))",
        ("([249500, 250000], 1000)", "([0, 0], 1000000)"),
    ),
    "matplotlib": (
        "import matplotlib; matplotlib.use('agg')\nimport matplotlib.pyplot as plt\n"
        "plt.plot([1, 2])",
        "plt.plot([3, 4])",
        "plt.gcf().canvas.draw(), len(plt.gca().lines)",
        ("(None, 1)", "(None, 2)"),
    ),
    "duckdb": (
        "import duckdb; con = duckdb.connect()\n"
        "con.execute('create table t as select range as v from range(100000)')",
        "con.execute('delete from t')",
        "con.execute('select sum(v) from t').fetchone()",
        ("(4999950000,)", "(None,)"),
    ),
}


async def ok(k: Kernel, source: str) -> ExecutionDone:
    done = await k.run(source, timeout=30)
    assert done.status == "ok", (source, done.outputs)
    return done


@runs_here
@pytest.mark.timeout(240)
@pytest.mark.parametrize("library", LIBRARIES)
async def test_values_of_a_library_go_come_back_and_go_again(
    tmp_path: Path, folder: Path, library: str
) -> None:
    own = importlib.util.find_spec(library) is not None
    if not own and not (MORE / library).is_dir():
        pytest.skip(f"{library} is not installed here, nor by scripts/rehearsals")
    prepares, changes, asks, (before, after) = LIBRARIES[library]
    prepares = prepares if own else f"import sys; sys.path.append({str(MORE)!r})\n{prepares}"
    async with sandboxed(tmp_path, readable=[] if own else [str(MORE)]) as k:
        await ok(k, prepares)
        assert await k.keep("one") == ""
        await ok(k, changes)
        assert (await k.why_not("one"), await k.why_no_redo("one")) == ("", None)
        await k.back("one")
        assert (await k.why_not("one"), await k.why_no_redo("one")) == (WENT_BACK, "")
        assert await k.look(asks) == before
        await k.redo("one")
        assert (await k.why_not("one"), await k.why_no_redo("one")) == ("", None)
        assert await k.look(asks) == after
        await k.back("one")
        assert await k.look(asks) == before
        done = await k.run("import time\nwhile True: time.sleep(0.1)", timeout=0.5)
        assert done.status == "timeout", "an interrupt reaches it"
        assert text(await ok(k, f"print(({asks}))")) == f"{before}\n"
        await k.link.restart()
        await ok(k, prepares)
        assert await k.look(asks) == before


@runs_here
@pytest.mark.timeout(240)
async def test_a_revived_kernel_is_held_as_the_first_was(tmp_path: Path, folder: Path) -> None:
    (folder.parent / "secret").write_text("secret")
    async with sandboxed(tmp_path) as k:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        await ok(k, f"{HELPERS}\nPORT, OUTSIDE = {port}, {os.getpid()}")
        await k.keep("one")
        await k.back("one")
        # Its supervisor, with the first kernel's process number, is none of its own tools.
        more = {"the supervisor's memory": "open(f'/proc/{os.getppid()}/mem', 'r+b').read(1)"}
        got_out = [
            name
            for name, code in {**REFUSED, **more}.items()
            if name not in OF_GIT and (await k.run(code)).status == "ok"
        ]
        server.close()
        assert got_out == []
