"""``jupyter codeinterp sandbox``: install a sandboxed kernel, say whether one can run here, or keep
the files that one has written.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from jupyter_client.kernelspec import NoSuchKernel

from ...sandbox import doctor
from ...sandbox.install import NAME, OVERLAY_NAME, install
from ...sandbox.walls.names import BUBBLEWRAP
from ...server.workbench import config as config_files
from ..local.problems import DONE, FAILED, USAGE, Problem

if TYPE_CHECKING:
    import argparse

    from ..terminal.stopping import Stopping


def sandbox(options: argparse.Namespace, stopping: Stopping) -> int:
    if options.what == "changes":
        if sys.platform != "linux":
            raise Problem(doctor.problem())
        from .sandboxes import overlays  # Linux alone has what it needs.

        return asyncio.run(overlays.changes(options))
    if options.what == "doctor":
        missing = doctor.problem()
        if not missing:
            print(_abilities())
            return DONE
        print("\n".join(filter(None, (missing, doctor.without_bubblewrap()))))
        return FAILED
    missing = doctor.problem_of(options.wall)
    if missing:
        raise Problem(missing)
    if options.overlay and (missing := doctor.overlay_problem(options.wall)):
        raise Problem(f"{missing} Leave out --overlay, or --wall.", USAGE)
    name = options.name or (OVERLAY_NAME if options.overlay else NAME)
    try:
        folder, title = install(
            options.kernel, name, user=options.user, wall=options.wall, overlay=options.overlay
        )
    except NoSuchKernel as error:
        words = f"There is no kernel {error.name!r} here. See: jupyter kernelspec list"
        raise Problem(words, USAGE) from None
    except ValueError as error:
        raise Problem(str(error), USAGE) from None
    print(f"Installed {title} in {folder}.")
    if options.wall != BUBBLEWRAP:
        print(doctor.without_bubblewrap())
    return DONE


def _abilities() -> str:
    from .sandboxes import overlays  # Linux alone has what it needs.

    overlay = doctor.overlays(overlays.root(config_files.load()))
    found = ("A sandboxed kernel can run here.", doctor.totals(), doctor.written(), overlay)
    return "\n".join(found)
