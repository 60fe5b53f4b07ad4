"""Packages with entry points, as they are on the path of a server where somebody installed them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, points: str
) -> Iterator[Path]:
    """The module ``name`` with ``code``, and ``points`` as in ``entry_points.txt``; the folder
    it is in."""
    place = folder / "site-packages"
    info = place / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (place / f"{name}.py").write_text(code)
    (info / "entry_points.txt").write_text(points)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(place))
    yield place
    sys.modules.pop(name, None)
