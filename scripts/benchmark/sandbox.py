"""Measures the cost of a sandbox: a plain and a sandboxed kernel of the same Python, in turn."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.utils import ApiPath

from jupyter_codeinterp.kernel.zmq import KernelPool, ZmqKernel
from jupyter_codeinterp.sandbox import doctor
from tests.kernels import kernel_manager, kernel_of, run, text

from .figures import Bound, Figure

NAMES = ("python3", "sandboxed")
STARTS = 12
CELLS = 60
ROUNDS = 24
WARM_UP = 2
NUMPY = (
    "a = numpy.random.default_rng(0).random((700, 700))\nfor _ in range(3): a @ a; numpy.sort(a)"
)
PANDAS = (
    "t = pandas.DataFrame({'key': numpy.arange(600_000) % 997, 'x': 1.5})\n"
    "t.groupby('key').x.agg(['sum', 'mean']).sort_values('sum'); t.merge(t.head(1000), on='key')"
)


def measure() -> list[Figure]:
    missing = doctor.problem()
    if missing:
        raise RuntimeError(missing)
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    async with sandboxed_kernels() as kernels:
        starts = [await _starts(kernels, number) for number in range(WARM_UP + STARTS)][WARM_UP:]
        async with _both(kernels) as both:
            cells = [await _pair(both, "x = 1 + 1", number) for number in range(WARM_UP + CELLS)]
            slower = {
                name: [await _pair(both, _timed(code), number) for number in range(ROUNDS)]
                for name, code in (("numpy", NUMPY), ("pandas", PANDAS))
            }
    return [
        Figure(
            "a sandboxed kernel starts later than a plain one by",
            [1000 * (held - free) for free, held in starts],
            "ms",
            (Bound(200, "median"),),
        ),
        Figure(
            "a trivial cell takes longer in it by",
            [1000 * (held - free) for free, held in cells[WARM_UP:]],
            "ms",
            (Bound(1, "median"),),
        ),
        *(
            Figure(
                f"to each 100 ms of {name} it adds",
                [100 * (held / free - 1) for free, held in pairs[WARM_UP:]],
                "ms",
                (Bound(3, "median"),),
            )
            for name, pairs in slower.items()
        ),
    ]


@asynccontextmanager
async def sandboxed_kernels() -> AsyncIterator[AsyncMappingKernelManager]:
    with TemporaryDirectory() as name:
        specs, notebooks = _written(Path(name))
        async with kernel_manager(specs) as kernels:
            kernels.root_dir = notebooks
            yield kernels


def _written(folder: Path) -> tuple[str, str]:
    """Make the folders of a sandboxed kernelspec and of notebooks."""
    write_kernelspec(folder, "sandboxed", {"memory": 1 << 33})
    (folder / "notebooks").mkdir()
    return str(folder / "kernels"), str(folder / "notebooks")


def write_kernelspec(folder: Path, name: str, traits: Mapping[str, Any]) -> None:
    """Write the kernelspec of a sandboxed kernel with these traits of its provisioner."""
    spec = folder / "kernels" / name / "kernel.json"
    spec.parent.mkdir(parents=True)
    provisioner = {"provisioner_name": "codeinterp-sandbox", "config": traits}
    written = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": name,
        "language": "python",
        "metadata": {"kernel_provisioner": provisioner},
    }
    spec.write_text(json.dumps(written), encoding="utf-8")


async def _starts(kernels: AsyncMappingKernelManager, number: int) -> tuple[float, float]:
    """Seconds until each kernel answers. The sandboxed one is first every second time."""
    found = {}
    for name in NAMES if number % 2 else reversed(NAMES):
        began = time.perf_counter()
        started = await kernels.start_kernel(kernel_name=name, path=ApiPath(""))
        manager: Any = kernels.get_kernel(started)
        client = manager.client()
        client.start_channels(hb=False)
        await client.wait_for_ready(timeout=60)
        found[name] = time.perf_counter() - began
        client.stop_channels()
        await kernels.shutdown_kernel(started, now=True)
    return found["python3"], found["sandboxed"]


@asynccontextmanager
async def _both(kernels: AsyncMappingKernelManager) -> AsyncIterator[list[ZmqKernel]]:
    pool = KernelPool(kernels)
    try:
        ids = [await kernels.start_kernel(kernel_name=one, path=ApiPath("")) for one in NAMES]
        both = [kernel_of(pool, one) for one in ids]
        for kernel in both:
            await run(kernel, "import time, numpy, pandas")
        yield both
    finally:
        pool.close()


def _timed(code: str) -> str:
    """Code that prints its own seconds, so that the messages' time does not count."""
    return f"began = time.perf_counter()\n{code}\nprint(time.perf_counter() - began)"


async def _pair(both: list[ZmqKernel], code: str, number: int) -> tuple[float, float]:
    """Seconds in the plain and in the sandboxed kernel. The sandboxed one is first every second
    time."""
    order = (0, 1) if number % 2 else (1, 0)
    found = {}
    for place in order:
        _, done = await run(both[place], code)
        if done.status != "ok":
            raise RuntimeError(f"the cell failed: {done.outputs[-1:]}")
        printed = text(done)
        found[place] = float(printed) if printed else done.elapsed
    return found[0], found[1]
