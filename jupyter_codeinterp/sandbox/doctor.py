"""Whether this machine can run a sandboxed kernel, and how to repair it if not."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .shared import bpf, groups
from .walls import enclosed, landlock, seatbelt
from .walls.names import AUTO, LANDLOCK, SANDBOX_EXEC

OLDEST = (0, 8)
"""The first bubblewrap with ``--disable-userns``."""
_TRY = (
    "--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-net", "--unshare-ipc",
    "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent", "--new-session", "--ro-bind", "/",
    "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", "exit 0",
)  # fmt: skip


def problem() -> str:
    """What bubblewrap lacks and how to repair it; "" if a sandbox starts here. Tries one."""
    if _wrong_machine():
        return _wrong_machine()
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap is not installed. On Debian and Ubuntu: sudo apt install bubblewrap"
    said = _run(program, "--version")[1]
    version = tuple(map(int, re.findall(r"\d+", said)[:2]))
    if version < OLDEST:
        return f"{said} is too old. The sandbox needs bubblewrap 0.8 or newer."
    code, said = _run(program, *_TRY)
    if code == 0:
        return ""
    return (
        f"bubblewrap cannot start a sandbox here: {said}\n"
        "On Ubuntu 23.10 or newer, add an AppArmor profile that allows user namespaces for "
        f"{program}. In a container, allow its seccomp profile to make user namespaces."
    )


def problem_of(wall: str) -> str:
    """The same of one of ``walls.WALLS``."""
    if wall == LANDLOCK:
        return landlock_problem()
    if wall == SANDBOX_EXEC:
        return _sandbox_exec_problem()
    missing = problem()
    if wall == AUTO and not landlock_problem():
        return ""
    return missing


def overlay_problem(wall: str) -> str:
    """Why a kernel with one of ``walls.WALLS`` can have no overlay here; "" where its wall allows
    one. ``overlays`` tries the file system."""
    why = without(wall)
    return f"An overlay needs bubblewrap. {why}" if why else ""


def without(wall: str) -> str:
    """Why a kernel with one of ``walls.WALLS`` does not run in bubblewrap here; "" if it does."""
    others = {LANDLOCK: "Landlock", SANDBOX_EXEC: "sandbox-exec"}
    return f"The wall of this kernel is {others[wall]}." if wall in others else problem()


def landlock_problem() -> str:
    """Why Landlock cannot hold a kernel here; "" if it can."""
    if _wrong_machine():
        return _wrong_machine()
    found = landlock.version()
    if found == 0:
        return "This Linux kernel has no Landlock, or has it switched off."
    if found < landlock.OLDEST:
        return (
            f"Landlock of this Linux kernel is version {found}. The sandbox needs version "
            f"{landlock.OLDEST}, of Linux 6.12, which also holds signals back."
        )
    return ""


def _sandbox_exec_problem() -> str:
    if sys.platform != "darwin":
        return f"sandbox-exec is a program of macOS; this is {platform.system()}."
    return "" if Path(seatbelt.PROGRAM).is_file() else f"There is no program {seatbelt.PROGRAM}."


def without_bubblewrap() -> str:
    """What holds a kernel here without it; "" where nothing ever does."""
    if not _sandbox_exec_problem():
        gaps = "\n".join(f"- {one}" for one in seatbelt.GAPS)
        return (
            "sandbox-exec of macOS may hold a kernel here (--wall sandbox-exec). It is untested, "
            f"and holds less:\n{gaps}"
        )
    if _wrong_machine():
        return ""
    missing = landlock_problem()
    if missing:
        return f"Without bubblewrap, no kernel can run in a sandbox here. {missing}"
    gaps = "\n".join(f"- {one}" for one in enclosed.GAPS)
    return f"Landlock can hold a kernel here (--wall landlock), and holds less:\n{gaps}"


def _wrong_machine() -> str:
    if sys.platform != "linux":
        return f"The sandbox needs Linux; this is {platform.system()}."
    if platform.machine() not in bpf.ARCHITECTURES:
        known = " and ".join(bpf.ARCHITECTURES)
        return f"The sandbox knows {known}, not {platform.machine()}."
    return ""


def totals() -> str:
    """Whether limits hold for all processes of a sandbox together. Tries it."""
    if groups.work():
        return "The limits of memory and processes hold for a whole sandbox, by control groups."
    return (
        "The limits of memory and processes hold for each process, not for a whole sandbox: this "
        "user cannot make control groups. As root, the number of processes has no limit then."
    )


def written() -> str:
    """Whether the limit of what a sandbox writes holds for a folder that it writes to itself."""
    from .walls import disk  # Linux alone has what it needs.

    if disk.counts():
        return "The limit of bytes written holds for a whole sandbox, looked at from outside."
    return (
        "This Linux does not count what a program writes (CONFIG_TASK_IO_ACCOUNTING). The limit of "
        "bytes written holds for an overlay alone."
    )


def overlays(root: Path) -> str:
    """Whether an overlay can be mounted whose layers are in this folder. Tries it."""
    from .overlay import layer  # Linux alone has what it needs.

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
