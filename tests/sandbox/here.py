"""Marks tests that start a sandbox."""

from __future__ import annotations

import os
import subprocess

import pytest

from jupyter_codeinterp.sandbox import doctor

MISSING = doctor.problem()
MUST_RUN = bool(os.environ.get("CI")) and (os.getuid() == 0 or "GITHUB_ACTIONS" in os.environ)
"""``scripts/test`` or the workflow installs bubblewrap there: a sandbox that does not start is a
fault."""
runs_here = pytest.mark.skipif(bool(MISSING) and not MUST_RUN, reason=MISSING or "runs here")


def groups_work() -> bool:
    """Whether control groups can limit all processes of a sandbox here. Tries it."""
    from jupyter_codeinterp.sandbox.shared import groups  # only on Linux

    with subprocess.Popen(["/bin/sh", "-c", "read _"], stdin=subprocess.PIPE) as process:
        group = groups.join(process.pid, 1 << 40, 1 << 15)
        process.kill()
    if group is not None:
        group.remove()
    return group is not None
