"""What code of a sandboxed kernel leaves in the notebook's folder, and what the server reads there.

Most of it is put there by the test: the sandbox refuses to make links, pipes and devices.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from tornado import web
from tornado.httpclient import HTTPClientError

from jupyter_codeinterp.app.notebooks.instructions import before_save, rule_files, skills
from jupyter_codeinterp.app.notebooks.notebook_kernels import NotebookKernels
from jupyter_codeinterp.app.notebooks.scan import look_around
from jupyter_codeinterp.app.notebooks.siblings import read_sibling, sibling_files, sibling_heads
from jupyter_codeinterp.app.verify import folder as verify_folder
from jupyter_codeinterp.app.verify import verifier as verify
from jupyter_codeinterp.app.verify.folder import MOST_FILES, copy_of
from jupyter_codeinterp.app.verify.folder import _copy as copy_one
from jupyter_codeinterp.base.errors import CodeInterpError
from jupyter_codeinterp.features.mcp_client.entries import entries_for
from jupyter_codeinterp.features.mcp_server import service
from jupyter_codeinterp.notebook.content import views
from jupyter_codeinterp.notebook.file import ContentsFile
from jupyter_codeinterp.notebook.file.contents import _save_began
from jupyter_codeinterp.sandbox.shared import open_folders, trees
from jupyter_codeinterp.view.rule_files import NOT_CONFIRMED
from tests.cli import make_cli
from tests.reference_window import notebook
from tests.sandbox.here import runs_here
from tests.sandbox.test_sandboxed_kernel import kernel, run
from tests.site import Site

SECRET = "a_secret"
NOTEBOOK = "work/deep/a.ipynb"


def book(source: str = "") -> dict[str, Any]:
    cell = {"cell_type": "raw", "id": "one", "metadata": {}, "source": source}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def runnable() -> dict[str, Any]:
    """With a cell to verify, and a kernel that does not exist."""
    code: dict[str, Any] = {"execution_count": None, "outputs": []}
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "one",
        "metadata": {},
        "source": SECRET,
        **code,
    }
    metadata = {"kernelspec": {"name": SECRET, "display_name": SECRET}}
    return {"cells": [cell], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Its root has a folder ``work`` in which a sandboxed kernel could write."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    root = Path(os.path.realpath(tmp_path)) / "root"
    (root / "work" / "deep").mkdir(parents=True)
    (root / NOTEBOOK).write_text(json.dumps(book("mine")))
    open_folders.add(root / "work", [])
    manager = AsyncLargeFileManager(root_dir=str(root))
    manager.register_pre_save_hook(before_save)
    return manager


# --- what is no regular file ------------------------------------------------------------------


async def stays(path: str) -> bool:
    return False


async def copies_for_verify(contents: Any) -> Any:
    copy = await asyncio.to_thread(copy_of, Path(contents.root_dir, "work"))
    return copy and [one.read_bytes() for one in copy.rglob("*") if one.is_file()]


async def reads_the_notebook(contents: Any) -> Any:
    return (await ContentsFile(contents, lambda: NOTEBOOK, stays).read()).notebook


class NoSessions:
    """The server has no kernel for any notebook."""

    class kernel_manager:
        class kernel_spec_manager:
            @staticmethod
            def get_all_specs() -> dict[str, Any]:
                return {}

    def __init__(self) -> None:
        self.started = ""

    async def list_sessions(self) -> list[dict[str, Any]]:
        return []

    async def create_session(self, *, kernel_name: str, **_: Any) -> None:
        self.started = kernel_name


async def reads_for_verify(contents: Any) -> Any:
    return await verify.read(contents, NotebookKernels(NoSessions(), contents), NOTEBOOK)


async def starts_its_kernel(contents: Any) -> Any:
    sessions = NoSessions()
    await NotebookKernels(sessions, contents).ready(NOTEBOOK)
    return sessions.started


async def outside_agent(contents: Any) -> Any:
    return (await contents.get(await service.need(contents, NOTEBOOK)))["content"]


async def saves(contents: Any) -> Any:
    model = {"type": "notebook", "format": "json", "content": book("new")}
    return await contents.save(model, NOTEBOOK)


async def saves_and_keeps(contents: Any) -> Any:
    """As a page does at each press of Save."""
    await saves(contents)
    return await contents.create_checkpoint(NOTEBOOK)


class Reader(NamedTuple):
    """``file``: what it reads, beside the notebook."""

    file: str
    content: str
    read: Callable[[Any], Coroutine[Any, Any, Any]]


READERS = {
    "AGENTS.md": Reader("AGENTS.md", SECRET, lambda c: rule_files(c, NOTEBOOK)),
    "rules": Reader(".codeinterp/rules.md", SECRET, lambda c: rule_files(c, NOTEBOOK)),
    "a skill": Reader(".codeinterp/skills/x/SKILL.md", SECRET, lambda c: skills(c, NOTEBOOK)),
    "an attachment": Reader("x.png", SECRET, lambda c: read_sibling(c, NOTEBOOK, "x.png", 99)),
    "a table's head": Reader(
        "data.csv", f"{SECRET},b\n1,2\n", lambda c: sibling_heads(c, NOTEBOOK, ["data.csv"])
    ),
    "the files of a folder": Reader(f"x/{SECRET}", "", lambda c: sibling_files(c, NOTEBOOK)),
    "the names in a folder": Reader(
        f"x/{SECRET}", "", lambda c: sibling_heads(c, NOTEBOOK, ["x/"])
    ),
    "the files beside it": Reader(f"{SECRET}.txt", "", lambda c: sibling_files(c, NOTEBOOK)),
    "the files of a turn": Reader(
        f"x/{SECRET}", "", lambda c: look_around(c, NOTEBOOK, NOTEBOOK.__eq__)
    ),
    "Verify's copy": Reader("data.txt", SECRET, copies_for_verify),
    "the notebook": Reader("a.ipynb", json.dumps(book(SECRET)), reads_the_notebook),
    "Verify": Reader("a.ipynb", json.dumps(runnable()), reads_for_verify),
    "the choice of a kernel": Reader("a.ipynb", json.dumps(runnable()), starts_its_kernel),
    "an outside agent": Reader("a.ipynb", json.dumps(book(SECRET)), outside_agent),
    "a save": Reader("a.ipynb", json.dumps(book(SECRET)), saves),
    "Jupyter's copy at a save": Reader(".~a.ipynb", SECRET, saves),
    "a checkpoint at a save": Reader(
        ".ipynb_checkpoints/a-checkpoint.ipynb", SECRET, saves_and_keeps
    ),
}


def link(place: Path, outside: Path) -> None:
    place.symlink_to(outside)


def link_above(place: Path, outside: Path) -> None:
    place.parent.rename(place.parent.with_name("gone"))
    place.parent.symlink_to(outside.parent)


def pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def device(place: Path, outside: Path) -> None:
    try:
        os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")


def bound_socket(place: Path, outside: Path) -> None:
    """The sandbox lets code make one."""
    above = os.open(place.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(f"/proc/self/fd/{above}/{place.name}")  # Its whole path may be too long.
    os.close(above)


def folder(place: Path, outside: Path) -> None:
    place.mkdir()


KINDS = {
    "a link": link, "a link above": link_above, "a pipe": pipe, "a device": device,
    "a socket": bound_socket, "a folder": folder,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_gets_nothing_from(contents: Any, tmp_path: Path, name: str, kind: str) -> None:
    file, content, read = READERS[name]
    place, outside = Path(contents.root_dir, "work/deep", file), tmp_path / "outside" / file
    outside.parent.mkdir(parents=True)
    outside.write_text(content)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if SECRET in file:
        link_above(place, outside)
    else:
        KINDS[kind](place, outside)
    try:
        got = repr(asyncio.run(read(contents)))
    except (CodeInterpError, web.HTTPError) as error:
        got = str(error)
    assert SECRET not in got
    assert outside.read_text() == content, "nothing was written through it"
    there = {path.name for path in outside.parent.iterdir()}
    assert there == {outside.name}, "nothing was written beside it"


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str) -> None:
    """A device may do something at each read."""
    root, outside = tmp_path / "root", tmp_path / "outside" / "x"
    for above in (root / "deep", outside.parent):
        above.mkdir(parents=True)
    outside.write_text(SECRET)
    KINDS[kind](root / "deep" / "x", outside)
    with pytest.raises(OSError), trees.below(root, "deep/x"):
        pass


def test_a_link_in_place_of_a_file_that_was_listed_is_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.write_text(SECRET)
    file = work / "data.txt"
    file.write_text("mine")

    def swaps(folder: Path, path: str, target: Path) -> None:
        file.unlink()
        file.symlink_to(outside)
        copy_one(folder, path, target)

    monkeypatch.setattr(verify_folder, "_copy", swaps)
    with pytest.raises(OSError):
        copy_of(work)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gets_a_plain_file(contents: Any, name: str) -> None:
    """So that the table above tries what it says. In a folder without such a kernel, a person's
    instructions count."""
    file, content, read = READERS[name]
    place = Path(contents.root_dir, "work/deep", file)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)
    open_folders.confirm(place, content.encode())
    got = repr(asyncio.run(read(contents)))
    shown = name not in ("the files of a folder",) and read not in (saves, saves_and_keeps)
    assert not shown or SECRET in got


@pytest.mark.parametrize("name", [name for name, one in READERS.items() if one.file == "a.ipynb"])
def test_a_notebook_of_any_size_is_not_read(contents: Any, name: str) -> None:
    """Code makes a file of 10 GB in no time and without a disk; who reads it whole is killed."""
    place, content = Path(contents.root_dir, NOTEBOOK), READERS[name].content
    place.write_text(content)
    os.truncate(place, open_folders.LARGEST_NOTEBOOK + 1)
    with pytest.raises((CodeInterpError, web.HTTPError)) as refused:
        asyncio.run(READERS[name].read(contents))
    assert "a.ipynb is larger than 512 MB" in str(refused.value)
    assert place.stat().st_size == open_folders.LARGEST_NOTEBOOK + 1
    assert [one.name for one in place.parent.iterdir()] == ["a.ipynb"]


@runs_here
@pytest.mark.parametrize("overlay", [False, True])
async def test_the_sandbox_makes_links_only_in_an_overlay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overlay: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "work"
    folder.mkdir(parents=True)
    makes = {
        "symlink": "os.symlink('/x', NAME)",
        "mkfifo": "os.mkfifo(NAME)",
        "mknod": "os.mknod(NAME, 0o20666, os.makedev(1, 5))",
        "whiteout": (
            "import ctypes; open(NAME, 'w').close(); libc = ctypes.CDLL(None); at = NAME.encode(); "
            "assert libc.renameat2(-100, at, -100, at + b'2', 4) == 0"
        ),
    }
    more = {"overlay": overlay, "overlay_folder": str(tmp_path / "layers")}
    async with kernel(tmp_path, folder, **more) as (_, client):
        made = []
        for name, code in makes.items():
            for at in ("/tmp/x", ".~a.ipynb"):
                said = await run(client, f"import os; NAME = {at!r}; {code}; os.unlink(NAME)")
                made += [name] if said["status"] == "ok" else []
        plain = await run(client, "os.link('a', 'b') if open('a', 'w').close() else 1")
        held = await run(client, "os.rename('.ipynb_checkpoints', 'x')")
    assert sorted(set(made)) == (["mkfifo", "symlink"] if overlay else [])
    assert plain["status"] == "ok" and held["status"] == "error"


# --- instructions ------------------------------------------------------------------------------

INSTRUCTIONS = ("AGENTS.md", ".codeinterp/rules.md", "deep/AGENTS.md")


async def followed(contents: Any) -> list[str]:
    return [text for _, text in await rule_files(contents, NOTEBOOK) if text != NOT_CONFIRMED]


@runs_here
async def test_instructions_that_a_sandboxed_kernel_wrote_are_named_and_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "home"
    work = root / "work"
    (work / "deep" / ".codeinterp").mkdir(parents=True)
    for name in ("AGENTS.md", "work/deep/.codeinterp/rules.md"):
        (root / name).write_text(f"mine in {name}")
    mine = ["mine in AGENTS.md", "mine in work/deep/.codeinterp/rules.md"]
    contents = AsyncLargeFileManager(root_dir=str(root), allow_hidden=True)
    contents.register_pre_save_hook(before_save)
    write = "import os\n" + "\n".join(
        f"os.makedirs(os.path.dirname({n!r}) or '.', exist_ok=True); open({n!r}, 'w').write('obey')"
        for n in (*INSTRUCTIONS, ".codeinterp/skills/x/SKILL.md", "mcp-servers.json")
    )
    async with kernel(tmp_path, work) as (_, client):
        assert (await run(client, write))["status"] == "ok"
        change = await run(client, "open('deep/.codeinterp/rules.md', 'w')")
        assert change["ename"] == "OSError", "a file from before the start is read-only"
        assert await followed(contents) == mine
    assert await followed(contents) == mine, "also after its end"
    monkeypatch.setattr(open_folders, "_read", None)
    found = await rule_files(contents, NOTEBOOK)
    assert [name for name, text in found if text == NOT_CONFIRMED] == [
        "work/AGENTS.md", "work/.codeinterp/rules.md", "work/deep/AGENTS.md",
    ]  # fmt: skip
    (skill,) = await skills(contents, NOTEBOOK)
    assert "sandboxed kernel" in skill.trouble and not skill.body
    _, faults = entries_for(work, {})
    assert "sandboxed kernel" in faults[0]
    model = {"type": "file", "format": "text", "content": "reviewed"}
    await contents.save(model, "work/AGENTS.md")
    assert await followed(contents) == [mine[0], "reviewed", mine[1]]
    (work / "AGENTS.md").write_text("obey again")
    assert await followed(contents) == mine
    moved = work / "sub"
    (work / "deep").rename(moved)
    assert "obey" not in str(await rule_files(contents, "work/sub/a.ipynb"))


def test_a_person_confirms_instructions_in_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = make_cli(tmp_path, "http://127.0.0.1:9")
    monkeypatch.setenv("JUPYTER_DATA_DIR", cli.environment["JUPYTER_DATA_DIR"])
    folder = Path(os.path.realpath(cli.folder))
    open_folders.add(folder, [])
    (folder / "AGENTS.md").write_text("mine")
    (folder / "linked").mkdir()
    (folder / "linked" / "AGENTS.md").symlink_to(folder / "AGENTS.md")
    assert not open_folders.is_persons(folder / "AGENTS.md", b"mine")
    for name, code in {"AGENTS.md": 0, "linked/AGENTS.md": 2, "x.md": 2, "no/AGENTS.md": 2}.items():
        assert cli.run("sandbox", "confirm", str(folder / name)).code == code, name
    assert open_folders.is_persons(folder / "AGENTS.md", b"mine")
    assert not open_folders.is_persons(folder / "AGENTS.md", b"other")


def test_a_folder_in_place_of_a_copy_is_no_save(tmp_path: Path) -> None:
    """Jupyter's copy while it saves has this name. Code can change the folder for ever, and each
    read would wait."""
    (tmp_path / ".~b.ipynb").mkdir()
    assert _save_began(tmp_path / "b.ipynb") is None


@pytest.fixture
def open_root(site: Site, jp_root_dir: Path) -> Path:
    open_folders.add(Path(os.path.realpath(jp_root_dir)), [])
    return jp_root_dir


@pytest.mark.parametrize("left", ["a link", "a folder"])
async def test_the_server_refuses_a_page_to_save_over(
    jp_fetch: Any, open_root: Path, tmp_path: Path, left: str
) -> None:
    (open_root / "b.ipynb").write_text(json.dumps(book("mine")))
    (tmp_path / "bashrc").write_text("mine")
    copy = open_root / ".~b.ipynb"
    if left == "a folder":
        copy.mkdir()
        copy = copy / "b.ipynb"
    copy.symlink_to(tmp_path / "bashrc")
    body = json.dumps({"type": "notebook", "format": "json", "content": book("new")})
    with pytest.raises(HTTPClientError) as caught:
        await jp_fetch("api", "contents", "b.ipynb", method="PUT", body=body)
    assert caught.value.code == 409
    assert b"Remove .~b.ipynb" in caught.value.response.body  # type: ignore[union-attr]
    assert (tmp_path / "bashrc").read_text() == "mine"


# --- names and shapes that no person makes ----------------------------------------------------


async def test_a_name_that_is_no_text_is_left_out(contents: Any) -> None:
    """Nothing with such a name could be journaled, or sent to a model."""
    folder = Path(contents.root_dir, NOTEBOOK).parent
    for name in (b"\xff.csv", "ä.csv".encode()):
        os.close(os.open(os.fsencode(folder) + b"/" + name, os.O_CREAT))
    assert await sibling_files(contents, NOTEBOOK) == [("ä.csv", 0)]
    seen = await look_around(contents, NOTEBOOK, NOTEBOOK.__eq__)
    assert seen is not None and set(seen.files) == {"work/deep/ä.csv"}


def test_a_cell_with_half_a_character_can_be_journaled() -> None:
    (cell,) = views(notebook("x = '\ud800ä'"))
    assert cell.source == "x = '?ä'"


def test_folders_in_folders_are_bounded(contents: Any) -> None:
    """Each takes longer to reach than the one above."""
    place = os.open(Path(contents.root_dir, "work"), os.O_RDONLY)
    for _ in range(MOST_FILES + 1):
        os.mkdir("d", dir_fd=place)
        below = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = below
    os.close(place)
    assert copy_of(Path(contents.root_dir, "work")) is None


def test_a_folder_with_more_than_may_be_listed_is_not_listed(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / str(number)).touch()
    with trees.opened(str(tmp_path)) as folder:
        assert len(trees.names(folder, 12)) == len(trees.walk(folder, 12)) == 12
        for look in (trees.names, trees.walk):
            with pytest.raises(trees.TooMany):
                look(folder, 11)
