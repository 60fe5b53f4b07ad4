"""Files that several programs change at once."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jupyter_codeinterp.base import private_file
from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.features.mcp_client.servers import Approval, Approvals
from jupyter_codeinterp.features.mcp_server.tokens import Tokens

WRITER = """
import sys
from pathlib import Path
from jupyter_codeinterp.features.mcp_server.tokens import Tokens
from jupyter_codeinterp.base.private_file import PATIENT
tokens = Tokens(Path(sys.argv[1]), PATIENT)
for number in range(25):
    tokens.make(f"{sys.argv[2]}-{number}", "look", {})
"""


def test_no_change_of_another_program_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    command = [sys.executable, "-c", WRITER, str(folder)]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    made = {f"{writer}-{number}" for writer in range(3) for number in range(25)}
    assert {token.name for token in Tokens(folder).all()} == made
    assert sorted(path.name for path in folder.iterdir()) == ["mcp.json", "mcp.json.lock"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_lock_that_stays_is_said(tmp_path: Path) -> None:
    approvals = Approvals(tmp_path)
    approvals.set("a", Approval(True))
    lock = os.open(tmp_path / "mcp-approved.json.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(CommandError, match=r"Nothing saved.*another program.*try again"):
        approvals.set("b", Approval(True))
    os.close(lock)
    assert not approvals.of("b").approved
    approvals.set("b", Approval(True))
    assert approvals.of("a").approved and approvals.of("b").approved


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
    tokens = Tokens(tmp_path)
    made, _ = tokens.make("One", "look", {})
    before = (tmp_path / "mcp.json").read_bytes()
    with pytest.raises(CommandError, match="does not exist"):
        tokens.revoke("0" * 16)
    assert (tmp_path / "mcp.json").read_bytes() == before
    assert tokens.revoke(made.id) == made and tokens.all() == ()
