"""What gets out of a layer into the notebook's folder: hostile trees, made without a kernel.

The layers here are folders as overlayfs leaves them; what it cannot make, a hostile test makes.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.sandbox.overlay import keeping, layer
from jupyter_codeinterp.sandbox.overlay.changes import (
    CONFLICT,
    LINK,
    OTHER,
    REPLACES,
    FileChange,
    changes,
)
from jupyter_codeinterp.sandbox.overlay.keeping import ANOTHER, FULL, keep
from jupyter_codeinterp.sandbox.shared import trees

MAY_MAKE_DEVICES = os.getuid() == 0
NAMES = ("a", "b", ".git", ".GIT", "é", "\udcff", "x" * 255, "line\nbreak", "-rf", "~", ".envrc")


class World:
    """``outside`` must never change. ``layer`` is on top of ``folder``."""

    def __init__(self, root: Path) -> None:
        self.outside = root / "outside"
        self.folder = root / "folder"
        self.outside.mkdir()
        self.folder.mkdir()
        (self.outside / "secret").write_text("secret")
        (self.folder / "old").write_text("old")
        (self.folder / "held").mkdir()
        (self.folder / "held" / "one").write_text("one")
        (self.folder / "away").symlink_to(self.outside)
        self.layer = layer.new(root / "layers", self.folder)
        self.layer.begin()
        self.upper = self.layer.upper

    def found(self) -> dict[str, FileChange]:
        return {one.path: one for one in changes(self.layer)}

    def keep_all(self) -> keeping.KeptFiles:
        return keep(self.layer, {path: one.stamp for path, one in self.found().items()})


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_file_that_changed_meanwhile_stays(world: World) -> None:
    (world.upper / "old").write_text("the kernel's")
    (world.upper / "new").write_text("the kernel's")
    (world.folder / "old").write_text("mine since")
    (world.folder / "new").write_text("mine, too")
    assert {path: one.why for path, one in world.found().items()} == {
        "old": CONFLICT,
        "new": CONFLICT,
    }
    assert dict(world.keep_all().left) == {"old": CONFLICT, "new": CONFLICT}
    assert (world.folder / "old").read_text() == "mine since"
    assert (world.folder / "new").read_text() == "mine, too"


def test_only_the_state_that_the_list_showed_is_kept(world: World) -> None:
    (world.upper / "new").write_text("shown")
    shown = {path: one.stamp for path, one in world.found().items()}
    (world.upper / "new").write_text("other")
    assert dict(keep(world.layer, shown).left) == {"new": ANOTHER}
    assert dict(keep(world.layer, {"nothing": ""}).left) == {"nothing": ANOTHER}
    assert not (world.folder / "new").exists()


def test_links_devices_and_pipes_are_not_kept(world: World) -> None:
    (world.upper / "link").symlink_to(world.outside / "secret")
    (world.upper / "folders").symlink_to(world.outside)
    os.mkfifo(world.upper / "pipe")
    (world.upper / "old").symlink_to("/etc/passwd")
    (world.upper / "held").write_text("a file now")
    if MAY_MAKE_DEVICES:
        os.mknod(world.upper / "disk", stat.S_IFBLK | 0o666, os.makedev(1, 0))
    left = dict(world.keep_all().left)
    assert left.pop("disk", OTHER) == OTHER
    assert left == {"link": LINK, "folders": LINK, "pipe": OTHER, "old": LINK, "held": REPLACES}
    assert sorted(path.name for path in world.folder.iterdir()) == ["away", "held", "old"]


def test_a_link_in_the_folder_is_not_followed(world: World) -> None:
    (world.upper / "away").mkdir()
    (world.upper / "away" / "planted").write_text("planted")
    left = dict(world.keep_all().left)
    assert set(left) == {"away", "away/planted"}
    assert sorted(path.name for path in world.outside.iterdir()) == ["secret"]
    assert (world.folder / "away").is_symlink()


def test_modes_are_a_persons(world: World) -> None:
    (world.upper / "tool").write_text("#!/bin/sh")
    (world.upper / "tool").chmod(0o6777)
    (world.upper / "data").write_text("1")
    (world.upper / "data").chmod(0o666)
    (world.folder / "old").chmod(0o640)
    (world.upper / "old").write_text("new")
    (world.upper / "old").chmod(0o4777)
    before = os.umask(0o022)
    try:
        assert world.keep_all().left == ()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in world.folder.iterdir()}
    assert (modes["tool"], modes["data"], modes["old"]) == (0o755, 0o644, 0o640)


def test_no_thread_changes_the_servers_umask(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread would make its files with that umask."""
    (world.upper / "tool").write_text("new")
    changed: list[int] = []
    monkeypatch.setattr(os, "umask", changed.append)
    assert world.keep_all().left == ()
    assert changed == [] and (world.folder / "tool").read_text() == "new"


def test_a_file_with_a_second_name_outside_is_replaced_not_written(world: World) -> None:
    os.link(world.folder / "old", world.outside / "second")
    (world.upper / "old").write_text("new")
    assert world.keep_all().done == ("old",)
    assert (world.outside / "second").read_text() == "old"


def test_a_kept_file_runs_as_nobody_elses(world: World) -> None:
    (world.folder / "old").chmod(0o6755)
    (world.upper / "old").write_text("new")
    assert world.keep_all().done == ("old",)
    assert stat.S_IMODE((world.folder / "old").stat().st_mode) == 0o755


@pytest.mark.skipif(not MAY_MAKE_DEVICES, reason="a test as root makes what overlayfs makes")
def test_what_was_deleted_goes_but_not_what_came_since(world: World) -> None:
    os.mknod(world.upper / "held", stat.S_IFCHR, 0)
    os.mknod(world.upper / "old", stat.S_IFCHR, 0)
    assert {path: one.kind for path, one in world.found().items()} == {
        "held": "deleted",
        "held/one": "deleted",
        "old": "deleted",
    }
    shown = {path: one.stamp for path, one in world.found().items()}
    (world.folder / "held" / "since").write_text("since")
    kept = keep(world.layer, shown)
    assert set(kept.done) == {"old", "held/one"}
    assert dict(kept.left) == {"held": FULL}
    assert [path.name for path in (world.folder / "held").iterdir()] == ["since"]


def test_a_file_that_is_swapped_while_it_is_copied(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = trees.copy

    def swapped(source: int, target: int, size: int) -> None:
        (world.upper / "new").unlink()
        (world.upper / "new").symlink_to(world.outside / "secret")
        copy(source, target, size)
        os.utime(f"/proc/self/fd/{source}")

    (world.upper / "new").write_text("shown")
    shown = {path: one.stamp for path, one in world.found().items()}
    monkeypatch.setattr(trees, "copy", swapped)
    assert dict(keep(world.layer, shown).left) == {"new": ANOTHER}
    assert not (world.folder / "new").exists()
    assert not list(world.folder.glob(f"{trees.TEMPORARY}*"))


@pytest.mark.parametrize("name", ["old", "new"])
def test_a_file_that_appears_while_another_is_copied(
    world: World, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    copy = trees.copy

    def appears(source: int, target: int, size: int) -> None:
        copy(source, target, size)
        (world.folder / name).write_text("mine, this moment")

    (world.upper / name).write_text("the kernel's")
    shown = {path: one.stamp for path, one in world.found().items()}
    monkeypatch.setattr(trees, "copy", appears)
    assert dict(keep(world.layer, shown).left) == {name: CONFLICT}
    assert (world.folder / name).read_text() == "mine, this moment"


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../outside/x", "a/../../x", "/etc/x", "a//b", "a/\0", "held/.."]
)
def test_a_path_that_leads_out_is_no_path(world: World, path: str) -> None:
    with pytest.raises(ValueError, match="not a path below"):
        trees.parts(path)
    assert keep(world.layer, {path: ""}).done == ()


def test_too_many_files_are_no_list(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        (world.upper / str(number)).touch()
    monkeypatch.setattr("jupyter_codeinterp.sandbox.overlay.changes.MOST", 5)
    with pytest.raises(trees.TooMany):
        world.found()


def test_a_deep_tree_ends(world: World) -> None:
    """Deeper than a path may be long, or Python may call itself."""
    number = os.open(world.upper, os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=number)
        below = os.open("d", os.O_RDONLY, dir_fd=number)
        os.close(number)
        number = below
    os.close(number)
    assert len(world.found()) <= trees.DEPTH + 1
    world.layer.remove()
    assert not world.layer.path.exists()


_paths = st.lists(st.sampled_from((*NAMES, "old", "held", "away")), min_size=1, max_size=3)
_steps = st.lists(
    st.tuples(
        st.sampled_from(["file", "tool", "folder", "link", "outward", "pipe", "gone", "closed"]),
        _paths.map(tuple),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=_steps)
def test_nothing_gets_out_but_files_of_the_list(
    steps: list[tuple[str, tuple[str, ...], bool]],
) -> None:
    """The kernel makes ``steps`` in its layer, some of them after the list was shown; the person
    keeps all."""
    with tempfile.TemporaryDirectory() as root:
        world = World(Path(root))
        for what, parts, later in steps:
            if not later:
                _make(world, what, parts)
        shown = world.found()
        for what, parts, later in steps:
            if later:
                _make(world, what, parts)
        before = _all(world.outside)
        protected = _all(world.folder)
        kept = keep(world.layer, {path: one.stamp for path, one in shown.items()})
        assert _all(world.outside) == before
        assert set(kept.done).isdisjoint(path for path, _ in kept.left)
        assert {*kept.done, *(path for path, _ in kept.left)} == set(shown)
        now = _all(world.folder)
        for path in set(now) ^ set(protected) | {p for p in now if now[p] != protected.get(p)}:
            assert path in kept.done or any(one.startswith(f"{path}/") for one in kept.done)
            assert not any(part.casefold() in (".git", ".envrc") for part in path.split("/"))
        for path in kept.done:
            assert not shown[path].why
            if path in now:
                kind, mode, _ = now[path]
                assert kind in ("file", "folder")
                assert not mode & 0o7000
        world.layer.remove()


def _make(world: World, what: str, parts: tuple[str, ...]) -> None:
    place = world.upper.joinpath(*parts)
    if not os.path.realpath(place.parent).startswith(str(world.upper)):
        return
    with suppress(OSError):  # also where a folder is closed, for all but root
        if place.is_fifo():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if what in ("file", "tool"):
            place.write_text("written")
        if what in ("folder", "closed"):
            place.mkdir()
        if what in ("link", "outward"):
            place.symlink_to("old" if what == "link" else world.outside)
        if what == "pipe":
            os.mkfifo(place)
        if what == "gone":
            os.mknod(place, stat.S_IFCHR, 0)
        if what in ("tool", "closed"):
            place.chmod(0o6755 if what == "tool" else 0)


def _all(root: Path) -> dict[str, tuple[str, int, str]]:
    found = {}
    with trees.opened(str(root)) as folder:
        for path, one in trees.walk(folder, 10_000).items():
            if stat.S_ISREG(one.st_mode):
                with trees.file(folder, path) as (number, _):
                    found[path] = ("file", stat.S_IMODE(one.st_mode), os.read(number, 99).decode())
            else:
                kind = "folder" if stat.S_ISDIR(one.st_mode) else "other"
                found[path] = (kind, stat.S_IMODE(one.st_mode), "")
    return found
