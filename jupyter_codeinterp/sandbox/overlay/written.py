"""The files that one running kernel wrote: lists, keeps and discards them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..shared import trees
from .changes import FileChange, changes
from .discarding import DiscardedFiles, discard
from .following import Follower
from .keeping import KeptFiles, keep
from .layer import Layer, LayerError

_REFRESHING = str(Path(__file__).with_name("refreshing.py"))

log = logging.getLogger(__name__)


class Written:
    """Its methods read files: call them in a thread. ``root`` opens the root folder of the running
    sandbox; it raises OSError if none runs. ``process`` returns bubblewrap's pid, or None."""

    def __init__(
        self, layer: Layer, root: Callable[[], int], process: Callable[[], int | None]
    ) -> None:
        self.layer = layer
        self._root = root
        self._process = process
        self._turns: dict[str, dict[str, str]] = {}
        """The stamps of the waiting files when a running turn began, by path."""
        self._discarded: dict[str, str] = {}
        """The stamps of discarded files in the layer, by path: they do not wait."""
        self._follower = Follower(layer)
        self._alone = threading.Lock()

    def start(self) -> None:
        """Prepare each start of the kernel. Raises LayerError."""
        with self._alone:
            self.layer.begin()

    def changes(self) -> list[FileChange]:
        """All changes. Raises TooMany, and OSError if the notebook's folder is gone."""
        with self._alone:
            return self._changes()

    def keep(self, stamps: Mapping[str, str]) -> KeptFiles:
        """As ``keeping.keep``."""
        with self._alone:
            return keep(self.layer, stamps)

    def discard(self, stamps: Mapping[str, str]) -> DiscardedFiles:
        """As ``discarding.discard``."""
        root = self._root()
        try:
            with self._alone:
                gone = discard(self.layer, stamps, root)
                self._discarded.update(gone.stamps)
                return gone
        finally:
            os.close(root)

    def head(self, path: str, most: int) -> bytes:
        """The first bytes of a file. Raises OSError."""
        with trees.opened(str(self.layer.upper)) as upper, trees.file(upper, path) as (file, _):
            return trees.head(file, most)

    def begin_turn(self, turn: str, seconds: float) -> None:
        """Note which files wait, and let the kernel see changes in the folder, if that takes at
        most ``seconds``. Raises as ``changes``."""
        until = time.monotonic() + seconds
        with self._in_time(until) as alone:
            if alone:
                self._refresh(until)
                found = {one.path: one.stamp for one in self._changes()}
                if time.monotonic() <= until:
                    self._turns[turn] = found

    def end_turn(self, turn: str, seconds: float) -> list[str]:
        """The waiting files that the turn changed; none if a look took more than ``seconds``, and
        could show later changes. Raises as ``changes``."""
        until = time.monotonic() + seconds
        with self._in_time(until) as alone:
            before = self._turns.pop(turn, None)
            found = self._changes() if alone and before is not None else []
            if before is None or time.monotonic() > until:
                return []
            # A folder's own state changes with the files in it.
            same = {one.path for one in found if one.folder and one.path in before}
            return [
                one.path
                for one in found
                if one.path not in same and before.get(one.path) != one.stamp
            ]

    def _changes(self) -> list[FileChange]:
        return [one for one in changes(self.layer) if self._discarded.get(one.path) != one.stamp]

    @contextmanager
    def _in_time(self, until: float) -> Iterator[bool]:
        """Take the lock; yield False if that takes too long."""
        alone = self._alone.acquire(timeout=max(0.0, until - time.monotonic()))
        try:
            yield alone
        finally:
            if alone:
                self._alone.release()

    def _refresh(self, until: float) -> None:
        """Let the running kernel see new and replaced files of the folder."""
        process = self._process()
        if process is None:
            return
        command = [sys.executable, "-I", "-S", _REFRESHING, str(process), str(self.layer.merged)]

        def refresh() -> None:
            left = max(0.1, until - time.monotonic())
            subprocess.run(command, env={}, capture_output=True, timeout=left, check=True)

        try:
            self._follower.look(refresh)
        except (OSError, subprocess.SubprocessError, LayerError) as error:
            log.warning("A sandboxed kernel may not see new files of its folder: %s", error)

    def leave(self) -> None:
        """The kernel has ended: remove the layer if nothing waits in it."""
        with self._alone:
            self._follower.close()
            try:
                if not self._changes():
                    self.layer.remove()
            except (OSError, trees.TooMany) as error:
                log.warning("Files of a sandboxed kernel wait in %s: %s", self.layer.path, error)
            self.layer.unlock()
