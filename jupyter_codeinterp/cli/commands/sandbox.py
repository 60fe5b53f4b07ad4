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

from ...app import config as config_files
from ...sandbox import doctor
from ...sandbox.install import NAME, OVERLAY_NAME, install
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
        print(missing or _abilities())
        return FAILED if missing else DONE
    if missing:
        raise Problem(missing)
    name = options.name or (OVERLAY_NAME if options.overlay else NAME)
    try:
        folder, title = install(options.kernel, name, user=options.user, overlay=options.overlay)
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


def _abilities() -> str:
    from .sandboxes import overlays  # only on Linux

    overlay = doctor.overlays(overlays.root(config_files.load()))
    found = ("A sandboxed kernel can run here.", doctor.totals(), doctor.written(), overlay)
    return "\n".join(found)
