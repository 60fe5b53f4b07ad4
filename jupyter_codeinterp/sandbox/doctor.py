"""Whether this machine can run a sandboxed kernel, and how to repair it if not."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .shared import bpf, groups

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


def totals() -> str:
    """Whether limits hold for all processes of a sandbox together, as a sentence. Tries it."""
    if groups.work():
        return "The limits of memory and processes hold for a whole sandbox, by control groups."
    return (
        "The limits of memory and processes hold for each process, not for a whole sandbox: this "
        "user cannot make control groups. As root, the number of processes has no limit then."
    )


def written() -> str:
    """Whether the limit of bytes written also holds without an overlay, as a sentence."""
    from .walls import disk  # imports modules that only Linux has

    if disk.counts():
        return "The limit of bytes written holds for a whole sandbox, measured from outside."
    return (
        "This Linux does not count what a program writes (CONFIG_TASK_IO_ACCOUNTING). "
        "The limit of bytes written holds only for an overlay."
    )


def overlays(root: Path) -> str:
    """Whether overlays with layers in this folder can be mounted, as a sentence. Tries it."""
    from .overlay import layer  # imports modules that only Linux has

    missing = layer.problem(root)
    if not missing:
        return f"A sandboxed kernel can have an overlay here. Its files wait in {root}."
    return (
        f"A sandboxed kernel can have no overlay here: {missing}\n"
        "Linux 5.11 or newer is needed, and a local file system such as ext4, XFS or Btrfs for "
        f"{root}. To use another folder, set SandboxProvisioner.overlay_folder."
    )


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
