"""The size of the front end as it is shipped."""

from __future__ import annotations

from pathlib import Path

import jupyter_codeinterp

from .figures import Bound, Figure

LABEXTENSION = Path(jupyter_codeinterp.__file__).parent / "labextension"


def measure() -> list[Figure]:
    """Raw bytes of all chunks; what stands there is the last build."""
    scripts = sum(path.stat().st_size for path in LABEXTENSION.rglob("*.js"))
    if not scripts:
        raise RuntimeError(f"nothing is built in {LABEXTENSION}")
    maps = len(list(LABEXTENSION.rglob("*.map")))
    return [
        Figure("JavaScript", [scripts / 1000], "kB", (Bound(300),)),
        Figure("source maps", [maps], "", (Bound(0),)),
    ]
