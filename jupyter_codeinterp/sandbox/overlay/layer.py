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
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from jupyter_core.paths import jupyter_data_dir

from ...base.sentences import Sentence
from ..shared import trees

ABOUT = "about.json"
SINCE = "since.jsonl"
"""The file with changes of the base since ``ABOUT`` was written."""
ENTRIES = 200_000
UNFINISHED = 3600.0
"""Seconds after which an unfinished start counts as failed."""
_NAME = re.compile(r"[0-9a-f]{8}\Z")
_MOUNTING = str(Path(__file__).with_name("mounting.py"))

Brief = tuple[int, int, int]
"""The file type, size, and time of the last change (ns)."""
Base = dict[str, Brief]
"""States by path, when the kernel started."""


class LayerError(Exception):
    """An overlay cannot be used. The message says what to do."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(str(sentence))
        self.sentence = sentence


def place(named: str = "") -> Path:
    """The folder of all layers; ``named`` is the trait."""
    return Path(named).expanduser() if named else Path(jupyter_data_dir(), "codeinterp-overlays")


class Layer:
    """One folder of ``place``. Make it with ``new`` or ``layers``."""

    def __init__(self, path: Path, folder: Path, started: float, base: Base) -> None:
        self.path = path
        self.folder = folder
        """The notebook's folder, below the layer."""
        self.started = started
        self.base = base
        self.entries = ENTRIES
        """Maximum number of files and folders in the notebook's folder."""
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
        return [sys.executable, "-I", "-S", _MOUNTING, *map(str, places)]

    def begin(self, refresh: Callable[[], None] = lambda: None) -> set[str]:
        """Note the folder's state before each start of the kernel and each turn, except for files
        that the layer covers. ``refresh`` shows that state to a running kernel. A file that
        changes meanwhile counts as changed. Returns the covered files that changed, whose old
        state stays. Raises LayerError."""
        try:
            with trees.opened(str(self.folder)) as lower:
                now = {path: _brief(one) for path, one in trees.walk(lower, self.entries).items()}
            refresh()
            with trees.opened(str(self.upper)) as upper:
                covered = _covered(upper, now, self.entries)
        except trees.TooMany:
            raise LayerError(
                Sentence(
                    "{folder} has more than {count:,} files, too many for an overlay. "
                    "Move the notebook to a smaller folder, or raise SandboxProvisioner.entries.",
                    folder=self.folder,
                    count=self.entries,
                )
            ) from None
        changed = {path for path in covered if now.get(path) != self.base.get(path)}
        for path in covered:
            now.pop(path, None)
            if path in self.base:
                now[path] = self.base[path]
        if now != self.base or not (self.path / ABOUT).exists():
            self.base = now
            self._write()
        return changed

    def go_on(self, changed: Iterable[str], refresh: Callable[[], None]) -> set[str]:
        """As ``begin``, if only ``changed`` have changed since. Returns the covered paths, whose
        old state stays. Raises OSError."""
        with trees.opened(str(self.folder)) as lower:
            now = {path: trees.status(lower, path) for path in changed}
        refresh()
        with trees.opened(str(self.upper)) as upper:
            covered = {path for path in now if _is_covered(upper, path)}
        self.settled({path: one for path, one in now.items() if path not in covered})
        return covered

    def settled(self, paths: Mapping[str, os.stat_result | None]) -> None:
        """Note new states of files, for example of kept ones."""
        briefs = {path: one and _brief(one) for path, one in paths.items()}
        new = {path: one for path, one in briefs.items() if self.base.get(path) != one}
        if new:
            with (self.path / SINCE).open("ab+") as file:
                _cut(file)
                file.write(f"{json.dumps(new)}\n".encode())
            _apply(self.base, new)

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
        about = {"folder": str(self.folder), "started": self.started, "base": self.base}
        written = self.path / "about.new"
        written.write_text(json.dumps(about), encoding="utf-8")
        written.replace(self.path / ABOUT)
        (self.path / SINCE).unlink(missing_ok=True)


def new(root: Path, folder: Path) -> Layer:
    """A new, locked layer for a notebook in ``folder``. Raises LayerError."""
    root = Path(os.path.realpath(root))
    _sweep(root)
    if folder == root or folder in root.parents or root in folder.parents:
        words = "{folder} and the folder of overlays, {root}, must not contain each other."
        raise LayerError(Sentence(words, folder=folder, root=root))
    path = root / secrets.token_hex(4)
    try:
        for one in (path, *(path / name for name in ("upper", "work", "merged"))):
            one.mkdir(mode=0o700, parents=True)
        (path / "upper").chmod(stat.S_IMODE(folder.stat().st_mode) & 0o777)
    except OSError as error:
        words = Sentence("No overlay can be made in {root}: {why}", root=root, why=error.strerror)
        raise LayerError(words) from None
    layer = Layer(path, folder, time.time(), {})
    layer.lock()
    return layer


def layers(root: Path) -> Iterator[Layer]:
    """All layers in this folder, oldest first."""
    found = []
    for path in root.glob(f"*/{ABOUT}") if root.is_dir() else ():
        if not _NAME.match(path.parent.name):
            continue
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            base = {name: (one[0], one[1], one[2]) for name, one in about["base"].items()}
            for states in _since(path.with_name(SINCE)):
                _apply(base, states)
            layer = Layer(path.parent, Path(about["folder"]), float(about["started"]), base)
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            continue  # Removed meanwhile, or not finished.
        found.append(layer)
    yield from sorted(found, key=lambda one: one.started)


def _since(path: Path) -> Iterator[dict[str, Brief | None]]:
    """The whole lines of ``SINCE``. A full disk or a killed server may have cut one off: its files
    then count as changed, and are never overwritten."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
    except FileNotFoundError:
        return
    for line in lines:
        with suppress(ValueError):
            yield json.loads(line)


def _cut(file: BinaryIO) -> None:
    """Truncate the file after its last whole line."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - 1))
    if file.read() not in (b"", b"\n"):
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def _apply(base: Base, states: Mapping[str, Brief | None]) -> None:
    """Change the base. None: the path is gone."""
    for path, one in states.items():
        if one is None:
            base.pop(path, None)
        else:
            base[path] = (one[0], one[1], one[2])


def _sweep(root: Path) -> None:
    """Remove layers of killed servers, unless files wait there that a person can keep."""
    temporary = Path(os.path.realpath(tempfile.gettempdir()))
    for one in layers(root):
        is_gone = temporary in one.folder.parents and not one.folder.exists()
        if (is_gone or _is_empty(one.upper)) and one.lock():
            # Its kernel may have written before it ended.
            if is_gone or _is_empty(one.upper):
                with suppress(OSError):
                    one.remove()
            one.unlock()
    for path in root.iterdir() if root.is_dir() else ():
        if _NAME.match(path.name) and _is_unfinished(path):
            with suppress(OSError):
                _remove(path)


def _is_empty(folder: Path) -> bool:
    try:
        return not list(folder.iterdir())
    except OSError:
        return False


def _is_unfinished(path: Path) -> bool:
    """Whether a start failed before it wrote ``ABOUT``. A recent one may still go on."""
    try:
        return not (path / ABOUT).exists() and path.stat().st_mtime < time.time() - UNFINISHED
    except OSError:
        return False


def problem(root: Path) -> str:
    """Why no overlay with layers in this folder can be mounted; "" if one can. Tries it."""
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="try-", dir=root))
        try:
            places = [made / name for name in ("lower", "upper", "work", "merged")]
            for one in places:
                one.mkdir()
            command = [sys.executable, "-I", "-S", _MOUNTING, *map(str, places), "/bin/true"]
            ran = subprocess.run(command, env={}, capture_output=True, text=True, timeout=10)
        finally:
            _remove(made)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if ran.returncode == 0 else ran.stderr.strip() or "it did not start"


def _covered(upper: int, below: Iterable[str], entries: int) -> set[str]:
    """The paths of the layer, and the paths of ``below`` (folders first) that it hides."""
    found = trees.walk(upper, entries)
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


def _is_covered(upper: int, path: str) -> bool:
    """As ``_covered``, for one path."""
    above = ""
    for name in trees.parts(path):
        above = f"{above}/{name}".lstrip("/")
        one = trees.status(upper, above)
        if one is None:
            return False
        if not stat.S_ISDIR(one.st_mode) or trees.is_opaque(upper, above):
            return True
    return True


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
