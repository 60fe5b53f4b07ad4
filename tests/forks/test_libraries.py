"""Rehearsals over libraries with threads of their own: refused, ended or stopped, never a hang.

``scripts/rehearsals`` runs it with libraries that the development environment does not have, and
500 rehearsals in all. Each is of a cell that the library may not survive a fork with.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import time
from collections import Counter

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from tests.kernels import python, run, text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")

SECONDS = 20.0
SLACK = 10.0
"""Seconds beyond the code's own in which an answer must be there, on a busy machine."""
NUMPY = "import numpy as np\na = np.random.default_rng(0).random((400, 400))\n(a @ a).sum()"
PANDAS = "import pandas as pd\ndf = pd.DataFrame({'k': list('abcd') * 5000, 'v': range(20000)})"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()"
SKLEARN = (
    "import numpy as np\nfrom sklearn.cluster import KMeans\nX = np.random.rand(4000, 8)\n"
    "KMeans(4, n_init=2).fit(X)"
)
DUCKDB = (
    "import duckdb\ncon = duckdb.connect()\ncon.execute('create table t as from range(2000000)')"
)
ARROW = (
    "import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq, io\n"
    "t = pa.table({'k': [1, 2] * 50000, 'v': range(100000)})\n"
    "t.group_by('k').aggregate([('v', 'sum')])"
)
POLARS = "import polars as pl\npf = pl.DataFrame({'k': [1, 2] * 50000})\npf.group_by('k').len()"
THREADS = "import threading, time, queue\nfrom concurrent.futures import ThreadPoolExecutor"
ASYNCIO = "import asyncio"
CASES: dict[str, tuple[str, list[str]]] = {
    # the module: what the kernel has done with it, and the cells that are then tried
    "numpy": (
        NUMPY,
        [
            "(a @ a).sum()",
            "np.linalg.svd(a[:200, :200])[1][:2]",
            "np.sort(np.random.rand(300_000))[:2]",
            "a[:] = 0; a.sum()",
        ],
    ),
    "pandas": (
        PANDAS,
        [
            "df.groupby('k').v.agg(['sum', 'mean'])",
            "df.merge(df.head(100), on='k').shape",
            "df['w'] = df.v * 2; df.describe()",
            "df.to_csv('never.csv')",
        ],
    ),
    "matplotlib": (
        PLOT,
        [
            "fig, ax = plt.subplots(); ax.hist([1, 2, 2]); plt.show()",
            "import io; f = io.BytesIO(); plt.plot([3, 1]); plt.savefig(f); len(f.getvalue())",
            "plt.savefig('never.png')",
        ],
    ),
    "sklearn": (
        SKLEARN,
        [
            "KMeans(4, n_init=2).fit(X).inertia_ > 0",
            "from sklearn.linear_model import LogisticRegression\n"
            "LogisticRegression().fit(X, X[:, 0] > 0.5).score(X, X[:, 0] > 0.5) > 0.5",
            "from sklearn.ensemble import HistGradientBoostingRegressor\n"
            "HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0]).n_iter_",
            "from sklearn.ensemble import RandomForestClassifier\n"
            "RandomForestClassifier(10, n_jobs=2).fit(X, X[:, 0] > 0.5).n_classes_",
            "from sklearn.neighbors import NearestNeighbors\n"
            "NearestNeighbors(algorithm='brute', n_jobs=2).fit(X).kneighbors(X[:500])[0].shape",
        ],
    ),
    "duckdb": (
        DUCKDB,
        [
            "con.execute('select count(*), sum(range) from t').fetchall()",
            "duckdb.sql('select sum(range) from range(3000000)').fetchall()",
            "con.execute('create table u as select range % 7 as k, count(*) from t group by 1')",
            "duckdb.connect('never.db')",
            "con.execute(\"copy t to 'never.parquet'\")",
        ],
    ),
    "pyarrow": (
        ARROW,
        [
            "t.group_by('k').aggregate([('v', 'sum')])",
            "pc.sum(t['v'])",
            "f = io.BytesIO(); pq.write_table(t, f); f.seek(0); pq.read_table(f).num_rows",
            "pq.write_table(t, 'never.parquet')",
        ],
    ),
    "polars": (POLARS, ["pf.group_by('k').len()"]),
    "asyncio": (
        ASYNCIO,
        [
            "await asyncio.sleep(0.01); 1",
            "await asyncio.gather(*(asyncio.sleep(0.01, n) for n in range(20)))",
            "await asyncio.to_thread(sum, [1, 2])",
            "task = asyncio.create_task(asyncio.sleep(0.01, 5)); await task",
            "asyncio.run(asyncio.sleep(0))",
            "await asyncio.Event().wait()",
        ],
    ),
    "threading": (
        THREADS,
        [
            "with ThreadPoolExecutor(4) as pool: print(sum(pool.map(int, '12345')))",
            "t = threading.Thread(target=print, args=('x',)); t.start(); t.join()",
            "queue.Queue().get()",
            "lock = threading.Lock(); lock.acquire(); lock.acquire()",
            "threading.Thread(target=time.sleep, args=(60,)).start()",
        ],
    ),
}
NOT_REFUSED = ("numpy", "pandas", "matplotlib", "asyncio", "threading", "duckdb", "pyarrow")
"""Where a fork works even after the kernel has used the library."""
WAITS = ("wait()", "get()", "lock.acquire()")
"""Cells that would never end."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine at work needs longer to find its kernel idle."""
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.forks.rehearsing.IDLE", 30)


async def test_some_rehearsals() -> None:
    await rehearse(1)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
async def test_500_rehearsals() -> None:
    await rehearse(16)


async def rehearse(rounds: int) -> None:
    found: Counter[str] = Counter()
    slowest = 0.0
    for module, (setup, cells) in CASES.items():
        if importlib.util.find_spec(module) is None:
            found[f"{module} is not installed"] += 1
            continue
        async with python() as (kernel, _, _):
            await run(kernel, "kept = 0")
            # With nothing of it in the kernel, then after the kernel has used it.
            await one_library(kernel, module, f"{setup}\n", cells[:1], found)
            _, done = await run(kernel, f"{setup}\nkept = 42")
            assert done.status == "ok", (module, done.outputs)
            for _ in range(rounds):
                slowest = max(slowest, await one_library(kernel, module, "", cells, found))
            _, done = await run(kernel, "print(kept)")
            assert text(done).endswith("42\n"), module
    print(f"\n{sum(found.values())} rehearsals, the slowest {slowest:.1f} s: {dict(found)}")


async def one_library(
    kernel: ZmqKernel, module: str, before: str, cells: list[str], found: Counter[str]
) -> float:
    """Seconds of the slowest."""
    slowest = 0.0
    for cell in cells:
        waits = cell.endswith(WAITS)
        seconds = 3.0 if waits else SECONDS
        began = time.monotonic()
        answer = await asyncio.wait_for(kernel.rehearse(before + cell, seconds), seconds + SLACK)
        took = time.monotonic() - began
        how = answer.get("refused") or answer["how"]
        found[f"{module}: {how}"] += 1
        slowest = max(slowest, took)
        if waits:
            assert how in ("timeout", "stalled"), (cell, answer)
        elif module in NOT_REFUSED:
            assert how == "ended", (cell, answer)
            stopped = "never" in cell
            assert answer["success"] is not stopped or "asyncio.run" in cell, (cell, answer)
        else:
            assert how in ("ended", "pool", "stalled"), (cell, answer)
    return slowest
