"""A turn with an overlay looks only at what changed in the folder, and learns the same."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.sandbox.overlay import layer
from jupyter_codeinterp.sandbox.overlay.following import Follower
from jupyter_codeinterp.sandbox.shared import trees

PATHS = ("a", "b", "d", "d/a", "d/e", "d/e/a", "f", "f/a", "\udcff")
path = st.sampled_from(PATHS)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["write", "folder", "remove", "look", "covers", "bares"]), path),
        st.tuples(st.just("move"), path, st.sampled_from([*PATHS, "../away"])),
    ),
    min_size=4,
    max_size=10,
)
LOOK = ("look", "a")


def step(folder: Path, uppers: list[Path], kind: str, *names: str) -> None:
    """As a person changes the folder, or the kernel its layer."""
    at = [folder / name for name in names]
    with suppress(OSError, shutil.Error):
        if kind == "write":
            at[0].write_text(f"{at[0].read_text()}x" if at[0].exists() else "x")
        elif kind == "folder":
            at[0].mkdir()
        elif kind == "remove":
            shutil.rmtree(at[0]) if at[0].is_dir() else at[0].unlink()
        elif kind == "move":
            at[0].rename(at[1])
    for upper in uppers:
        one = upper / names[0]
        with suppress(OSError):
            if kind == "covers":
                one.parent.mkdir(parents=True, exist_ok=True)
                one.write_text("the kernel's")
            elif kind == "bares":
                one.unlink()


@given(STEPS)
@example([("write", "d/a"), LOOK, ("move", "d", "../away")])
@example([("covers", "a"), ("write", "a"), LOOK, ("bares", "a")])
@example([("folder", "b"), ("covers", "a"), ("write", "a"), LOOK, ("bares", "a")])
@example([("folder", "b"), LOOK, ("write", "\udcff")])
@example([("write", "d/e/a"), LOOK, ("move", "d", "f"), LOOK, ("write", "f/e/a")])
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_it_knows_what_a_look_at_the_whole_folder_knows(steps: list[tuple[str, ...]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "folder" / "d" / "e").mkdir(parents=True)
        mine, whole = (layer.new(root / one, root / "folder") for one in ("one", "other"))
        follower = Follower(mine)
        for kind, *names in (LOOK, *steps, LOOK):
            step(root / "folder", [mine.upper, whole.upper], kind, *names)
            if kind == "look":
                follower.look(lambda: None)
                whole.begin()
                assert mine.base == whole.base
                (read,) = layer.layers(root / "one")
                assert read.base == mine.base
        follower.close()


def test_a_turn_looks_at_what_has_changed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / "file").write_text(name)
    made = layer.new(tmp_path / "layers", folder)
    follower, looked = Follower(made), []
    status = trees.status_in

    def counted(at: int, name: str) -> object:
        looked.append(name)
        return status(at, name)

    follower.look(lambda: None)
    monkeypatch.setattr(trees, "status_in", counted)
    follower.look(lambda: None)
    assert looked == []
    (folder / "one" / "file").write_text("other")
    follower.look(lambda: None)
    # In the folder and in the layer.
    assert looked == ["file", "one"]
    assert made.base["one/file"][1] == 5
    # A look that fails is made up for.
    (folder / "two" / "file").write_text("others")
    with pytest.raises(OSError, match="no"):
        follower.look(_fails)
    follower.look(lambda: None)
    assert made.base["two/file"][1] == 6
    follower.close()


def _fails() -> None:
    raise OSError("no")
