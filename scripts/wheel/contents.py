"""Check a wheel's contents, and that two wheels contain the same.

    python -m scripts.wheel.contents WHEEL [OTHER]

Prints the wheel's size and number of files. Fails with the list of faults.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from zipfile import ZipFile

MOST_BYTES = 1_000_000
DATA = r"jupyter_codeinterp-[^/]+\.data/data/"
LABEXTENSION = DATA + "share/jupyter/labextensions/jupyter-codeinterp/"
NEEDED = (
    r"jupyter_codeinterp/__init__\.py",
    r"jupyter_codeinterp/_version\.py",
    r"jupyter_codeinterp/py\.typed",
    r"jupyter_codeinterp/demo/growth\.jsonl",
    r"jupyter_codeinterp/demo/sales\.csv",
    r"jupyter_codeinterp/demo/sales\.ipynb",
    r"jupyter_codeinterp/models/http/facts\.json",
    r"jupyter_codeinterp/features/eval/tasks/conversation/task\.json",
    LABEXTENSION + r"install\.json",
    LABEXTENSION + r"package\.json",
    LABEXTENSION + r"schemas/jupyter-codeinterp/core\.json",
    LABEXTENSION + r"schemas/jupyter-codeinterp/panel\.json",
    LABEXTENSION + r"static/remoteEntry\.[0-9a-f]+\.js",
    LABEXTENSION + r"static/style\.js",
    LABEXTENSION + r"static/third-party-licenses\.json",
    DATA + r"etc/jupyter/jupyter_server_config\.d/jupyter_codeinterp\.json",
    r"jupyter_codeinterp-[^/]+\.dist-info/licenses/LICENSE",
)
ALLOWED = (
    r"jupyter_codeinterp/(?!labextension/).*\.py",
    r"jupyter_codeinterp/features/eval/tasks/[\w-]+/[\w-]+\.(json|ipynb|csv|db)",
    LABEXTENSION + r"static/[\w.-]+\.js",
    # JupyterLab's builder adds the settings' translations and package.json.
    LABEXTENSION + r"schemas/jupyter-codeinterp/package\.json\.orig",
    r"jupyter_codeinterp-[^/]+\.dist-info/(METADATA|RECORD|WHEEL|entry_points\.txt)",
)


def faults(names: Iterable[str], size: int) -> list[str]:
    """Name missing files, files that do not belong in the wheel, and a size above the bound."""
    given = sorted(names)
    known = [re.compile(pattern) for pattern in (*NEEDED, *ALLOWED)]
    found = [
        f"missing: {pattern}"
        for pattern in NEEDED
        if not any(re.fullmatch(pattern, name) for name in given)
    ]
    found += [
        f"unexpected: {name}"
        for name in given
        if "/tests/" in name or not any(pattern.fullmatch(name) for pattern in known)
    ]
    if size > MOST_BYTES:
        found.append(f"too large: {size} bytes, at most {MOST_BYTES}")
    return found


def differences(one: Path, other: Path) -> list[str]:
    """Name the files that only one wheel has, or whose content differs."""
    with ZipFile(one) as left, ZipFile(other) as right:
        sums = [{info.filename: info.CRC for info in wheel.infolist()} for wheel in (left, right)]
    names = sums[0].keys() | sums[1].keys()
    return [f"differs: {name}" for name in sorted(names) if sums[0].get(name) != sums[1].get(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("other", type=Path, nargs="?")
    given = parser.parse_args()
    with ZipFile(given.wheel) as wheel:
        names = wheel.namelist()
    size = given.wheel.stat().st_size
    found = faults(names, size)
    if given.other:
        found += differences(given.wheel, given.other)
    print(f"{given.wheel.name}: {size / 1000:.0f} kB, {len(names)} files")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
