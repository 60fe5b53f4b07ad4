"""``jupyter codeinterp sandbox``: install a sandboxed kernel, check whether one can run here,
keep the files that one has written, or confirm files of custom instructions.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_client.kernelspec import NoSuchKernel

from ...sandbox import doctor
from ...sandbox.install import install
from ...sandbox.shared import open_folders, trees
from ..local.problems import DONE, FAILED, USAGE, Problem

if TYPE_CHECKING:
    import argparse

    from ..terminal.stopping import Stopping


def sandbox(options: argparse.Namespace, stopping: Stopping) -> int:
    if options.what == "changes":
        if sys.platform != "linux":
            raise Problem(doctor.problem())
        from .sandboxes import overlays  # only on Linux

        return asyncio.run(overlays.changes(options))
    if options.what == "confirm":
        return _confirm(options.files)
    missing = doctor.problem()
    if options.what == "doctor":
        print(missing or "A sandboxed kernel can run here.")
        return FAILED if missing else DONE
    if missing:
        raise Problem(missing)
    try:
        folder, title = install(options.kernel, user=options.user, overlay=options.overlay)
    except NoSuchKernel as error:
        words = f"There is no kernel {error.name!r} here. See: jupyter kernelspec list"
        raise Problem(words, USAGE) from None
    except ValueError as error:
        raise Problem(str(error), USAGE) from None
    print(f"Installed {title} in {folder}.")
    return DONE


def _confirm(names: list[str]) -> int:
    for name in names:
        path = Path(os.path.realpath(Path(name).parent), Path(name).name)
        if not open_folders.takes_instructions(path):
            raise Problem(f"{name} is not AGENTS.md, and not in a folder .codeinterp.", USAGE)
        try:
            with trees.below(path.parent, path.name) as (file, _):
                open_folders.confirm(path, file.read())
        except OSError as error:
            raise Problem(f"{name}: {error.strerror or 'no file'}.", USAGE) from None
        print(f"Confirmed {name} as it is.")
    return DONE
