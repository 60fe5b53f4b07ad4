"""Ways past an overlay, into the notebook's folder itself."""

from __future__ import annotations

from scripts.escapes.attempt import Attempt, Control

from .folder import FOLDER


def _writes(path: str) -> str:
    return f"os.makedirs(os.path.dirname({path!r}) or '.', exist_ok=True)\nappend({path!r})"


OVERLAY = (
    *FOLDER,
    *(
        Attempt(name, _writes(path), proof=f"notebooks/FOLDER/{path}")
        for name, path in {
            "write a file into it": "made.txt",
            "change a module that others import": "helpers.py",
            "write into a folder of it": "deep/made.txt",
            "add a repository with a hook": "own/.git/hooks/pre-commit",
        }.items()
    ),
    Attempt(
        "write by an open folder",
        "held = os.open('.', os.O_RDONLY)\nappend(f'/proc/self/fd/{held}/by-descriptor')",
        proof="notebooks/FOLDER/by-descriptor",
    ),
    Attempt(
        "write by a link to its path",
        "os.symlink(os.getcwd(), 'here')\nappend('here/by-link')",
        proof="notebooks/FOLDER/by-link",
    ),
    Attempt(
        "write by a folder that the sandbox's first process has open",
        "for one in os.listdir('/proc/1/fd'):\n"
        "    try:\n"
        "        append(f'/proc/1/fd/{one}/by-the-first')\n"
        "    except OSError:\n        pass",
        Control.NONE,
        proof="notebooks/FOLDER/by-the-first",
    ),
    Attempt(
        "write by the root of the sandbox's first process",
        "append(f'/proc/1/root{os.getcwd()}/by-the-root')",
        Control.NONE,
        proof="notebooks/FOLDER/by-the-root",
    ),
)
