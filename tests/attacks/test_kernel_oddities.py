"""Code that breaks the kernel it runs in: its own run has one outcome, and afterwards a cell
that the person runs by hand works.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest

from jupyter_codeinterp.kernel.zmq import unusable as unusable_module
from tests.kernels import Person, person_at, python, python_and_person, run, text
from tests.nightly import spread


class Case(NamedTuple):
    """``status`` of the run; words of its outputs and its note."""

    code: str
    status: str
    shows: str = ""


RAISING = """import sys
class Broken:
    def write(self, text): raise RuntimeError("no")
    flush = write
sys.stdout = sys.stderr = Broken()"""
DISPLAY = """def boom(*args, **kwargs): raise RuntimeError("no")
get_ipython().display_pub.publish = boom
type(get_ipython().displayhook).__call__ = boom"""
BOOM = """from functools import wraps
@wraps(type(get_ipython()).run_cell)
def boom(*args, **kwargs): raise RuntimeError("no")
"""
SEND = """k = get_ipython().kernel
def send(kind, content):
    k.session.send(k.iopub_socket, kind, content, parent=k.get_parent("shell"))
"""
JUNK = (
    SEND
    + """
for kind in ("stream", "display_data", "execute_result", "error", "status", "clear_output",
             "update_display_data", "comm_open", "comm_msg", "execute_input"):
    for content in ({}, {"name": 5, "text": None}, {"data": 7, "metadata": 5, "transient": []},
                    {"execution_state": ["idle"]}, {"comm_id": [], "data": 5}, {"code": 7},
                    {"data": {"text/plain": [1, {}]}, "metadata": {}, "execution_count": "x"}):
        send(kind, content)
print("still here")"""
)
PAYLOADS = """write = get_ipython().payload_manager.write_payload
for part in ({"source": "set_next_input"}, {"source": "page", "data": 5}, {"source": []},
             {"source": "set_next_input", "text": {}}, {"source": "ask_exit", "keepkernel": 1}):
    write(part)
print("still here")"""
BUILTINS = """import builtins
for name in list(vars(builtins)):
    if name not in ("vars", "list", "delattr", "__import__"):
        delattr(builtins, name)"""

ODDITIES = {
    "replaces sys.stdout": Case("import io, sys\nsys.stdout = io.StringIO()", "ok", "sys.stdout"),
    "has no sys.stdout": Case("import sys\nsys.stdout = sys.stderr = None", "ok", "sys.stderr"),
    "closes sys.stdout": Case("import sys\nsys.stdout.close()\nsys.stderr.close()", "ok"),
    "makes sys.stdout raise": Case(RAISING, "ok", "Restored"),
    "has no displayhook": Case("get_ipython().displayhook = None\n5", "error", "displayhook"),
    "has no display publisher": Case("get_ipython().display_pub = None", "ok", "display_pub"),
    "patches the display": Case(DISPLAY, "ok", "ZMQDisplayPublisher.publish"),
    "patches away what runs cells": Case("get_ipython().run_cell = None", "ok", "run_cell"),
    "makes what runs cells raise": Case(
        BOOM + "s = get_ipython()\ns.run_cell = s.run_cell_async = s.should_run_async = boom",
        "ok",
        "run_cell",
    ),
    "makes what runs cells raise in its class": Case(
        BOOM + "type(get_ipython()).run_cell = type(get_ipython()).run_cell_async = boom",
        "ok",
        "run_cell",
    ),
    "mocks what runs cells": Case(
        "from unittest.mock import Mock\nget_ipython().run_cell = Mock(side_effect=ValueError)",
        "ok",
        "run_cell",
    ),
    "deletes what runs cells": Case(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "del InteractiveShell.run_cell, InteractiveShell.run_cell_async",
        "ok",
        "run_cell",
    ),
    "makes execution raise": Case(BOOM + "get_ipython().kernel.do_execute = boom", "ok", "do_exe"),
    "patches away execution": Case("get_ipython().kernel.do_execute = 0", "ok", "do_execute"),
    "patches away tracebacks": Case("get_ipython().showtraceback = None\n1 / 0", "error"),
    "signs with another key": Case("get_ipython().kernel.session.key = b'other'", "ok"),
    "deletes all builtins": Case(BUILTINS, "error"),
    "deletes print": Case("import builtins\ndel builtins.print, builtins.len", "ok"),
    "replaces In and Out": Case("In = Out = None\n5", "ok"),
    "empties the history": Case("get_ipython().user_ns['_oh'] = None", "ok"),
    "counts beyond all bounds": Case("get_ipython().execution_count = 10 ** 30", "ok", "count"),
    "counts below nothing": Case("get_ipython().execution_count = -5", "ok"),
    "allows no recursion": Case("import sys\nsys.setrecursionlimit(60)", "ok"),
    "raises SystemExit": Case("raise SystemExit", "error", "SystemExit"),
    "calls sys.exit": Case("import sys\nsys.exit(3)", "error", "SystemExit"),
    "raises KeyboardInterrupt": Case("raise KeyboardInterrupt", "error", "KeyboardInterrupt"),
    "raises CancelledError": Case("import asyncio\nraise asyncio.CancelledError", "error"),
    "raises what has no words": Case(
        "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "error"
    ),
    "shows what exits": Case(
        "class X:\n    def __repr__(self): raise SystemExit\nX()", "error", "SystemExit"
    ),
    "forks": Case("import os\nos.fork()\nprint('here')", "ok", "here"),
    "forks and exits the child": Case(
        "import os, sys\npid = os.fork()\nif pid == 0: sys.exit(0)\nprint(os.waitpid(pid, 0)[1])",
        "ok",
    ),
    "blocks signals": Case(
        "import signal\nold = signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))", "ok"
    ),
    "removes its folder": Case(
        "import os, tempfile\nd = tempfile.mkdtemp()\nos.chdir(d)\nos.rmdir(d)", "ok"
    ),
    "closes stdin and its like": Case("import os\nfor n in (0, 1, 2): os.close(n)", "ok"),
    "says that it is idle": Case(SEND + "send('status', {'execution_state': 'idle'})", "ok"),
    "publishes rubbish": Case(JUNK, "ok", "still here"),
    "answers with rubbish": Case(PAYLOADS, "ok", "still here"),
    "exits but keeps the kernel": Case("exit(keep_kernel=True)", "ok"),
}
ENDS = {
    "calls exit": Case("exit()", "dead", "exit or quit"),
    "says quit": Case("quit", "dead", "exit or quit"),
    "asks to exit": Case("get_ipython().ask_exit()", "dead", "exit or quit"),
    "exits the process": Case("import os\nos._exit(0)", "dead", "variables are gone"),
    "crashes": Case("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "dead", "gone"),
    "kills itself": Case("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "dead", "gone"),
    "closes all files": Case("import os\nos.closerange(3, 4096)", "dead", "gone"),
    "closes the shell": Case("get_ipython().kernel.shell_stream.close()", "dead", "cut"),
    "closes iopub": Case("get_ipython().kernel.iopub_socket.close()", "dead", "cut"),
    "stops the iopub thread": Case("get_ipython().kernel.iopub_thread.stop()", "dead", "cut"),
}


async def by_hand(person: Person) -> str:
    """What a cell of the person shows, once it has ended; as in a page it has to be heard."""
    msg_id = person.run("print(6 * 7)")
    await asyncio.wait_for(person.finished(msg_id), 30)
    return person.text(msg_id)


@pytest.mark.parametrize("name", spread(ODDITIES, every=4))
async def test_code_that_breaks_its_kernel_leaves_it_usable(name: str) -> None:
    case = ODDITIES[name]
    async with python_and_person() as (kernel, person, link):
        await run(kernel, "kept = 1")
        start = link.start
        _, done = await asyncio.wait_for(run(kernel, case.code), 30)
        assert done.status == case.status, done
        assert case.shows in f"{done.note} {done.outputs}"
        assert await by_hand(person) == "42\n"
        assert text((await run(kernel, "print(kept)"))[1]) == "1\n"
        assert link.start == start


@pytest.mark.parametrize("name", spread(ENDS, every=3))
async def test_code_that_ends_its_kernel_gives_a_new_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unusable_module, "RESPONSE_TIMEOUT", 1.0)
    case = ENDS[name]
    async with python() as (kernel, link, kernels):
        kernel_id, start = link.kernel_id, (await kernel.info()).start
        told: list[str] = []
        kernels.add_restart_callback(kernel_id, lambda: told.append("restarting"))
        _, done = await asyncio.wait_for(run(kernel, case.code), 30)
        assert done.status == case.status, done
        assert case.shows in done.note and "All its variables are gone" in done.note
        # It is the same kernel to the page, with another process.
        assert text((await run(kernel, "print('new')"))[1]) == "new\n"
        info = await kernel.info()
        assert info.kernel_id == kernel_id and info.start == start + 1
        # So each page learns of it, and opens its connection anew.
        assert told == ["restarting"]
        async with person_at(kernels, kernel_id) as person:
            assert await by_hand(person) == "42\n"


async def test_a_kernel_that_the_server_would_not_restart_is_there_again() -> None:
    async with python() as (kernel, link, kernels):
        manager = kernels.get_kernel(link.kernel_id)
        manager.autorestart = False
        manager.stop_restarter()
        _, done = await asyncio.wait_for(run(kernel, "exit()"), 30)
        assert done.status == "dead"
        assert text((await run(kernel, "print('new')"))[1]) == "new\n"


async def test_a_blocked_interrupt_is_obeyed_again_afterwards() -> None:
    async with python_and_person() as (kernel, _, __):
        await run(
            kernel, "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})"
        )
        _, done = await asyncio.wait_for(run(kernel, "while True: pass", timeout=0.5), 30)
        assert done.status == "timeout" and "KeyboardInterrupt" in str(done.outputs)


async def test_a_thread_that_prints_later_disturbs_nothing() -> None:
    async with python_and_person() as (kernel, person, _):
        later = "import threading\nt = threading.Timer(0.3, lambda: print('later'))\nt.start()"
        _, done = await run(kernel, later)
        assert (done.status, done.outputs) == ("ok", ())
        _, done = await run(kernel, "t.join(); print('mine')")
        assert done.status == "ok" and "mine" in text(done)
        assert await by_hand(person) == "42\n"


async def test_the_persons_own_streams_stay_as_they_have_set_them() -> None:
    async with python_and_person() as (kernel, person, _):
        msg_id = person.run(
            "import io, sys\nkernels = sys.stdout\nsys.stdout = mine = io.StringIO()"
        )
        await person.finished(msg_id)
        _, done = await run(kernel, "print('into it')")
        assert done.outputs == ()
        msg_id = person.run("sys.stdout = kernels; print(mine.getvalue())")
        await person.finished(msg_id)
        shown = [m["content"]["text"] for m in person.messages if m["msg_type"] == "stream"]
        assert "into it" in "".join(shown)


async def test_what_a_package_wraps_stays_wrapped() -> None:
    code = """import sys, types
package = types.ModuleType("package")
exec('''
def wrap(shell):
    inner = shell.run_cell
    def run_cell(*args, **kwargs):
        print("wrapped")
        return inner(*args, **kwargs)
    shell.run_cell = run_cell
''', vars(package))
package.wrap(get_ipython())"""
    async with python_and_person() as (kernel, person, _):
        _, done = await run(kernel, code)
        assert (done.status, done.outputs) == ("ok", ())
        assert await by_hand(person) == "wrapped\n42\n"
