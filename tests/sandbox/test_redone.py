"""A redo puts the kernel back that an undo took away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_codeinterp.adapters.kernels.zmq.copies import LAST_FIRST, RESTARTED, WENT_BACK
from jupyter_codeinterp.core.errors import KernelError
from jupyter_codeinterp.kernel_side.forks.keeping import RAN, TOO_LARGE
from tests.kernels import until
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import folder
from tests.sandbox.test_copies import sandboxed

__all__ = ["folder"]
PIDS = "[c.pid for c in get_ipython().codeinterp_copies.{}.values()]"


@runs_here
async def test_values_go_and_come_back_as_often_as_one_likes(tmp_path: Path, folder: Path) -> None:
    async with sandboxed(tmp_path) as k:
        await k.run(
            "import numpy as np, pandas as pd\na = np.ones(1000); df = pd.DataFrame({'v': [1, 2]})"
        )
        assert await k.why_no_redo("one") is None
        await k.keep("one")
        count = (await k.run("a *= 2; df['w'] = df.v * 3; made = iter([7, 8]); next(made)")).execution_count
        before = "int(a.sum()), list(df.columns), 'made' in globals()"
        for _ in range(2):
            await k.back("one")
            assert (await k.why_not("one"), await k.why_no_redo("one")) == (WENT_BACK, "")
            assert await silently(k, before) == "(1000, ['v'], False)"
            await k.redo("one")
            assert (await k.why_not("one"), await k.why_no_redo("one")) == ("", None)
            assert await silently(k, before) == "(2000, ['v', 'w'], True)"
        done = await k.run("df.groupby('v').w.sum().tolist(), a.dot(a), next(made)")
        assert done.execution_count == count + 1, "counts go on from the turn's end"
        assert done.outputs[0]["data"]["text/plain"] == "([3, 6], 4000.0, 8)"
        await k.back("one")
        assert await k.value(before) == "1000 ['v'] False"
