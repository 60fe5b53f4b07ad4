"""Whether this machine can run a sandboxed kernel, and how to repair it if not."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys

from .shared import bpf

OLDEST = (0, 8)
"""The first bubblewrap with ``--disable-userns``."""
_TRY = (
    "--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-net", "--unshare-ipc",
    "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--ro-bind", "/",
    "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", "exit 0",
)  # fmt: skip
_INSTEAD = (
    "Where that is not possible, run kernels in containers through a kernel gateway "
    "(c.GatewayClient.url)."
)


def problem() -> str:
    """Why no sandbox starts here and what to do; "" if one starts. Tries it."""
    if _wrong_machine():
        return f"{_wrong_machine()}\n{_INSTEAD}"
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed. On Debian and Ubuntu: sudo apt install bubblewrap"
    output = _run(program, "--version")[1]
    version = tuple(map(int, re.findall(r"\d+", output)[:2]))
    if version < OLDEST:
        return f"{output} is too old. The sandbox needs bubblewrap 0.8 or newer."
    code, output = _run(program, *_TRY)
    if code == 0:
        return ""
    return (
        f"bubblewrap cannot start a sandbox here: {output}\n"
        "Linux must allow user namespaces. On Ubuntu 23.10 or newer, add an AppArmor profile that "
        f"allows them for {program}. In a container, use a seccomp profile that allows them.\n"
        f"{_INSTEAD}"
    )


def _wrong_machine() -> str:
    if sys.platform != "linux":
        return f"The sandbox needs Linux; this is {platform.system()}."
    if platform.machine() not in bpf.ARCHITECTURES:
        known = " and ".join(bpf.ARCHITECTURES)
        return f"The sandbox knows {known}, not {platform.machine()}."
    return ""


def _run(*command: str) -> tuple[int, str]:
    try:
        ran = subprocess.run(
            command,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, str(error)
    return ran.returncode, ran.stdout.strip()
