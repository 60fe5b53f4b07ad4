"""Marks tests that start a sandbox."""

from __future__ import annotations

import os

import pytest

from jupyter_codeinterp.sandbox import doctor

MISSING = doctor.problem()
MUST_RUN = bool(os.environ.get("CI")) and (os.getuid() == 0 or "GITHUB_ACTIONS" in os.environ)
"""``scripts/test`` or the workflow installs bubblewrap there: a sandbox that does not start is a
fault."""
runs_here = pytest.mark.skipif(bool(MISSING) and not MUST_RUN, reason=MISSING or "runs here")
