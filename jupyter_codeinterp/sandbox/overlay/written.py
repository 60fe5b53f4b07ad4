"""The files that one running kernel wrote: lists, keeps, discards and undoes them."""

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
from .following import Follower
from .keeping import KeptFiles, keep
from .layer import Layer, LayerError
from .states import forget
from .undoing import Offers, PutBack, Turns

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
        self._turns = Turns(layer)
        self._follower = Follower(layer)
        self._alone = threading.Lock()

    def start(self) -> None:
        """Prepare each start of the kernel. Raises LayerError."""
        with self._alone:
            self.layer.begin()

    def changes(self) -> list[FileChange]:
        """All changes, without files that an undo restored to the folder's state. Raises TooMany,
        and OSError if the notebook's folder is gone."""
        with self._alone:
            return self._changes()

    def keep(self, stamps: Mapping[str, str]) -> KeptFiles:
        """As ``keeping.keep``."""
        with self._alone:
            kept = keep(self.layer, stamps)
            self._turns.kept(kept.done)
            return kept

    def discard(self, stamps: Mapping[str, str]) -> PutBack:
        """As ``Turns.discard``. Raises as ``put_back``."""
        return self._with_root(lambda root: self._turns.discard(stamps, root))

    def head(self, path: str, most: int) -> bytes:
        """The first bytes of a file. Raises OSError."""
        with trees.opened(str(self.layer.upper)) as upper, trees.file(upper, path) as (file, _):
            return trees.head(file, most)

    def begin_turn(self, turn: str, seconds: float) -> None:
        """Keep the state of files for ``put_back``, if that takes at most ``seconds``. Let the
        kernel see changes in the folder."""
        until = time.monotonic() + seconds
        with self._in_time(until) as alone:
            if alone:
                self._refresh(until)
                self._turns.begin(turn, until)

    def end_turn(self, turn: str, seconds: float) -> list[str] | None:
        """The paths that the turn changed; None if its initial state is not kept, or if the look
        takes more than ``seconds``."""
        until = time.monotonic() + seconds
        with self._in_time(until) as alone:
            return self._turns.end(turn, until) if alone else None

    def offers(self, turn: str) -> Offers:
        """The possible results of an undo and a redo of the turn. Raises as ``put_back``."""
        with self._alone:
            return self._turns.offers(turn)

    def put_back(self, turn: str) -> PutBack:
        """Undo the turn. Raises LayerError, TooMany, and OSError."""
        return self._with_root(lambda root: self._turns.put_back(turn, root))

    def redo(self, turn: str) -> PutBack:
        """Redo what ``put_back`` undid. Raises as that."""
        return self._with_root(lambda root: self._turns.redo(turn, root))

    def _with_root(self, work: Callable[[int], PutBack]) -> PutBack:
        root = self._root()
        try:
            with self._alone:
                return work(root)
        finally:
            os.close(root)

    def _changes(self) -> list[FileChange]:
        return changes(self.layer, self._turns.is_as_in_the_folder)

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
                forget(self.layer)
                if not self._changes():
                    self.layer.remove()
            except (OSError, trees.TooMany) as error:
                log.warning("Files of a sandboxed kernel wait in %s: %s", self.layer.path, error)
            self.layer.unlock()
