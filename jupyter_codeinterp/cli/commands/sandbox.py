"""``jupyter codeinterp sandbox``: install a sandboxed kernel, or say whether one can run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_client.kernelspec import NoSuchKernel

from ...sandbox import doctor
from ...sandbox.install import install
from ..local.problems import DONE, FAILED, USAGE, Problem

if TYPE_CHECKING:
    import argparse

    from ..terminal.stopping import Stopping


def sandbox(options: argparse.Namespace, stopping: Stopping) -> int:
    missing = doctor.problem()
    if options.what == "doctor":
        print(missing or f"A sandboxed kernel can run here.\n{doctor.totals()}")
        return FAILED if missing else DONE
    if missing:
        raise Problem(missing)
    try:
        folder, title = install(options.kernel, options.name, user=options.user)
    except NoSuchKernel as error:
        raise Problem(f"There is no kernel {error.name!r} here.", USAGE) from None
    except ValueError as error:
        raise Problem(str(error), USAGE) from None
    print(f"Installed {title} in {folder}.")
    return DONE
