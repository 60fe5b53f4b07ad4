"""What the fork before a turn's first run costs, in a sandboxed kernel with 1 GB of variables."""

from __future__ import annotations

import asyncio
import time

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from jupyter_codeinterp.sandbox import doctor
from tests.kernels import run, running_kernel, text

from .figures import Figure
from .rehearsal import VARIABLES
from .sandbox import sandboxed_kernels

COUNT = 20
WARM_UP = 2
SIZE = "print(get_ipython().codeinterp_copies.size)"
"""Bytes that the copies hold beside the kernel's own."""


def measure() -> list[Figure]:
    missing = doctor.problem()
    if missing:
        raise RuntimeError(missing)
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with (
        sandboxed_kernels() as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        await _ran(kernel, VARIABLES)
        waits, sizes = [], []
        for number in range(WARM_UP + COUNT):
            async with kernel.hold() as slot:
                began = time.perf_counter()
                why = await slot.keep(str(number))
                waits.append(time.perf_counter() - began)
            if why:
                raise RuntimeError(f"no copy: {why}")
            sizes.append(int(await _ran(kernel, SIZE)))
    return [
        Figure(
            "the fork before a turn's first run, with 1 GB of variables",
            [1000 * seconds for seconds in waits[WARM_UP:]],
            "ms",
        ),
        Figure("… memory of three such forks", [one / 2**20 for one in sizes[WARM_UP:]], "MB"),
    ]


async def _ran(kernel: ZmqKernel, source: str) -> str:
    _, done = await run(kernel, source)
    if done.status != "ok":
        raise RuntimeError(f"the cell failed: {done.outputs[-1:]}")
    return text(done)
