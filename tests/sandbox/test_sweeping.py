"""What a killed server leaves behind of overlays, and when the next start removes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_codeinterp.sandbox.overlay import layer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def begun(root: Path, folder: Path) -> layer.Layer:
    made = layer.new(root, folder)
    made.begin()
    return made


def test_an_empty_layer_goes_and_a_full_one_stays(tmp_path: Path, folder: Path) -> None:
    root = tmp_path / "layers"
    running, empty, full = (begun(root, folder) for _ in range(3))
    (full.upper / "new").write_text("1")
    empty.unlock()
    full.unlock()
    last = layer.new(root, folder)
    assert {path.name for path in root.iterdir()} == {running.name, full.name, last.name}
    assert (full.upper / "new").exists()
    assert full.lock()
