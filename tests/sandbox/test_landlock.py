"""A kernel behind Landlock, where bubblewrap cannot run."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from traitlets.config import Config

from jupyter_codeinterp.cli.arguments import parser
from jupyter_codeinterp.cli.commands import sandbox
from jupyter_codeinterp.cli.commands.run import _sandboxed as sandboxed
from jupyter_codeinterp.cli.local.problems import DONE, FAILED, USAGE, Problem
from jupyter_codeinterp.cli.terminal.stopping import Stopping
from jupyter_codeinterp.sandbox import doctor, is_sandboxed
from jupyter_codeinterp.sandbox.install import install
from jupyter_codeinterp.sandbox.shared.folders import FolderError, Folders
from jupyter_codeinterp.sandbox.walls import enclosed, landlock
from jupyter_codeinterp.sandbox.walls.launching import LaunchError
from scripts.escapes.attempts import AREAS, OPEN
from scripts.escapes.outside import marked
from scripts.escapes.running import results
from tests.sandbox.test_sandboxed_kernel import HELPERS, REFUSED, kernel, run

runs_here = pytest.mark.skipif(
    bool(doctor.landlock_problem()), reason=doctor.landlock_problem() or "runs here"
)
CHANGES = {
    # of a file that it may only read, open as FILE
    "its mode": "os.fchmod(FILE, 0o604)",
    "its time": "os.utime(FILE, (5, 5))",
    "its time by the path": "os.utime(PATH, (5, 5))",
    "its owner": "os.fchown(FILE, os.getuid(), os.getgid())",
    "its owner by the path": "os.chown(PATH, os.getuid(), os.getgid())",
    "a new attribute": "os.setxattr(FILE, 'user.new', b'1')",
    "a new attribute by the path": "os.setxattr(PATH, 'user.new', b'1')",
    "an attribute less": "os.removexattr(FILE, 'user.old')",
    "an attribute less by the path": "os.removexattr(PATH, 'user.old')",
    "its flags": (
        "import array, fcntl\n"
        "flags = array.array('l', [0]); fcntl.ioctl(FILE, 0x80086601, flags)\n"
        "flags[0] ^= 0x40; fcntl.ioctl(FILE, 0x40086602, flags)"
    ),
}
OF_GIT = [name for name, code in REFUSED.items() if ".git" in code]
LEAVES = """
import subprocess, sys
code = "import os, signal, time\\nsignal.signal(15, signal.SIG_IGN)\\nos.setsid()\\n"
code += "if os.fork():\\n    os._exit(0)\\nprint(1, flush=True)\\ntime.sleep(600)"
one = subprocess.Popen([sys.executable, "-c", code, MARK], stdout=subprocess.PIPE)
assert one.stdout.readline() == b"1\\n"
"""
FORKS = """
import os, subprocess, sys
code = "import os, time\\nprint(1, flush=True)\\nwhile True:\\n    time.sleep(0.02)\\n    try:\\n"
code += "        os._exit(0) if os.fork() else os.fork()\\n    except OSError:\\n        pass"
one = subprocess.Popen([sys.executable, "-c", code, MARK], stdout=subprocess.PIPE)
assert one.stdout.readline() == b"1\\n"
"""
"""Each process ends as soon as it has started others."""


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    (home / "work" / ".ipynb_checkpoints").mkdir(parents=True)
    (home / "secret").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("A_SECRET", "secret")
    return home / "work"


@runs_here
async def test_what_it_refuses_and_what_works(tmp_path: Path, notebook: Path) -> None:
    async with kernel(tmp_path, notebook, wall="landlock", memory=2**30) as (manager, client):
        assert is_sandboxed(manager)
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1")
        port = server.sockets[0].getsockname()[1]
        await run(client, f"{HELPERS}\nPORT, OUTSIDE = {port}, {os.getpid()}")
        got_out = [
            name
            for name, code in REFUSED.items()
            if name not in OF_GIT and (await run(client, code)).get("ename") is None
        ]
        server.close()
        assert got_out == []
        for code in (
            "assert 'A_SECRET' not in os.environ",
            "open('result', 'w').write('1')",
            "import shutil, tempfile; shutil.copy2('result', tempfile.gettempdir())",
            "x = !echo said\nassert x == ['said'], x",
            "import IPython; assert not IPython.get_ipython().system('exit 3')\n"
            "assert _exit_code == 3",
            "import subprocess; subprocess.run(['true'], check=True)",
            "import asyncio; await (await asyncio.create_subprocess_exec('true')).wait()",
            "import os, sys; file = open(sys.prefix + '/pyvenv.cfg'); was = os.stat(file.name)\n"
            "os.fchmod(file.fileno(), was.st_mode | 0o20); os.utime(file.fileno(), (5, 5))\n"
            "now = os.stat(file.name); assert now == was",
            "import psutil; psutil.Process().memory_info(), psutil.virtual_memory()",
            "caps = [one for one in open('/proc/self/status') if 'CapEff' in one or 'NoNew' in one]"
            "\nassert [int(one.split()[1], 16) for one in caps] == [0, 1], caps",
        ):
            reply = await run(client, code)
            assert reply["status"] == "ok", (code, reply)
        assert (await run(client, "x = bytearray(2**31)"))["ename"] == "MemoryError"
        assert (notebook / "result").read_text() == "1"


@runs_here
async def test_nothing_of_a_file_to_read_can_be_changed(tmp_path: Path, notebook: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    file = folder / "data.csv"
    file.write_text("1")
    # Linux sets the time of the last change itself, so it tells of every one.
    with suppress(OSError):  # a file system without such attributes
        os.setxattr(file, "user.old", b"1")
    before = file.stat().st_ctime_ns
    config = {"wall": "landlock", "readable": [str(folder)]}
    async with kernel(tmp_path, notebook, **config) as (_, client):
        opened = f"import os; PATH = {str(file)!r}; FILE = os.open(PATH, os.O_RDONLY)"
        assert (await run(client, opened))["status"] == "ok"
        changed = []
        for name, code in CHANGES.items():
            await run(client, code)
            if file.stat().st_ctime_ns != before:
                changed.append(name)
                before = file.stat().st_ctime_ns
        assert changed == []


@runs_here
async def test_it_cannot_slow_all_programs_of_the_person_down(
    tmp_path: Path, notebook: Path
) -> None:
    async with kernel(tmp_path, notebook, wall="landlock") as (_, client):
        # Linux would refuse the way back: no error shows that it was not asked.
        code = (
            "import os; os.setpriority(os.PRIO_PROCESS, 0, 1)\n"
            "assert os.getpriority(os.PRIO_PROCESS, 0) == 1\n"
            "for who in (os.PRIO_PGRP, os.PRIO_USER): os.setpriority(who, 0, 0)\n"
            "assert os.getpriority(os.PRIO_PROCESS, 0) == 1"
        )
        reply = await run(client, code)
        assert reply["status"] == "ok", reply


@runs_here
@pytest.mark.parametrize("code", [LEAVES, FORKS])
async def test_all_its_processes_end_with_it(tmp_path: Path, notebook: Path, code: str) -> None:
    mark = f"codeinterp-landlock-{os.getpid()}-{len(code)}"
    async with kernel(tmp_path, notebook, wall="landlock", processes=80) as (manager, client):
        place = manager.provisioner.place.path
        waiting = asyncio.create_task(run(client, "import time\nwhile True: time.sleep(0.1)"))
        await asyncio.sleep(0.3)
        await manager.interrupt_kernel()
        assert (await waiting)["ename"] == "KeyboardInterrupt"
        await manager.restart_kernel()
        await client.wait_for_ready(timeout=30)
        reply = await run(client, f"MARK = {mark!r}\n{code}")
        assert reply["status"] == "ok", reply
        # One look may miss processes that live for 20 ms.
        assert any(marked(mark) for _ in range(50))
    assert not place.exists()
    assert not marked(mark)


@runs_here
def test_all_its_processes_end_with_a_server_that_is_killed(tmp_path: Path, notebook: Path) -> None:
    mark = f"codeinterp-landlock-{os.getpid()}-killed"
    program = (
        "import asyncio; from pathlib import Path\n"
        "from tests.sandbox.test_landlock import LEAVES, kernel, run\n"
        "async def main():\n"
        f"    given = Path({str(tmp_path)!r}), Path({str(notebook)!r})\n"
        "    async with kernel(*given, wall='landlock') as (_, client):\n"
        f"        await run(client, 'MARK = \"{mark}\"\\n' + LEAVES)\n"
        "        print('ready', flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        assert marked(mark)
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while marked(mark):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@runs_here
@pytest.mark.timeout(180)
async def test_code_behind_landlock_reaches_no_server_and_decides_on_no_draft() -> None:
    found = await results(["the server"], controls=False, wall="landlock")
    assert len(found) == len(AREAS["the server"])
    assert [(one.attempt.name, one.fault) for one in found if one.fault] == []


def test_what_landlock_is_known_not_to_hold_is_tried() -> None:
    names = {one.name for attempts in AREAS.values() for one in attempts}
    assert set(OPEN["landlock"]) <= names


@runs_here
async def test_a_folder_with_what_it_cannot_protect_is_refused(
    tmp_path: Path, notebook: Path
) -> None:
    (notebook / "deep" / ".git").mkdir(parents=True)
    with pytest.raises(LaunchError, match=r"Without bubblewrap, \.git in it would be"):
        async with kernel(tmp_path, notebook, wall="landlock"):
            pass


@runs_here
@pytest.mark.parametrize("config", [{}, {"wall": "bubblewrap"}])
async def test_without_bubblewrap_no_other_wall_takes_its_place(
    tmp_path: Path, notebook: Path, monkeypatch: pytest.MonkeyPatch, config: dict[str, str]
) -> None:
    _without_bubblewrap(monkeypatch)
    with pytest.raises(LaunchError, match="bubblewrap"):
        async with kernel(tmp_path, notebook, bwrap="no-such-program", **config):
            pass


@runs_here
async def test_auto_takes_it_where_bubblewrap_cannot_run(
    tmp_path: Path, notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_bubblewrap(monkeypatch)
    async with kernel(tmp_path, notebook, wall="auto") as (_, client):
        found = await run(client, "assert not __import__('os').path.exists('/run/kernel')")
        assert found["status"] == "ok"
    assert doctor.problem_of("auto") == "" != doctor.problem_of("bubblewrap")
    with pytest.raises(LaunchError, match="A list of allowed hosts needs bubblewrap"):
        async with kernel(tmp_path / "other", notebook, wall="auto", allow=["example.org:443"]):
            pass


MISSING = "bubblewrap is not installed."
OVERLAYS = [
    # the wall, whether bubblewrap runs here, and why there is no overlay
    ("bubblewrap", True, ""),
    ("bubblewrap", False, f"An overlay needs bubblewrap. {MISSING}"),
    ("landlock", True, "An overlay needs bubblewrap. The wall of this kernel is Landlock."),
    ("landlock", False, "An overlay needs bubblewrap. The wall of this kernel is Landlock."),
    ("auto", True, ""),
    ("auto", False, f"An overlay needs bubblewrap. {MISSING}"),
]


@pytest.mark.parametrize(("wall", "runs", "why"), OVERLAYS)
def test_where_an_overlay_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wall: str, runs: bool, why: str
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "problem", lambda: "" if runs else MISSING)
    monkeypatch.setattr(doctor, "landlock_problem", lambda: "")
    assert doctor.overlay_problem(wall) == why
    # At the installation.
    options = parser().parse_args(["sandbox", "install", "--user", "--overlay", "--wall", wall])
    if why:
        with pytest.raises(Problem, match=r"bubblewrap") as raised:
            sandbox.sandbox(options, Stopping())
        # Without any wall nothing is wrong with the options.
        assert raised.value.code == (USAGE if wall != "bubblewrap" else FAILED)
        assert not list(tmp_path.rglob("kernel.json"))
    else:
        assert sandbox.sandbox(options, Stopping()) == DONE
    # At a run: with the kernelspec's own setting, the configuration's, or --commit.
    install("python3", "boxed", user=True, wall=wall)
    for config, commit in (({}, True), ({"overlay": True}, False)):
        given = Config({"SandboxProvisioner": config})
        if why:
            with pytest.raises(Problem, match=r"bubblewrap") as raised:
                sandboxed(given, commit)
            assert raised.value.code == USAGE
        else:
            assert sandboxed(given, commit)
    if wall != "bubblewrap":
        assert sandboxed(Config(), False) == "boxed"


def _without_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "problem", lambda: "bubblewrap is not installed.")


@pytest.mark.parametrize(
    ("wall", "title"),
    [
        ("bubblewrap", "Python 3 (sandboxed)"),
        ("landlock", "Python 3 (sandboxed, Landlock only)"),
        ("auto", "Python 3 (sandboxed, or Landlock only)"),
    ],
)
def test_the_name_in_the_menu_says_what_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wall: str, title: str
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    assert install("python3", "boxed", user=True, wall=wall)[1] == title


def test_what_is_hidden_in_a_folder_to_read_has_no_rule(tmp_path: Path) -> None:
    for name in ("env/lib", "env/etc/jupyter", "env/etc/other", "work", "k"):
        (tmp_path / name).mkdir(parents=True)
    file = tmp_path / "connection.json"
    file.touch()
    env, work = tmp_path / "env", tmp_path / "work"
    folders = Folders(work, (env,), (), (env / "etc" / "jupyter",))
    found = dict(enclosed.rules(folders, [], tmp_path / "k", file))
    inside = {Path(path).relative_to(tmp_path) for path in found if path.startswith(str(tmp_path))}
    assert set(map(str, inside)) == {"env/lib", "env/etc/other", "work", "k", "connection.json"}
    assert found[str(work)] & landlock.WRITE_FILE
    assert not found[str(env / "lib")] & ~landlock.READ
    hidden = Folders(work, (), (), (work / "data",))
    with pytest.raises(FolderError, match="data in it would be"):
        enclosed.rules(hidden, [], tmp_path / "k", file)


@pytest.mark.parametrize(
    ("version", "words"), [(0, "no Landlock"), (4, "needs version 6, of Linux 6.12"), (6, "")]
)
def test_an_older_version_is_none(
    monkeypatch: pytest.MonkeyPatch, version: int, words: str
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: version)
    monkeypatch.setattr(doctor, "_wrong_machine", lambda: "")
    assert words in doctor.landlock_problem()
    assert bool(doctor.landlock_problem()) == bool(words)
    assert all(gap in doctor.without_bubblewrap() for gap in enclosed.GAPS) == (not words)
