"""Keep the digests of the pictures in docs/images and of the specs that made them.

``scripts/pictures`` writes them after it has made every picture. A test fails when a spec or a
picture has changed since: the pictures must be made again.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "images" / "made-from.sha256"


def digests() -> str:
    """One line a file, as ``sha256sum`` writes and checks them."""
    specs = (ROOT / "ui-tests" / "pictures").iterdir()
    files = [*(path for path in specs if path.is_file()), *KEPT.parent.glob("*.png")]
    lines = {
        path.relative_to(ROOT).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files
    }
    return "".join(f"{lines[name]}  {name}\n" for name in sorted(lines))


if __name__ == "__main__":
    KEPT.write_text(digests(), encoding="utf-8")
