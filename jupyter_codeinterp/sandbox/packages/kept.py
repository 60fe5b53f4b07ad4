"""Layers of packages that a person has kept, by kernelspec: the newest hides the older ones.

A layer never changes, because running kernels have it mounted. It holds regular files and folders
alone.
"""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from jupyter_core.paths import jupyter_data_dir

from ..overlay import trees
from . import names
from .names import Package
from .running import FOLDER, Running

FILES = 50_000
BYTES = 4 * 1024**3
"""Of one layer, at most."""
LAYERS = 20
"""Of one kernelspec, at most."""
NEW, GONE = ".new-", ".gone-"
"""How the names of unfinished folders begin. No name of a kernelspec begins with a dot here."""
UNFINISHED = 3600.0
"""Seconds after which no copy goes on."""
INSIDE = "/run/packages"
"""The folder of the layers, in the sandbox."""
FAULT = "fault.txt"
"""In the folder of a kernelspec whose last kernel did not start with its packages."""
OURS = "below.pth"
"""What ``network/first.py`` puts beside the packages."""


class KeepError(Exception):
    """Packages cannot be kept. The message says what to do."""


class Layer(NamedTuple):
    """``path`` is the folder that Python imports from; ``tag``: like ``python3.11``."""

    path: Path
    tag: str

    def packages(self) -> list[Package]:
        """Raises OSError."""
        with trees.opened(str(self.path)) as folder:
            return names.of(folder)


def place() -> Path:
    """The folder of all that is kept."""
    return Path(jupyter_data_dir(), "codeinterp-packages")


def specs(root: Path) -> list[str]:
    """The kernelspecs for which something is kept."""
    found = [path.name for path in root.iterdir()] if root.is_dir() else []
    return sorted(name for name in found if not name.startswith("."))


def layers(root: Path, spec: str) -> list[Layer]:
    """Of a kernelspec, the newest first."""
    found = []
    for number in _numbers(root, spec):
        with suppress(OSError):
            for path in (root / spec / str(number) / "lib").iterdir():
                found.append(Layer(path / "site-packages", path.name))
    return found


def mounted(root: Path, spec: str, tag: str) -> list[Path]:
    """What a kernel of this kernelspec and this Python gets to read, the newest first."""
    return [one.path for one in layers(root, spec) if one.tag == tag]


def note_start(root: Path, spec: str, fault: str) -> None:
    """Remember why the last kernel of a kernelspec started without its packages; "" if it did not.
    Raises OSError."""
    path = root / _checked(spec) / FAULT
    if fault:
        path.write_text(fault, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def faults(root: Path) -> dict[str, str]:
    """By kernelspec, the last line that a kernel wrote which did not start with its packages.
    Untrusted: show it with ``visible_line``."""
    found = {}
    for spec in specs(root):
        with suppress(OSError):
            found[spec] = (root / spec / FAULT).read_text(encoding="utf-8")
    return found


def left_out(spec: str) -> str:
    """What a start without the packages means."""
    return (
        f"The kernel did not start with the packages kept for {spec}, so it started without them. "
        f"To remove them: jupyter codeinterp sandbox packages forget {spec}"
    )


def keep(root: Path, kernel: Running) -> list[Package]:
    """Copy what the kernel has installed. Returns its names. Raises KeepError and OSError."""
    home = root / _checked(kernel.spec)
    numbers = _numbers(root, kernel.spec)
    if len(numbers) >= LAYERS:
        raise KeepError(
            f"Packages were kept {LAYERS} times for {kernel.spec}. Remove them first: "
            f"jupyter codeinterp sandbox packages forget {kernel.spec}"
        )
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(root, home)
    made = Path(tempfile.mkdtemp(prefix=NEW, dir=home))
    try:
        folder = made / FOLDER.format(tag=_checked(kernel.tag))
        folder.mkdir(parents=True)
        with kernel.opened() as source, trees.opened(str(folder)) as target:
            _copy(source, target)
            found = names.of(target)
        if not found:
            raise KeepError("The kernel has installed no packages.")
        made.rename(home / str(max(numbers, default=0) + 1))
        return found
    finally:
        shutil.rmtree(made, ignore_errors=True)
        with suppress(OSError):
            home.rmdir()  # Only if nothing is kept.


def forget(root: Path, spec: str) -> None:
    """Remove what is kept for a kernelspec: at once for kernels that start. Raises KeepError and
    OSError."""
    gone = root / f"{GONE}{secrets.token_hex(4)}"
    (root / _checked(spec)).rename(gone)
    shutil.rmtree(gone)


def _sweep(root: Path, home: Path) -> None:
    """Remove what a killed ``keep`` or ``forget`` has left. Others may keep packages now."""
    for path in root.glob(f"{GONE}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in home.glob(f"{NEW}*"):
        with suppress(OSError):
            if path.stat().st_mtime < time.time() - UNFINISHED:
                shutil.rmtree(path, ignore_errors=True)


def _numbers(root: Path, spec: str) -> list[int]:
    try:
        found = [path.name for path in (root / _checked(spec)).iterdir()]
    except (OSError, KeepError):
        return []
    return sorted((int(one) for one in found if one.isascii() and one.isdigit()), reverse=True)


def _checked(name: str) -> str:
    """One part of a path."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise KeepError(f"{name!r} is no name of a kernelspec.")
    return name


def _copy(source: int, target: int) -> None:
    """Regular files and folders. Raises KeepError, and OSError."""
    try:
        found = trees.walk(source, FILES)
    except trees.TooMany:
        raise KeepError(f"The packages have more than {FILES:,} files.") from None
    if sum(one.st_size for one in found.values() if stat.S_ISREG(one.st_mode)) > BYTES:
        raise KeepError(f"The packages have more than {BYTES // 1024**3} GiB.")
    for path, one in found.items():
        if path == OURS:
            continue
        with trees.parent(target, path) as (folder, name):
            if stat.S_ISDIR(one.st_mode):
                os.mkdir(name, 0o755, dir_fd=folder)
            elif stat.S_ISREG(one.st_mode):
                _copy_file(source, path, one.st_size, folder, name)


def _copy_file(source: int, path: str, size: int, folder: int, name: str) -> None:
    try:
        with trees.file(source, path) as (number, found):
            mode = 0o755 if found.st_mode & stat.S_IXUSR else 0o644
            with trees.new_file(folder, mode) as (copy, temporary):
                trees.copy(number, copy, size)
                # Python compares it with the time in its compiled files.
                os.utime(copy, ns=(found.st_mtime_ns, found.st_mtime_ns))
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except trees.Changed:
        raise KeepError("The packages change while they are copied. Try again.") from None
