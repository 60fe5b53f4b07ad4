"""What is seen of a run in a sandbox, from outside."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_codeinterp.sandbox.network.book import KEPT
from jupyter_codeinterp.sandbox.overlay import following as watching
from jupyter_codeinterp.sandbox.overlay.following import FolderWatch, Touched
from jupyter_codeinterp.sandbox.shared.limits import NO_NETWORK
from jupyter_codeinterp.wire.findings import Observation
from tests.kernels import kernel_manager, run, running_kernel
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install
from tests.sandbox.test_network import kernel
from tests.sandbox.web import web

__all__ = ["folder"]


@runs_here
async def test_a_run_without_a_network(tmp_path: Path, folder: Path) -> None:
    async with (
        kernel_manager(install(tmp_path, *NAMED)) as kernels,
        running_kernel(kernels, "sandboxed") as (_, made, _),
    ):
        _, done = await run(made, "x = 1")
        assert (done.status, done.observed, done.note) == ("ok", (), "")
        _, done = await run(
            made, "import urllib.request\nurllib.request.urlopen('http://a.invalid')"
        )
        assert (done.status, done.note) == ("error", NO_NETWORK)
        assert done.observed == (Observation("held", limit=NO_NETWORK),)


@runs_here
async def test_connections_are_seen_also_on_a_tunnel_of_an_earlier_run(
    tmp_path: Path, folder: Path
) -> None:
    async with web() as allowed, kernel(tmp_path, allowed.at) as (made, _):
        allowed.keeps = True
        code = """
import http.client, os, urllib.request
def get(client):
    client.request('GET', '/')
    return client.getresponse().read()
client = http.client.HTTPConnection(os.environ['HTTPS_PROXY'].removeprefix('http://'))
"""
        opened = f"client.set_tunnel({allowed.at!r})\nget(client)"
        for source in (f"{code}{opened}", "get(client)"):
            _, done = await run(made, source)
            assert done.status == "ok", done.outputs
            assert done.observed == (Observation("connected", (allowed.at,)),)
        refused = "try:\n    urllib.request.urlopen('http://a.invalid')\nexcept OSError:\n    pass"
        _, done = await run(made, refused)
        assert done.observed == (Observation("refused", ("a.invalid:80",)),)
        _, done = await run(made, "1")
        assert done.observed == ()
        many = (
            f"for number in range({KEPT + 1}):\n    try:\n"
            "        urllib.request.urlopen(f'http://h{number}.invalid')\n"
            "    except OSError:\n        pass"
        )
        _, done = await run(made, many)
        hosts = tuple(f"h{number + 1}.invalid:80" for number in range(KEPT))
        assert done.observed == (Observation("refused", hosts), Observation("lost"))
        assert done.note.endswith("and 59 more. Others are not listed: there were too many.")


async def test_nothing_is_seen_of_a_plain_kernel() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (_, made, _):
        _, done = await run(made, "open('/dev/null').close()")
        assert done.observed == ()


# --- files ---------------------------------------------------------------------------


def many(folder: Path) -> None:
    for number in range(watching.NAMES + 1):
        (folder / f"{number}.txt").touch()


def beyond(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent)


FILES: dict[str, tuple[Callable[[Path], object], Touched]] = {
    "nothing": (lambda folder: None, Touched()),
    "in a folder that is read-only": (
        lambda folder: (folder / ".git" / "HEAD").write_text("a"),
        Touched(),
    ),
    "written": (lambda folder: (folder / "a").write_text("b"), Touched(("a",))),
    "rights": (lambda folder: (folder / "sub").chmod(0o700), Touched(("sub",))),
    "removed": (lambda folder: (folder / "sub" / "b").unlink(), Touched(("sub/b",))),
    "a link": (beyond, Touched(("link",))),
    "a name in no encoding": (
        lambda folder: os.mkdir(os.fsencode(folder) + b"/\xff"),  # noqa: PTH102
        Touched(("\udcff",)),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_which_files_are_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / "work" / "sub").mkdir(parents=True)
    (tmp_path / "work" / ".git").mkdir()
    (tmp_path / "work" / "sub" / "b").touch()
    act, expected = FILES[name]
    with closing(FolderWatch(tmp_path / "work", (".git",))) as watch:
        assert watch.begin()
        act(tmp_path / "work")
        assert watch.touched() == expected
        act_later = tmp_path / "work" / "sub" / "later"
        act_later.touch()
        assert watch.begin()
        assert watch.touched() == Touched(), "what was before does not count"


def test_more_files_than_are_told(tmp_path: Path) -> None:
    with closing(FolderWatch(tmp_path)) as watch:
        watch.begin()
        many(tmp_path)
        touched = watch.touched()
    assert len(touched.changed) == watching.NAMES and touched.lost


def test_new_folders_are_watched_from_the_next_time_on(tmp_path: Path) -> None:
    with closing(FolderWatch(tmp_path)) as watch:
        watch.begin()
        (tmp_path / "new").mkdir()
        assert watch.touched() == Touched(("new",))
        watch.begin()
        (tmp_path / "new" / "a").touch()
        assert watch.touched() == Touched(("new/a",))
        (tmp_path / "new").rename(tmp_path / "newer")
        watch.begin()
        (tmp_path / "newer" / "a").unlink()
        assert watch.touched() == Touched(("newer/a",))
    assert not watch.begin(), "it is closed"


def test_a_folder_with_too_many_files_is_not_watched(tmp_path: Path) -> None:
    many(tmp_path)
    watch = FolderWatch(tmp_path, entries=10)
    assert not watch.begin() and watch.touched() == Touched()
