"""The offline demo: a notebook, its data, and the recorded conversation about it."""

from __future__ import annotations

import importlib.resources
from itertools import count
from pathlib import Path

NOTEBOOK = "sales.ipynb"
FILES = (NOTEBOOK, "sales.csv")
FOLDER = "codeinterp-demo"
MODEL = "offline-demo"
"""Id of the model that replays the recording."""


def read(name: str) -> bytes:
    """A file of the demo. Works in a zip archive, too."""
    return importlib.resources.files(__name__).joinpath(name).read_bytes()


def copy_demo(folder: Path) -> Path:
    """Copy notebook and data into a new folder in ``folder``; return the notebook's path.

    The new folder is ``codeinterp-demo``, or ``codeinterp-demo-2`` and so on: an earlier copy may
    contain a person's work.
    """
    target = _new_folder(folder)
    for name in FILES:
        (target / name).write_bytes(read(name))
    return target / NOTEBOOK


def _new_folder(parent: Path) -> Path:
    for number in count(1):
        target = parent / (FOLDER if number == 1 else f"{FOLDER}-{number}")
        try:
            target.mkdir()
        except FileExistsError:
            continue
        return target
    raise AssertionError("unreachable: count() does not end")
