"""Undo what a turn did to files: put them back as they waited when the turn began.

Only what the turn changed is put back, and only where nobody changed it since. It is written
through the overlay itself, as the kernel writes: Linux forbids to change a layer under it.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from . import trees
from .changes import MOST, Entry, written
from .layer import Layer, LayerError

TURNS = 10
"""Turns whose beginning is kept."""
BYTES = 200_000_000
"""Of files that waited as turns began, in all."""

SINCE = "It has changed since the turn."
KEPT = "You have copied it into the folder."
OTHER = "It was not a file."
FULL = "The folder still holds other files."

State = dict[str, Entry]


class PutBack(NamedTuple):
    """``left`` are paths that stay as they are, each with the reason."""

    done: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


class _Turn:
    def __init__(self, before: State, links: dict[str, str]) -> None:
        self.before = before
        self.links = links
        """Where the links of ``before`` lead."""
        self.after: State | None = None
        self.kept: set[str] = set()

    def changed(self) -> list[str]:
        after = self.after or {}
        both = sorted({*self.before, *after})
        return [path for path in both if not _same(self.before.get(path), after.get(path))]


class Turns:
    """Keeps copies of the files that waited as turns began, in the layer's folder."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._copies = layer.path / "copies"
        self._turns: dict[str, _Turn] = {}

    def begin(self, turn: str) -> None:
        """Drops the oldest where there are too many. Keeps nothing that it could not restore."""
        self._turns.pop(turn, None)
        with suppress(trees.TooMany, trees.Changed, OSError):
            state, links = self._state()
            self._make_room(state)
            if _size(state, *(one.before for one in self._turns.values())) > BYTES:
                return
            self._copy(state)
            self._turns[turn] = _Turn(state, links)

    def end(self, turn: str) -> list[str]:
        """The paths that the turn has changed."""
        mine = self._turns.get(turn)
        if mine is None:
            return []
        try:
            mine.after, _ = self._state()
        except (trees.TooMany, OSError):
            del self._turns[turn]
            return []
        return mine.changed()

    def kept(self, paths: tuple[str, ...]) -> None:
        """A person has copied these into the folder."""
        for one in self._turns.values():
            one.kept.update(paths)

    def put_back(self, turn: str, root: int) -> PutBack:
        """``root``: the sandbox's open root folder. Raises LayerError if the beginning of the turn
        was not kept, TooMany, and OSError."""
        mine = self._turns.get(turn)
        if mine is None or mine.after is None:
            raise LayerError(
                "The files as they were when the turn began are no longer kept. They are kept "
                f"for the last {TURNS} turns of a running kernel, up to {BYTES // 10**6} MB."
            )
        done: list[str] = []
        left: list[tuple[str, str]] = []
        with self._trees(root) as (merged, upper, lower):
            now = written(upper, lower, MOST)
            able = []
            for path in mine.changed():
                if path in mine.kept:
                    left.append((path, KEPT))
                elif not _same(now.get(path), mine.after.get(path)):
                    left.append((path, SINCE))
                else:
                    able.append(path)
            for path in _in_order(able, mine.before, lower):
                why = self._restore(mine, path, merged, lower)
                if why:
                    left.append((path, why))
                else:
                    done.append(path)
        return PutBack(tuple(done), tuple(left))

    def _restore(self, mine: _Turn, path: str, merged: int, lower: int) -> str:
        """Why it stays as it is; "" if it was put back."""
        entry = mine.before.get(path)
        was = entry.kind if entry is not None else _kind_below(lower, path)
        try:
            with trees.parent(merged, path) as (folder, name):
                if was == "folder":
                    with suppress(FileExistsError):
                        os.mkdir(name, 0o777, dir_fd=folder)
                elif was == "gone":
                    _remove(folder, name)
                elif was == "link":
                    target = mine.links[path] if entry is not None else _target(lower, path)
                    _remove(folder, name)
                    os.symlink(target, name, dir_fd=folder)
                elif was == "file":
                    self._write(entry, path, lower, folder, name)
                else:
                    return OTHER
        except trees.Changed:
            return SINCE
        except OSError as error:
            full = error.errno == 39  # ENOTEMPTY
            return FULL if full else f"It could not be written: {error.strerror}."
        return ""

    def _write(self, entry: Entry | None, path: str, lower: int, folder: int, name: str) -> None:
        with ExitStack() as stack:
            if entry is not None:
                copies = stack.enter_context(trees.opened(str(self._copies)))
                source, found = stack.enter_context(trees.file(copies, _name(entry)))
                mode = entry.mode
            else:
                source, found = stack.enter_context(trees.file(lower, path))
                mode = stat.S_IMODE(found.st_mode)
            target, temporary = stack.enter_context(trees.new_file(folder, mode))
            trees.copy(source, target, found.st_size)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

    def _state(self) -> tuple[State, dict[str, str]]:
        with (
            trees.opened(str(self._layer.upper)) as upper,
            trees.opened(str(self._layer.folder)) as lower,
        ):
            state = written(upper, lower, MOST)
            links = [path for path, one in state.items() if one.kind == "link"]
            return state, {path: _target(upper, path) for path in links}

    def _copy(self, state: State) -> None:
        """Raises Changed and OSError."""
        self._copies.mkdir(mode=0o700, exist_ok=True)
        with (
            trees.opened(str(self._layer.upper)) as upper,
            trees.opened(str(self._copies)) as copies,
        ):
            there = set(trees.names(copies))
            for path, entry in state.items():
                if entry.kind != "file" or _name(entry) in there:
                    continue
                with (
                    trees.file(upper, path) as (source, _),
                    trees.new_file(copies, 0o600) as (
                        target,
                        temporary,
                    ),
                ):
                    trees.copy(source, target, entry.size)
                    if trees.identity(os.fstat(source)) != entry.identity:
                        raise trees.Changed
                    both = {"src_dir_fd": copies, "dst_dir_fd": copies}
                    os.replace(temporary, _name(entry), **both)  # noqa: PTH105

    def _make_room(self, state: State) -> None:
        """Forget the oldest turns, and the copies that no other needs."""
        while self._turns and (
            len(self._turns) >= TURNS
            or _size(state, *(one.before for one in self._turns.values())) > BYTES
        ):
            del self._turns[next(iter(self._turns))]
        if not self._copies.is_dir():
            return
        states = [state, *(one.before for one in self._turns.values())]
        needed = {_name(one) for each in states for one in each.values() if one.kind == "file"}
        for path in self._copies.iterdir():
            if path.name not in needed:
                path.unlink()

    @contextmanager
    def _trees(self, root: int) -> Iterator[tuple[int, int, int]]:
        """The folder as the sandbox has it, the layer, and the folder below. Raises OSError."""
        with ExitStack() as stack:
            upper = stack.enter_context(trees.opened(str(self._layer.upper)))
            lower = stack.enter_context(trees.opened(str(self._layer.folder)))
            inside = "/".join(self._layer.folder.parts[1:])
            folder, name = stack.enter_context(trees.parent(root, inside))
            merged = stack.enter_context(trees.opened(name, folder))
            if os.fstat(merged).st_dev == os.fstat(lower).st_dev:
                raise LayerError("The kernel's sandbox has no overlay.")
            yield merged, upper, lower


def forget(layer: Layer) -> None:
    """Remove all copies: without their kernel nobody can put them back."""
    shutil.rmtree(layer.path / "copies", ignore_errors=True)


def _in_order(paths: list[str], before: Mapping[str, Entry], lower: int) -> list[str]:
    """First what goes, the deepest first; then what comes, folders before what they hold."""

    def order(path: str) -> tuple[bool, int, str]:
        entry = before.get(path)
        goes = (entry.kind if entry is not None else _kind_below(lower, path)) == "gone"
        return not goes, -path.count("/") if goes else path.count("/"), path

    return sorted(paths, key=order)


def _same(one: Entry | None, other: Entry | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.kind == other.kind == "folder":
        return one.mode == other.mode
    return (one.kind, one.identity, one.mode) == (other.kind, other.identity, other.mode)


def _kind_below(lower: int, path: str) -> str:
    found = trees.status(lower, path)
    if found is None:
        return "gone"
    if stat.S_ISREG(found.st_mode):
        return "file"
    if stat.S_ISLNK(found.st_mode):
        return "link"
    return "folder" if stat.S_ISDIR(found.st_mode) else "other"


def _target(root: int, path: str) -> str:
    with trees.parent(root, path) as (folder, name):
        return os.readlink(name, dir_fd=folder)


def _remove(folder: int, name: str) -> None:
    found = trees.status_in(folder, name)
    if found is None:
        return
    if stat.S_ISDIR(found.st_mode):
        os.rmdir(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def _name(entry: Entry) -> str:
    """Of its copy."""
    return "-".join(map(str, entry.identity))


def _size(*states: State) -> int:
    """Bytes of their files, each counted once."""
    files = {one.identity: one.size for each in states for one in each.values()}
    return sum(files.values())
