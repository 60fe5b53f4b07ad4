"""Names of notebooks in the journal: whole paths, so that servers with other root folders, or the
command line, do not take one notebook for another."""

from __future__ import annotations

import re

_WHOLE = re.compile(r"/|[A-Za-z]:/")


class Root:
    """A server's root folder, which its paths are relative to.

    Rows of early versions have a path without a root. Every root has these, until their next
    change adds the whole path. ``folder`` is None where files are not on this machine's disk:
    then paths are stored as they are.
    """

    def __init__(self, folder: str | None = None) -> None:
        """``folder``: with slashes, absolute, without links."""
        self._folder = None if folder is None else folder.rstrip("/") + "/"

    def whole(self, notebook: str) -> str:
        return notebook if self._folder is None else self._folder + notebook

    def names(self, notebook: str) -> tuple[str, str]:
        """The two ways in which the journal may name it."""
        return self.whole(notebook), notebook

    def relative(self, stored: str) -> str | None:
        """The path of a stored notebook on this server; None if it is in another folder. Without
        a root, all are as they are stored."""
        if self._folder is None or not _WHOLE.match(stored):
            return stored
        return stored[len(self._folder) :] if stored.startswith(self._folder) else None


def moved(stored: str, old: str, new: str) -> str | None:
    """The new name of a notebook that is ``old`` or in that folder; else None."""
    if stored == old or stored.startswith(old.rstrip("/") + "/"):
        return new.rstrip("/") + stored[len(old.rstrip("/")) :]
    return None
