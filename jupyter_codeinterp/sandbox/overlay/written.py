"""What one running kernel has written: the list, what a person keeps of it, and what is undone."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from . import trees
from .changes import Change, changes
from .keeping import Kept, keep
from .layer import Layer
from .undoing import PutBack, Turns, forget

_REFRESHING = str(Path(__file__).with_name("refreshing.py"))

log = logging.getLogger(__name__)


class Written:
    """Its methods read files: call them in a thread. ``root`` opens the root folder of the running
    sandbox; it raises OSError if none runs. ``process`` is its bubblewrap's number, or None."""

    def __init__(
        self, layer: Layer, root: Callable[[], int], process: Callable[[], int | None]
    ) -> None:
        self.layer = layer
        self._root = root
        self._process = process
        self._turns = Turns(layer)
        self._alone = threading.Lock()

    def changes(self) -> list[Change]:
        """Raises TooMany, and OSError if the notebook's folder is gone."""
        with self._alone:
            return changes(self.layer)

    def keep(self, stamps: Mapping[str, str]) -> Kept:
        """As ``keeping.keep``."""
        with self._alone:
            kept = keep(self.layer, stamps)
            self._turns.kept(kept.done)
            return kept

    def begin_turn(self, turn: str) -> None:
        """Keep the files as they wait now, for ``put_back``. From now on the kernel sees what has
        changed in the folder."""
        self.refresh()
        with self._alone:
            self._turns.begin(turn)

    def refresh(self) -> None:
        """Let the running kernel see files that came to the folder, or were replaced there."""
        process = self._process()
        if process is None:
            return
        command = [sys.executable, "-I", "-S", _REFRESHING, str(process), str(self.layer.merged)]
        try:
            subprocess.run(command, env={}, capture_output=True, timeout=5, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            log.warning("A sandboxed kernel may not see new files of its folder: %s", error)

    def end_turn(self, turn: str) -> list[str]:
        """The paths that the turn has changed; none if its beginning is not kept."""
        with self._alone:
            return self._turns.end(turn)

    def put_back(self, turn: str) -> PutBack:
        """Undo what the turn changed. Raises LayerError, TooMany, and OSError."""
        root = self._root()
        try:
            with self._alone:
                return self._turns.put_back(turn, root)
        finally:
            os.close(root)

    def leave(self) -> None:
        """The kernel has ended: remove the layer if nothing waits in it."""
        try:
            forget(self.layer)
            if not self.changes():
                self.layer.remove()
        except (OSError, trees.TooMany) as error:
            log.warning("Files of a sandboxed kernel wait in %s: %s", self.layer.path, error)
        self.layer.unlock()
