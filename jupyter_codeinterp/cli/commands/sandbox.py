"""``jupyter codeinterp sandbox``: install a sandboxed kernel, or say whether one can run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_client.kernelspec import NoSuchKernel

from ...sandbox import doctor
from ...sandbox.install import install
from ...sandbox.walls import BUBBLEWRAP
from ..local.problems import DONE, FAILED, USAGE, Problem

if TYPE_CHECKING:
    import argparse

    from ..terminal.stopping import Stopping


def sandbox(options: argparse.Namespace, stopping: Stopping) -> int:
    if options.what == "doctor":
        missing = doctor.problem()
        if not missing:
            print(f"A sandboxed kernel can run here.\n{doctor.totals()}")
            return DONE
        print("\n".join(filter(None, (missing, doctor.without_bubblewrap()))))
        return FAILED
    missing = doctor.problem_of(options.wall)
    if missing:
        raise Problem(missing)
    try:
        folder, title = install(options.kernel, options.name, user=options.user, wall=options.wall)
    except NoSuchKernel as error:
        raise Problem(f"There is no kernel {error.name!r} here.", USAGE) from None
    except ValueError as error:
        raise Problem(str(error), USAGE) from None
    print(f"Installed {title} in {folder}.")
    if options.wall != BUBBLEWRAP:
        print(doctor.without_bubblewrap())
    return DONE
