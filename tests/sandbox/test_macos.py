"""A kernel by ``sandbox-exec`` of macOS: its profile, and all that does not need a Mac to try."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.cli.arguments import parser
from jupyter_codeinterp.cli.commands import sandbox
from jupyter_codeinterp.cli.local.problems import DONE, FAILED, Problem
from jupyter_codeinterp.cli.terminal.stopping import Stopping
from jupyter_codeinterp.sandbox import is_sandboxed
from jupyter_codeinterp.sandbox.shared.folders import Folders
from jupyter_codeinterp.sandbox.shared.place import start_of
from jupyter_codeinterp.sandbox.walls import seatbelt
from jupyter_codeinterp.sandbox.walls.launching import LaunchError
from scripts.escapes.outside import marked
from tests.sandbox.test_sandboxed_kernel import kernel, run

ENV, JUPYTER = Path("/Users/me/env"), Path("/Users/me/env/etc/jupyter")
PLACE = Path("/private/tmp/place")
OWN = (PLACE / "home", PLACE / "tmp")
READ, WRITE, EXEC, UNLINK = "file-read-data", "file-write-data", "process-exec", "file-write-unlink"
SEES = "file-read-metadata"
CASES = [
    # the operation, what it is on ("~" is the notebook's folder), and whether it is allowed
    (READ, "~/data.csv", True),
    (WRITE, "~/data.csv", True),
    (EXEC, "~/program", True),
    (UNLINK, "~/data.csv", True),
    (UNLINK, "~", False),
    (READ, "~/.git/config", True),
    (WRITE, "~/.git/hooks/pre-commit", False),
    (WRITE, "~/.git", False),
    (WRITE, "~/.gitignore", True),
    (WRITE, "~/.vscode/tasks.json", False),
    (WRITE, "~/.envrc", False),
    (WRITE, "~/.ipynb_checkpoints/a.ipynb", False),
    (WRITE, "~/deep/er/.git/config", False),
    (UNLINK, "~/deep", False),
    (UNLINK, "~/deep/er", False),
    (WRITE, "~/deep/er/file", True),
    (WRITE, "~/env/lib/module.py", False),
    (READ, "~/env/lib/module.py", True),
    (READ, "~/hidden/token", False),
    (WRITE, "~/hidden/token", False),
    (READ, "/Users/me/.ssh/id_rsa", False),
    (READ, "/System/Volumes/Data/Users/me/.ssh/id_rsa", False),
    (READ, "/Users/me", False),
    (SEES, "/Users/me", True),
    (SEES, "/Users/me/.ssh/id_rsa", False),
    (READ, "/Users/me/env/lib/module.py", True),
    (EXEC, "/Users/me/env/bin/python", True),
    (WRITE, "/Users/me/env/lib/module.py", False),
    (READ, "/Users/me/env/etc/jupyter/jupyter_server_config.py", False),
    (READ, "/Users/me/environment", False),
    (READ, "/usr/lib/libc.dylib", True),
    (EXEC, "/bin/sh", True),
    (WRITE, "/usr/local/bin/tool", False),
    (READ, "/opt/homebrew/var/postgres/base", False),
    (READ, "/private/etc/master.passwd", False),
    (READ, "/private/var/root", False),
    (READ, "/dev/urandom", True),
    (WRITE, "/dev/null", True),
    (WRITE, "/dev/disk0", False),
    (WRITE, "/private/tmp/place/home/file", True),
    (WRITE, "/private/tmp/place/tmp/file", True),
    (WRITE, "/private/tmp/place/k/s-1", True),
    (READ, "/private/tmp/place/connection.json", True),
    (WRITE, "/private/tmp/place/connection.json", False),
    (WRITE, "/private/tmp/place/s-1", False),
    (WRITE, "/private/tmp/other", False),
    ("network-bind", "/private/tmp/place/k/s-1", True),
    ("network-outbound", "/private/tmp/place/k/s-1", True),
    ("network-outbound", "/private/tmp/other/k/s-1", False),
    ("network-outbound", "/private/var/run/mDNSResponder", False),
    ("network-outbound", "/private/var/run/docker.sock", False),
    ("network-outbound", "~/a.sock", False),
    ("network-outbound", "*:443", False),
    ("network-outbound", "localhost:8888", False),
    ("system-socket", "AF_UNIX", True),
    ("system-socket", "AF_INET", False),
    ("mach-lookup", "com.apple.system.opendirectoryd.libinfo", True),
    ("mach-lookup", "com.apple.coreservices.launchservicesd", False),
    ("mach-lookup", "com.apple.SecurityServer", False),
    ("mach-lookup", "com.apple.pasteboard.1", False),
    ("sysctl-read", "hw.ncpu", True),
    ("sysctl-read", "kern.procargs2", False),
    ("sysctl-write", "kern.hostname", False),
    ("signal", "same-sandbox", True),
    ("signal", "others", False),
    ("process-info-pidinfo", "others", False),
    ("process-fork", "", True),
    ("file-link", "~/link", False),
    ("system-fcntl", "80", False),
    ("ipc-posix-sem", "/mp-1", True),
    ("ipc-posix-shm-read-data", "/psm_1", False),
    ("iokit-open", "IOHIDSystem", False),
    ("appleevent-send", "com.apple.Terminal", False),
]
NAMES = [
    "work", 'a"b', "a\\b", "a\nb", "a)(allow default)", '") (allow default) ("', "ünï⊕", "a=b",
    "-p", "${P0}", "(param P0)", "a;b", "#|", "P0", "\udcff",
]  # fmt: skip
"""Of the notebook's folder."""
LINUX_ALONE = (
    "O_PATH", "pidfd_open", "memfd_create", "MFD_CLOEXEC", "listxattr", "getxattr", "setxattr",
    "removexattr", "setns", "unshare", "sched_setaffinity", "sched_getaffinity", "posix_fallocate",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_the_profile_allows(name: str) -> None:
    notebook = Path("/Users/me") / name
    profile, parameters = _made(notebook)
    wrong = [
        case
        for case in CASES
        if _allowed(profile, parameters, case[0], case[1].replace("~", str(notebook))) != case[2]
    ]
    assert wrong == []


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1).filter(lambda name: "/" not in name and name not in (".", "..")))
def test_no_name_of_a_folder_adds_a_rule(name: str) -> None:
    made, plain = (_arguments(Path("/Users/me") / one) for one in (name, "work"))
    # Both profiles have the same text: each name is a parameter outside of it.
    assert made[made.index("-p") + 1] == plain[plain.index("-p") + 1]
    assert len(made) == len(plain)
    assert made[-3:] == ["--", "/usr/bin/true", "-p"]
    defined = made[: made.index("-p", len(made) - 5)]
    assert all(one.startswith("-DP") and "=/" in one for one in defined)
    assert f"/Users/me/{name}" in [one.partition("=")[2] for one in defined]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that takes the arguments and lets everything happen. Then the kernel's folder."""
    program = tmp_path / "sandbox-exec"
    program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    program.chmod(0o700)
    monkeypatch.setattr(seatbelt, "PROGRAM", str(program))
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("A_SECRET", "secret")
    return home / "work"


async def test_interrupt_restart_and_the_end(tmp_path: Path, stand_in: Path) -> None:
    mark = f"codeinterp-macos-{os.getpid()}"
    async with kernel(tmp_path, stand_in, wall="sandbox-exec", open_files=300) as (manager, client):
        provisioner = manager.provisioner
        place = provisioner.place.path
        waiting = asyncio.create_task(run(client, "import time\nwhile True: time.sleep(0.1)"))
        await asyncio.sleep(0.3)
        await manager.interrupt_kernel()
        assert (await waiting)["ename"] == "KeyboardInterrupt"
        await manager.restart_kernel()
        await client.wait_for_ready(timeout=30)
        code = (
            "import os, resource, subprocess, sys, tempfile\n"
            f"assert os.getcwd() == {str(stand_in)!r} and 'A_SECRET' not in os.environ\n"
            "assert os.path.expanduser('~').startswith(tempfile.gettempdir()[:-4]), tempfile\n"
            "assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, 300)\n"
            "assert (x := get_ipython().getoutput('echo said')) == ['said'], x\n"
            f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {mark!r}])"
        )
        reply = await run(client, code)
        assert reply["status"] == "ok", reply
        assert marked(mark)
        # Untested, so it counts only where the server's configuration names it.
        assert not is_sandboxed(manager)
        provisioner.config.SandboxProvisioner.wall = "bubblewrap"
        assert not is_sandboxed(manager)
        provisioner.config.SandboxProvisioner.wall = "sandbox-exec"
        assert is_sandboxed(manager)
        assert provisioner.observer() is None
    assert not place.exists()
    assert not marked(mark)
    assert not is_sandboxed(manager)


def test_all_of_its_group_ends_with_a_server_that_is_killed(tmp_path: Path, stand_in: Path) -> None:
    mark = f"codeinterp-macos-{os.getpid()}-killed"
    code = f"import subprocess; subprocess.Popen(['sh', '-c', 'sleep 600; true', '{mark}'])"
    program = (
        "import asyncio; from pathlib import Path\n"
        "from jupyter_codeinterp.sandbox.walls import seatbelt\n"
        "from tests.sandbox.test_sandboxed_kernel import kernel, run\n"
        f"seatbelt.PROGRAM = {seatbelt.PROGRAM!r}\n"
        "async def main():\n"
        f"    given = Path({str(tmp_path)!r}), Path({str(stand_in)!r})\n"
        "    async with kernel(*given, wall='sandbox-exec') as (manager, client):\n"
        f"        await run(client, {code!r})\n"
        "        print(manager.provisioner.place.path, flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        file = f"{child.stdout.readline().strip()}/connection.json"
        # An argument of the kernel itself.
        running = marked(mark), marked(file)
        child.send_signal(signal.SIGKILL)
    assert all(running), running
    deadline = time.monotonic() + 10
    while marked(mark) or marked(file):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_kernel_whose_server_ends_before_it_has_a_group_ends() -> None:
    program = (
        "import os, time; real = os.setsid\n"
        "os.setsid = lambda: (time.sleep(1), real())\n"
        "from jupyter_codeinterp.sandbox.walls import supervisor; supervisor.main()"
    )
    command = ["/bin/sleep", "2"]
    wanted = {"command": command, "environment": {}, "folder": "/", "limits": []}
    given = json.dumps(wanted).encode() + b"\n"
    ended = subprocess.run([sys.executable, "-c", program], input=given, timeout=30)
    assert ended.returncode == 128 + signal.SIGKILL


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"allow": ["example.org:443"]}, "needs bubblewrap. The wall of this kernel is sandbox-exec"),
    ({"overlay": True}, "needs bubblewrap. The wall of this kernel is sandbox-exec"),
    ({"memory": 2**30}, "macOS has no limit of memory that holds"),
    ({}, "does not take the profile: unbound variable"),
]


@pytest.mark.parametrize(("config", "words"), REFUSED)
async def test_what_it_cannot_do_is_refused(
    tmp_path: Path, stand_in: Path, config: dict[str, Any], words: str
) -> None:
    program = tmp_path / "sandbox-exec"
    program.write_text("#!/bin/sh\necho unbound variable; exit 65\n")
    with pytest.raises(LaunchError, match=words):
        async with kernel(tmp_path, stand_in, wall="sandbox-exec", **config):
            pass


def test_no_other_system_offers_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    options = parser().parse_args(["sandbox", "install", "--user", "--wall", "sandbox-exec"])
    with pytest.raises(Problem, match="sandbox-exec is a program of macOS; this is Linux"):
        sandbox.sandbox(options, Stopping())


def test_on_macos_it_must_be_chosen_and_says_that_it_is_untested(
    tmp_path: Path,
    stand_in: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert sandbox.sandbox(parser().parse_args(["sandbox", "doctor"]), Stopping()) == FAILED
    said = capsys.readouterr().out
    assert "The sandbox needs Linux" in said and "It is untested" in said
    assert all(gap in said for gap in seatbelt.GAPS)
    for wall in ([], ["--wall", "auto"], ["--wall", "landlock"]):
        options = parser().parse_args(["sandbox", "install", "--user", *wall])
        with pytest.raises(Problem, match="The sandbox needs Linux"):
            sandbox.sandbox(options, Stopping())
    options = parser().parse_args(["sandbox", "install", "--user", "--wall", "sandbox-exec"])
    assert sandbox.sandbox(options, Stopping()) == DONE
    said = capsys.readouterr().out
    assert "Installed Python 3 (sandbox-exec, untested)" in said and seatbelt.GAPS[0] in said


def test_its_modules_need_nothing_of_linux() -> None:
    program = (
        f"import os\nfor name in {LINUX_ALONE!r}:\n    vars(os).pop(name, None)\n"
        "import jupyter_codeinterp.sandbox.provisioner\n"
        "import jupyter_codeinterp.sandbox.walls.supervisor"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


def test_folders_of_ended_programs_are_known_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    monkeypatch.setattr(sys, "platform", "darwin")
    assert (start_of(os.getpid()), start_of(1), start_of(ended.pid)) == ("0", "0", "")


def _arguments(notebook: Path) -> list[str]:
    folders = Folders(
        notebook,
        (ENV, notebook / "env"),
        (notebook / ".git", notebook / "deep" / "er" / ".git"),
        (JUPYTER, notebook / "hidden"),
    )
    command = ["/usr/bin/true", "-p"]
    return seatbelt.arguments(folders, OWN, PLACE / "k", PLACE / "connection.json", command)


def _made(notebook: Path) -> tuple[list[Any], dict[str, str]]:
    """The profile's rules, and its parameters."""
    given = _arguments(notebook)
    at = next(number for number, one in enumerate(given) if not one.startswith("-D"))
    assert given[at] == "-p"
    defined = (one[2:].split("=", 1) for one in given[:at])
    return list(_read(iter(_words(given[at + 1])))), {name: path for name, path in defined}


def _words(text: str) -> list[str]:
    return text.replace("(", " ( ").replace(")", " ) ").split()


def _read(words: Iterator[str]) -> Iterator[Any]:
    for word in words:
        if word == ")":
            return
        yield list(_read(words)) if word == "(" else word


def _allowed(rules: list[Any], parameters: dict[str, str], operation: str, what: str) -> bool:
    """As macOS decides: the last rule that matches."""
    answer = False
    for kind, *rest in rules:
        if kind not in ("allow", "deny"):
            continue
        names = [one for one in rest if isinstance(one, str)]
        filters = [one for one in rest if not isinstance(one, str)]
        if not any(
            name in (operation, "default") or (name[-1] == "*" and operation.startswith(name[:-1]))
            for name in names
        ):
            continue
        if not filters or any(_matches(one, parameters, what) for one in filters):
            answer = kind == "allow"
    return answer


def _matches(one: Any, parameters: dict[str, str], what: str) -> bool:
    name, *rest = one
    if name == "require-all":
        return all(_matches(part, parameters, what) for part in rest)
    if name == "require-not":
        return not _matches(rest[0], parameters, what)
    if name in ("local", "remote"):
        assert rest[0] == "unix-socket"
        return _matches(rest[1], parameters, what)
    values = [
        parameters[part[1].strip('"')] if isinstance(part, list) else part.strip('"')
        for part in rest
    ]
    if name == "subpath":
        return what == values[0] or what.startswith(values[0].rstrip("/") + "/")
    if name.endswith("-prefix"):
        return what.startswith(values[0]) and name != "xpc-service-name-prefix"
    assert name in (
        "literal", "target", "sysctl-name", "global-name", "socket-domain", "fcntl-command",
    ), name  # fmt: skip
    return what in values
