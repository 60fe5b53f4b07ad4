"""The folders that a sandboxed kernel sees: the notebook's to write, others to read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir, jupyter_runtime_dir

from .open_folders import OPEN, takes_instructions

# -------------------------------------------------------------------------------------------------
# Names of files that other programs run or take instructions from.

PROTECTED = (
    ".git", ".gitattributes", ".gitmodules", ".github", ".gitlab-ci.yml", ".hg",
    ".ipynb_checkpoints", ".codeinterp", "AGENTS.md", ".vscode", ".idea", ".env", ".envrc",
    ".jupyter", ".jupyter_ystore.db", "kernel.json", "sitecustomize.py", "usercustomize.py",
    "pyvenv.cfg", "conda-meta",
)  # fmt: skip
"""Read-only in a sandbox if they exist, and never copied out of an overlay."""
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""Names that make their folder a Python environment, which is read-only as a whole: its own Python
runs each ``site-packages/*.pth``, ``site-packages/sitecustomize.py`` and all in ``bin``."""
PARTS = ("bin", "lib", "Scripts", "Lib")
"""Folders of an environment that is the notebook's folder itself, in which code may write."""
_FOLDED = frozenset(name.casefold() for name in PROTECTED)
_SETTINGS = re.compile(r"jupyter_(?:\w+_)?config\.(?:py|json)")
COPY = ".~"
"""Prefix of Jupyter's temporary copies while it saves."""


def is_protected(name: str) -> bool:
    # Also for file systems that ignore case.
    folded = name.casefold()
    return folded in _FOLDED or name.startswith(COPY) or bool(_SETTINGS.fullmatch(folded))


REPOSITORIES = (".git", ".hg")
ENTRIES = 200_000
"""Maximum number of files and folders that are searched for them."""


class FolderError(Exception):
    """A sandbox cannot use the notebook's folder. The message says what to do."""


class Folders(NamedTuple):
    """``hidden``: empty and read-only in the sandbox. ``fixed``: writable, not renamable, because
    they lead to a repository or an environment that could be replaced."""

    notebook: Path
    readable: tuple[Path, ...]
    protected: tuple[Path, ...]
    hidden: tuple[Path, ...]
    fixed: tuple[Path, ...] = ()
    instructions: tuple[Path, ...] = ()
    """Instruction files below the notebook's folder, and folders of them."""


def home() -> Path:
    return Path(os.path.realpath(Path.home()))


def folders_of(cwd: str, environment: Iterable[Path], readable: Iterable[str]) -> Folders:
    """``environment``: the interpreter's folders; those that contain the home folder are left out.
    Raises FolderError."""
    notebook = Path(os.path.realpath(cwd))
    _check(notebook)
    mine = [path for path in environment if not _contains(path, home())]
    more = [Path(os.path.realpath(Path(one).expanduser())) for one in readable]
    for path in more:
        if _contains(path, home()):
            raise FolderError(f"{path} contains the home folder. A sandbox cannot read all of it.")
    seen = [notebook, *mine, *more]
    secret = [*_jupyters(), *(path / "etc" / "jupyter" for path in mine)]
    hidden = (
        path for path in secret if path.is_dir() and any(_contains(one, path) for one in seen)
    )
    seen_to_read = tuple(dict.fromkeys(path for path in (*mine, *more) if path != notebook))
    found = protected(notebook)
    return Folders(
        notebook,
        seen_to_read,
        # Each mount makes the start slower, and packages bring hundreds of AGENTS.md.
        tuple(one for one in found if one.name != OPEN or one.parent == notebook),
        tuple(dict.fromkeys(hidden)),
        tuple(_fixed(notebook, found, [one for one in seen_to_read if _contains(notebook, one)])),
        tuple(filter(takes_instructions, found)),
    )


def protected(notebook: Path) -> list[Path]:
    """All protected files below this folder, without Jupyter's temporary copies. Follows no link.
    Raises FolderError above ``ENTRIES``, because some could be missing."""
    found: list[Path] = []
    waiting, seen = [notebook], 0
    while waiting:
        folder = waiting.pop()
        if is_environment(folder) and folder != notebook:
            found.append(folder)
            continue
        parts = PARTS if is_environment(folder) else ()
        try:
            with os.scandir(folder) as listed:
                for entry in listed:
                    seen += 1
                    is_copy = entry.name.startswith(COPY)
                    fixed = entry.name in parts or (is_protected(entry.name) and not is_copy)
                    if fixed and not entry.is_symlink():
                        found.append(Path(entry.path))
                    elif entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
        except PermissionError:
            # The kernel cannot read it either: it runs as the same user.
            continue
        if seen > ENTRIES:
            raise FolderError(
                f"{notebook} has more than {ENTRIES:,} files, so the sandbox cannot find all "
                "folders that must stay read-only. Move the notebook to a smaller folder."
            )
    return found


def is_environment(folder: Path) -> bool:
    """Whether a Python environment is in this folder."""
    return any(os.path.lexists(folder / name) for name in ENVIRONMENTS)


def _fixed(notebook: Path, found: list[Path], readable: list[Path]) -> dict[Path, None]:
    """The folders between the notebook's and a repository or an environment, without read-only
    ones."""
    led_to = (path for path in found if path.name in REPOSITORIES or is_environment(path))
    between = (one for path in led_to for one in path.parents if notebook in one.parents)
    return dict.fromkeys(
        one for one in between if not any(_contains(path, one) for path in readable)
    )


def _check(notebook: Path) -> None:
    if _contains(notebook, home()):
        raise FolderError(
            f"A sandboxed kernel may write in its notebook's folder, and {notebook} holds your "
            "home folder. Move the notebook to a folder of its own."
        )
    for path in _jupyters():
        if _contains(path, notebook):
            raise FolderError(f"{notebook} is a folder of Jupyter's own. Move the notebook.")
    system = ("/usr", "/etc", "/proc", "/sys", "/dev", "/run", "/var/run")
    if notebook in map(Path, ("/tmp", "/var/tmp")) or any(
        _contains(Path(one), notebook) for one in system
    ):
        raise FolderError(f"{notebook} belongs to the system. Move the notebook to another folder.")


def _jupyters() -> list[Path]:
    """Jupyter's folders of tokens and settings, and of our journal and keys."""
    named = (jupyter_config_dir(), jupyter_data_dir(), jupyter_runtime_dir())
    return [Path(os.path.realpath(one)) for one in named]


def _contains(folder: Path, path: Path) -> bool:
    return path == folder or folder in path.parents
