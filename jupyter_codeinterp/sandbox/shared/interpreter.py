"""The folders that a Python interpreter needs."""

from __future__ import annotations

import json
import os
import subprocess
from functools import lru_cache
from pathlib import Path

TIMEOUT = 20.0
_ASK = (
    "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.exec_prefix,"
    " sys.base_exec_prefix, *filter(None, sys.path)]))"
)


class InterpreterError(Exception):
    """The interpreter does not start, or is no Python."""


@lru_cache(maxsize=32)
def folders(python: str) -> tuple[Path, ...]:
    """The existing folders of its prefixes and import path. Runs the interpreter (80 ms) the first
    time. Raises InterpreterError."""
    try:
        ran = subprocess.run(
            [python, "-c", _ASK],
            cwd="/",
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
        named = json.loads(ran.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise InterpreterError(f"{python} does not name its folders: {error}") from None
    paths = (Path(os.path.realpath(one)) for one in named)
    found = dict.fromkeys(path for path in paths if path.is_dir() and path != Path("/"))
    return tuple(found)


def links(python: str) -> list[tuple[Path, str]]:
    """The symbolic links from this path to the program, each with its target."""
    found: list[tuple[Path, str]] = []
    path = Path(python)
    while path.is_symlink() and len(found) < 20:
        target = str(path.readlink())
        found.append((path, target))
        path = Path(os.path.normpath(path.parent / target))
    return found
