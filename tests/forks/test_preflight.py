"""When a kernel may be forked: a table of what a person's code may have started."""

from __future__ import annotations

import ast
import sys
from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from jupyter_codeinterp.adapters.kernels.zmq.kernel_files import namespace
from jupyter_codeinterp.kernel_side.forks import preflight
from tests.kernels import python, run, text

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")

QUESTION = f"{namespace(['forks/preflight'], {'__name__': 'preflight'})}['refusal']()"
THREAD = "import threading\n_end = threading.Event()\n"
CASES = {
    # what a person's code did: (the code, what ends it again, the refusal, a part of its detail)
    "nothing": ("x = 1", "", "", ""),
    "numpy and pandas": (
        "import numpy, pandas\nnumpy.ones((300, 300)) @ numpy.ones(300)",
        "",
        "",
        "",
    ),
    "a thread": (
        f"{THREAD}threading.Thread(target=_end.wait, name='mine').start()",
        "_end.set()",
        "thread",
        "mine",
    ),
    "a thread that calls itself the kernel's": (
        f"{THREAD}threading.Thread(target=_end.wait, name='IOPub').start()",
        "_end.set()",
        "thread",
        "IOPub",
    ),
    "a pool of threads": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(1)\npool.submit(int).result()",
        "pool.shutdown()",
        "thread",
        "ThreadPoolExecutor",
    ),
    "a thread below the threading module": (
        f"{THREAD}import _thread\n_thread.start_new_thread(_end.wait, ())",
        "_end.set()\nimport time\ntime.sleep(0.1)",
        "thread",
        "thread",
    ),
    "a task of asyncio": (
        "import asyncio\nasync def later(): await asyncio.sleep(1000)\n"
        "task = asyncio.get_running_loop().create_task(later(), name='mine')",
        "task.cancel()",
        "task",
        "mine",
    ),
    "a file that both would write": (
        "import mmap, tempfile\n_file = tempfile.TemporaryFile()\n_file.truncate(4096)\n"
        "shared = mmap.mmap(_file.fileno(), 4096)",
        "shared.close()\n_file.close()",
        "shared_memory",
        "/",
    ),
    "a file that is only read": (
        "import mmap, sys\n_file = open(sys.executable, 'rb')\n"
        "shared = mmap.mmap(_file.fileno(), 4096, access=mmap.ACCESS_READ)",
        "shared.close()\n_file.close()",
        "",
        "",
    ),
}


async def ask(kernel: ZmqKernel) -> Any:
    _, done = await run(kernel, f"print({QUESTION})")
    return ast.literal_eval(text(done))


async def test_what_a_kernel_may_have_started() -> None:
    async with python() as (kernel, _, _):
        await kernel.variables()
        for case, (code, end, refused, detail) in CASES.items():
            _, done = await run(kernel, code)
            assert done.status == "ok", (case, done.outputs)
            found = await ask(kernel)
            assert (found or {}).get("refused", "") == refused, (case, found)
            assert detail in (found or {}).get("detail", ""), (case, found)
            await run(kernel, end)
        assert await ask(kernel) is None


async def test_a_subshell_does_not_fork() -> None:
    asked = (
        "import threading, builtins\nanswers = []\n"
        f"_text = {QUESTION!r}\n"
        "_thread = threading.Thread(target=lambda: answers.append(eval(_text)))\n"
        "_thread.start()\n_thread.join()\nprint(answers[0])"
    )
    async with python() as (kernel, _, _):
        _, done = await run(kernel, asked)
        assert ast.literal_eval(text(done))["refused"] == "not_main_thread"


def test_native_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the names of threads that Python does not know, and the libraries in memory."""
    table: list[tuple[list[str], list[str], str]] = [
        ([], ["/x/libtorch_cpu.so"], ""),
        (["ZMQbg/IO/0", "jemalloc_bg_thd"], [], ""),
        (["python"], ["/x/libscipy_openblas64_.so"], ""),
        (["python"], ["/x/libarrow.so.2600", "/x/_duckdb.so"], ""),
        (["python"], ["/x/libtorch_cpu.so"], "libtorch"),
        (["python"], ["/x/libjvm.so"], "libjvm"),
        (["ZMQbg/IO/0", "polars-0"], [], "polars-0"),
        (["cuda-EvtHandlr"], [], "cuda-EvtHandlr"),
    ]
    monkeypatch.setattr(preflight, "text_of", lambda path: "python\n")
    for threads, libraries, expected in table:
        monkeypatch.setattr(preflight, "native_threads", lambda threads=threads: threads)
        monkeypatch.setattr(preflight, "mapped", lambda libraries=libraries: libraries)
        assert preflight.native_pool() == expected, (threads, libraries)


def test_short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/self/statm": "9 1000 9",
        "/proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 1000000 kB\n",
        "/proc/self/cgroup": "0::/user/kernel\n",
    }
    monkeypatch.setattr(preflight, "text_of", lambda path: files.get(path, ""))
    assert preflight.short_memory() == ""
    files["/sys/fs/cgroup/user/memory.max"] = str(900 * 2**20)
    files["/sys/fs/cgroup/user/memory.current"] = str(800 * 2**20)
    files["/sys/fs/cgroup/user/memory.stat"] = f"anon 5\ninactive_file {20 * 2**20}\n"
    assert preflight.short_memory() == "120 MB free, 257 MB needed"
    files["/sys/fs/cgroup/user/memory.stat"] = f"inactive_file {700 * 2**20}\n"
    assert preflight.short_memory() == ""
    del files["/sys/fs/cgroup/user/memory.max"]
    files["/proc/self/statm"] = f"9 {2**30 // 2048} 9"
    assert "needed" in preflight.short_memory()


def test_a_gpu_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert preflight.gpu() == ""
    monkeypatch.setattr("os.readlink", lambda path: "/dev/nvidia0")
    assert preflight.gpu() == "/dev/nvidia0"


def test_other_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert preflight.refusal() == {"refused": "not_linux", "detail": ""}
