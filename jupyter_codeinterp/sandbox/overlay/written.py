"""The files that one running kernel wrote: lists, keeps and discards them."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from ..shared import trees
from .changes import FileChange, changes, written
from .keeping import ANOTHER, KeptFiles, keep
from .layer import MOUNTING, Layer, LayerError

log = logging.getLogger(__name__)


class Written:
    """Its methods read files: call them in a thread. ``process`` returns bubblewrap's pid, or
    None."""

    def __init__(self, layer: Layer, process: Callable[[], int | None]) -> None:
        self.layer = layer
        self._process = process
        self._turns: dict[str, dict[str, str]] = {}
        """The stamps of the waiting files when a running turn began, by path."""
        self._discarded: dict[str, str] = {}
        """The stamps of discarded files, by path. The kernel sees them until it ends."""
        self._alone = threading.Lock()

    def start(self) -> None:
        """Prepare each start of the kernel. Raises LayerError and OSError."""
        with self._alone:
            self._remove_discarded()
            self.layer.begin()

    def changes(self) -> list[FileChange]:
        """All changes. Raises TooMany, and OSError if the notebook's folder is gone."""
        with self._alone:
            return self._changes()

    def keep(self, stamps: Mapping[str, str]) -> KeptFiles:
        """As ``keeping.keep``."""
        with self._alone:
            return keep(self.layer, stamps)

    def discard(self, stamps: Mapping[str, str]) -> KeptFiles:
        """Discard the changes of these paths, each in the state of its stamp: they no longer wait,
        and go when the kernel ends or restarts. Raises as ``changes``."""
        with self._alone:
            found = {one.path: one.stamp for one in self._changes()}
            done = {path: stamp for path, stamp in stamps.items() if found.get(path) == stamp}
            self._discarded |= done
            left = tuple((path, ANOTHER) for path in stamps if path not in done)
            return KeptFiles(tuple(done), left)

    def head(self, path: str, most: int) -> bytes:
        """The first bytes of a file. Raises OSError."""
        with trees.opened(str(self.layer.upper)) as upper, trees.file(upper, path) as (file, _):
            return trees.head(file, most)

    def begin_turn(self, turn: str, seconds: float) -> None:
        """Note which files wait, and let the kernel see changes in the folder, if that takes at
        most ``seconds``. Raises as ``changes``."""
        until = time.monotonic() + seconds
        with self._alone:
            if time.monotonic() > until:
                return
            self._refresh(until)
            found = {one.path: one.stamp for one in self._changes()}
            if time.monotonic() <= until:
                self._turns[turn] = found

    def end_turn(self, turn: str) -> list[str]:
        """The waiting files that the turn changed. Raises as ``changes``."""
        with self._alone:
            before = self._turns.pop(turn, None)
            if before is None:
                return []
            found = self._changes()
            # A folder's own state changes with the files in it.
            same = {one.path for one in found if one.folder and one.path in before}
            return [
                one.path
                for one in found
                if one.path not in same and before.get(one.path) != one.stamp
            ]

    def _changes(self) -> list[FileChange]:
        return [one for one in changes(self.layer) if self._discarded.get(one.path) != one.stamp]

    def _refresh(self, until: float) -> None:
        """Let the running kernel see new and replaced files of the folder."""
        process = self._process()
        if process is None:
            return
        command = [*MOUNTING, "refresh", str(process), str(self.layer.merged)]

        def refresh() -> None:
            left = max(0.1, until - time.monotonic())
            subprocess.run(command, env={}, capture_output=True, timeout=left, check=True)

        try:
            self.layer.begin(refresh)
        except (OSError, subprocess.SubprocessError, LayerError) as error:
            log.warning("A sandboxed kernel may not see new files of its folder: %s", error)

    def _remove_discarded(self) -> None:
        """Call it while no kernel uses the layer."""
        try:
            self._discarded = remove(self.layer, self._discarded) if self._discarded else {}
        except (OSError, trees.TooMany) as error:
            log.warning("Discarded files are still in %s: %s", self.layer.path, error)

    def leave(self) -> None:
        """The kernel has ended: remove discarded files, and the layer if nothing waits in it."""
        with self._alone:
            self._remove_discarded()
            try:
                if not self._changes():
                    self.layer.remove()
            except (OSError, trees.TooMany) as error:
                log.warning("Files of a sandboxed kernel wait in %s: %s", self.layer.path, error)
            self.layer.unlock()


def remove(layer: Layer, stamps: Mapping[str, str]) -> dict[str, str]:
    """Remove these paths from the layer if they still have the states of their stamps. Return the
    stamps of those that could not be removed, such as files of a folder that was deleted and made
    again. No kernel may use the layer: Linux forbids changing that of a mounted overlay. Raises
    TooMany and OSError."""
    with trees.opened(str(layer.upper)) as upper, trees.opened(str(layer.folder)) as lower:
        found = written(upper, lower)
        same = [path for path in stamps if path in found and found[path].stamp == stamps[path]]
        # A folder's files before the folder.
        for path in sorted(same, reverse=True):
            with suppress(OSError), trees.parent(upper, path) as (folder, name):
                one = trees.status_in(folder, name)
                if one is not None and stat.S_ISDIR(one.st_mode):
                    os.rmdir(name, dir_fd=folder)
                elif one is not None:
                    os.unlink(name, dir_fd=folder)
        found = written(upper, lower)
        return {path: stamps[path] for path in same if path in found}
