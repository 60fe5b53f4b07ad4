"""What the command line adds to model and kernel: ``run`` on three cells, one of which fails and
is mended, as a program would call it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from tests.fake_anthropic import FakeAnthropic, Speed
from tests.fake_anthropic.scenarios import SCENARIOS, TOTALS, TOTALS_RIGHT, TOTALS_WRONG

from .figures import Figure

TIMES = 6
"""The first one of each fills the caches of the disk; it does not count."""
KERNEL = """
import json, sys, time
from jupyter_client.manager import start_new_kernel
began = time.perf_counter()
manager, client = start_new_kernel()
for source in json.loads(sys.argv[1]):
    client.execute_interactive(source, output_hook=lambda message: None)
client.stop_channels()
manager.shutdown_kernel()
print(time.perf_counter() - began)
"""
SDK = """
import time
began = time.perf_counter()
import anthropic
print(time.perf_counter() - began)
"""


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="codeinterp-bench-") as name:
        pairs = asyncio.run(_measure(Path(name)))
        sdk = [float(_python("-c", SDK, environment={})) * 1000 for _ in range(TIMES)]
    beyond = [(whole - model - kernel) * 1000 for whole, model, kernel in pairs[1:]]
    return [
        Figure("command line: three cells beyond model and kernel", beyond, "ms"),
        Figure("… in it, the import of the model's SDK", sdk[1:], "ms"),
        Figure("… all of it", [whole * 1000 for whole, _, _ in pairs[1:]], "ms"),
        Figure(
            "… a kernel's start, its cells and its end", [k * 1000 for *_, k in pairs[1:]], "ms"
        ),
    ]


async def _measure(folder: Path) -> list[tuple[float, float, float]]:
    """Seconds of the command, of the model in it, and of a kernel that only runs the cells."""
    kinds = ("CONFIG", "DATA", "RUNTIME")
    environment = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in kinds}
    environment |= {"IPYTHONDIR": str(folder / "ipython"), "ANTHROPIC_API_KEY": "sk-fake"}
    pairs = []
    for _ in range(TIMES):
        script = SCENARIOS["three_cells"]
        async with FakeAnthropic(script, speed=Speed(delay=0), check=False) as model:
            given = environment | {"ANTHROPIC_BASE_URL": model.url}
            whole = await asyncio.to_thread(_command, folder, given)
            asked = sum(exchange.finished - exchange.received for exchange in model.requests)
        pairs.append((whole, asked, await asyncio.to_thread(_kernel, given)))
    return pairs


def _command(folder: Path, environment: dict[str, str]) -> float:
    notebook = folder / "task.ipynb"
    nbformat.write(nbformat.v4.new_notebook(), notebook)
    run = ("-m", "jupyter_codeinterp.cli", "run", str(notebook), "What is the revenue in all?")
    began = time.perf_counter()
    _python(*run, "--yes", "--json", environment=environment)
    return time.perf_counter() - began


def _kernel(environment: dict[str, str]) -> float:
    cells = json.dumps([TOTALS, TOTALS_WRONG, TOTALS_RIGHT])
    return float(_python("-c", KERNEL, cells, environment=environment))


def _python(*arguments: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
