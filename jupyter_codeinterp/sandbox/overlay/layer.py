"""A layer on disk: the files that one kernel wrote on top of its notebook's folder.

It is outside of every sandbox. A layer that holds changes stays when its kernel ends, until a
person keeps or discards them.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir

from ..shared import trees
from ..shared.folders import ENTRIES

ABOUT = "about.json"
_NAME = re.compile(r"[0-9a-f]{8}\Z")
MOUNTING = (sys.executable, "-I", "-S", str(Path(__file__).with_name("mounting.py")))
"""The command of that program."""

Brief = tuple[int, int, int]
"""The file type, size, and time of the last change (ns)."""
Base = dict[str, Brief]
"""States by path, when the kernel started."""


class LayerError(Exception):
    """An overlay cannot be used. The message says what to do."""


def place(named: str = "") -> Path:
    """The folder of all layers; ``named`` is the trait."""
    return Path(named).expanduser() if named else Path(jupyter_data_dir(), "codeinterp-overlays")


class Layer:
    """One folder of ``place``. Make it with ``new`` or ``layers``."""

    def __init__(self, path: Path, folder: Path, base: Base) -> None:
        self.path = path
        self.folder = folder
        """The notebook's folder, below the layer."""
        self.base = base
        self._lock = -1

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def upper(self) -> Path:
        return self.path / "upper"

    @property
    def merged(self) -> Path:
        """The mount point of the overlay, which only its own processes see."""
        return self.path / "merged"

    def command(self) -> list[str]:
        """The command that runs before bubblewrap."""
        places = (self.folder, self.upper, self.path / "work", self.merged)
        return [*MOUNTING, "mount", *map(str, places)]

    def begin(self, refresh: Callable[[], None] = lambda: None) -> None:
        """Note the folder's state before each start of the kernel and each turn, except for files
        that the layer covers. ``refresh`` shows that state to a running kernel. A file that
        changes meanwhile counts as changed. Raises LayerError."""
        try:
            with trees.opened(str(self.folder)) as lower:
                now = {path: _brief(one) for path, one in trees.walk(lower, ENTRIES).items()}
            refresh()
            with trees.opened(str(self.upper)) as upper:
                covered = _covered(upper, now)
        except trees.TooMany:
            words = f"{self.folder} has more than {ENTRIES:,} files. Move the notebook."
            raise LayerError(words) from None
        for path in covered:
            now.pop(path, None)
            if path in self.base:
                now[path] = self.base[path]
        if now != self.base:
            self.base = now
            self._write()

    def settled(self, paths: Mapping[str, os.stat_result | None]) -> None:
        """Note the new states of kept files; None: the path is gone."""
        for path, one in paths.items():
            if one is None:
                self.base.pop(path, None)
            else:
                self.base[path] = _brief(one)
        self._write()

    def was(self, path: str, now: os.stat_result | None) -> bool:
        """Whether the file in the folder is as the kernel found it."""
        return self.base.get(path) == (_brief(now) if now is not None else None)

    def lock(self) -> bool:
        """Lock the layer until this server ends. False if another server's kernel has it."""
        if self._lock < 0:
            number = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(number)
                return False
            self._lock = number
        return True

    def unlock(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def remove(self) -> None:
        """Remove the layer with all waiting files. Raises OSError."""
        self.unlock()
        _remove(self.path)

    def _write(self) -> None:
        about = {"folder": str(self.folder), "base": self.base}
        written = self.path / "about.new"
        written.write_text(json.dumps(about), encoding="utf-8")
        written.replace(self.path / ABOUT)


def new(root: Path, folder: Path) -> Layer:
    """A new, locked layer for a notebook in ``folder``. Raises LayerError."""
    root = Path(os.path.realpath(root))
    _sweep(root)
    if folder == root or folder in root.parents or root in folder.parents:
        words = f"{folder} and the folder of overlays, {root}, must not contain each other."
        raise LayerError(words)
    path = root / secrets.token_hex(4)
    try:
        for one in (path, *(path / name for name in ("upper", "work", "merged"))):
            one.mkdir(mode=0o700, parents=True)
        (path / "upper").chmod(stat.S_IMODE(folder.stat().st_mode) & 0o777)
    except OSError as error:
        raise LayerError(f"No overlay can be made in {root}: {error.strerror}") from None
    layer = Layer(path, folder, {})
    layer.lock()
    layer._write()
    return layer


def layers(root: Path) -> Iterator[Layer]:
    """All layers in this folder, by name."""
    for path in sorted(root.glob(f"*/{ABOUT}")):
        if not _NAME.match(path.parent.name):
            continue
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            base = {name: (one[0], one[1], one[2]) for name, one in about["base"].items()}
            yield Layer(path.parent, Path(about["folder"]), base)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            continue  # Removed meanwhile, or not finished.


def _sweep(root: Path) -> None:
    """Remove layers of killed servers, unless files wait there that a person can keep."""
    for one in layers(root):
        if one.lock():
            with suppress(OSError):
                if not list(one.upper.iterdir()):
                    one.remove()
            one.unlock()


def _covered(upper: int, below: Iterable[str]) -> set[str]:
    """The paths of the layer, and the paths of ``below`` (folders first) that it hides."""
    found = trees.walk(upper, ENTRIES)
    hides = {
        path
        for path, one in found.items()
        if not stat.S_ISDIR(one.st_mode) or trees.is_opaque(upper, path)
    }
    covered = set(found)
    for path in below:
        if path.rpartition("/")[0] in hides:
            covered.add(path)
            hides.add(path)
    return covered


def _brief(one: os.stat_result) -> Brief:
    if not stat.S_ISREG(one.st_mode):
        return stat.S_IFMT(one.st_mode), 0, 0
    return stat.S_IFREG, one.st_size, one.st_mtime_ns


def _remove(path: Path) -> None:
    """Remove a folder with programs that follow no link: Linux and sandboxed code leave folders
    that their owner cannot enter, and trees too deep for Python. Raises OSError."""
    for command in (("chmod", "-R", "u+rwX", "--"), ("rm", "-rf", "--")):
        subprocess.run([*command, str(path)], capture_output=True, check=False)
    if path.exists():
        raise OSError(f"{path} cannot be removed")
