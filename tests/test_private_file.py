"""Files that several programs change at once."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from jupyter_codeinterp.base import private_file
from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.base.private_file import PrivateFile
from jupyter_codeinterp.base.sentences import Sentence

WRITER = """
import sys
from pathlib import Path
from jupyter_codeinterp.base import private_file
from jupyter_codeinterp.base.private_file import PrivateFile
from jupyter_codeinterp.base.sentences import Sentence
from tests.test_private_file import Kept
file = PrivateFile(Path(sys.argv[1], "a.json"), Kept(), Sentence("a list"))
private_file.WAIT = 2.0
for number in range(25):
    name = f"{sys.argv[2]}-{number}"
    file.change(lambda now: Kept({**now.words, name: True}))
"""


class Kept(msgspec.Struct, frozen=True):
    words: dict[str, bool] = {}


def file_in(folder: Path) -> PrivateFile[Kept]:
    return PrivateFile(folder / "a.json", Kept(), Sentence("a list"))


def add(file: PrivateFile[Kept], name: str) -> None:
    file.change(lambda now: Kept({**now.words, name: True}))


def test_no_change_of_another_program_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    command = [sys.executable, "-c", WRITER, str(folder)]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    made = {f"{writer}-{number}" for writer in range(3) for number in range(25)}
    assert set(file_in(folder).content.words) == made
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "a.json.lock"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_lock_that_stays_is_said(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    add(file, "a")
    lock = os.open(tmp_path / "a.json.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(CommandError, match=r"Nothing saved.*another program.*try again"):
        add(file, "b")
    os.close(lock)
    assert set(file.content.words) == {"a"}
    add(file, "b")
    assert set(file.content.words) == {"a", "b"}


def test_a_lock_that_stays_holds_up_no_event_loop(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    (tmp_path / f"{file.name}.lock").touch()
    lock = os.open(tmp_path / f"{file.name}.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    began = time.monotonic()
    with pytest.raises(BlockingIOError), private_file.locked(file):
        pass
    assert time.monotonic() - began < 1.0
    os.close(lock)
    with private_file.locked(file):
        pass


def test_a_refused_change_writes_nothing(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    add(file, "a")
    before = (tmp_path / "a.json").read_bytes()

    def refused(now: Kept) -> Kept:
        raise CommandError("malformed", "No.")

    with pytest.raises(CommandError, match="No"):
        file.change(refused)
    assert (tmp_path / "a.json").read_bytes() == before
