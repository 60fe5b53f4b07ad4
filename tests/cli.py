"""The command line as a program, or a person in a terminal, calls it."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
import pexpect

from jupyter_codeinterp.cli.main import main
from jupyter_codeinterp.journal.exports import markdown, pictures
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import Event, TurnEnded, read_event
from tests.reference_window import notebook

CANARY = "sk-ant-canary-0123456789-of-the-environment"
DEADLINE = 110
"""Seconds for anything at all; pytest's own limit is longer by a little."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
COMMAND = (sys.executable, "-m", "jupyter_codeinterp.cli")


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[Event]:
        """Each line of the output is one."""
        return [read_event(line) for line in self.out.splitlines()]

    @property
    def ended(self) -> TurnEnded:
        last = self.events[-1]
        assert isinstance(last, TurnEnded), last
        return last


@dataclass
class Cli:
    """``folder`` is where it is called, and has ``a.ipynb`` with one cell."""

    folder: Path
    environment: dict[str, str]
    file: Path = field(init=False)

    def __post_init__(self) -> None:
        self.file = self.folder / "a.ipynb"
        self.file.write_text(json.dumps(notebook("import math")))

    def run(self, *arguments: str, given: str = "") -> Ran:
        """In this process, which has imported what each start of the program imports anew."""
        said, told = io.BytesIO(), io.BytesIO()
        read, out, err = (
            io.TextIOWrapper(one, "utf-8") for one in (io.BytesIO(given.encode()), said, told)
        )
        signals = {number: signal.getsignal(number) for number in SIGNALS}
        thresholds, before = gc.get_threshold(), Path.cwd()
        os.chdir(self.folder)
        try:
            with (
                warnings.catch_warnings(),
                patch.dict(os.environ, self.environment, clear=True),
                patch.multiple(sys, stdin=read, stdout=out, stderr=err),
            ):
                warnings.simplefilter("default")
                code = int(main(arguments))
        except SystemExit as leaves:
            code = int(leaves.code or 0)
        finally:
            os.chdir(before)
            logging.captureWarnings(False)
            gc.unfreeze()
            gc.set_threshold(*thresholds)
            for number, handler in signals.items():
                signal.signal(number, handler)
        out.flush()
        err.flush()
        return Ran(code, said.getvalue().decode(), told.getvalue().decode())

    def program(self, *arguments: str, given: str = "") -> Ran:
        """As a process of its own."""
        ran = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """Its output is to be read by the test."""
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    @contextmanager
    def terminal(self, *arguments: str, **variables: str) -> Iterator[Any]:
        """A terminal of its own, wide enough for words to stay in a line."""
        command, *others = [*COMMAND, *arguments]
        child = pexpect.spawn(
            command,
            others,
            cwd=str(self.folder),
            env={**self.environment, "TERM": "xterm-256color", **variables},
            encoding="utf-8",
            codec_errors="replace",
            timeout=DEADLINE,
            dimensions=(50, 160),
        )
        try:
            yield child
        finally:
            # Not by pexpect, which gives up after 0.1 s on a busy machine.
            if child.isalive():
                child.kill(signal.SIGKILL)
                child.wait()
            child.close()

    def book(self, name: str = "a.ipynb") -> Any:
        """A notebook, which must be a valid one."""
        book = nbformat.read(self.folder / name, as_version=4)
        nbformat.validate(book)
        return book

    def sources(self, name: str = "a.ipynb") -> list[str]:
        return [cell.source for cell in self.book(name).cells]

    def configure(self, **settings: Any) -> None:
        """As an admin does."""
        folder = Path(self.environment["JUPYTER_CONFIG_DIR"])
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"CodeInterp": settings})
        (folder / "jupyter_server_config.json").write_text(text)

    @contextmanager
    def journal(self) -> Iterator[SqliteStore]:
        """The conversations, of notebooks by their whole paths."""
        store = SqliteStore(self.data / "codeinterp" / "sessions.db")
        try:
            yield store
        finally:
            store.close()

    def conversations(self) -> list[SessionInfo]:
        """The newest first."""
        with self.journal() as store:
            return store.list(None)

    def exported(self) -> str:
        """The newest conversation, as Markdown."""
        with self.journal() as store:
            info = store.list(None)[0]
            drawn = asyncio.run(pictures(store, info.session_id))
            return markdown(info, [event for _, event in store.events(info.session_id)], drawn)

    @property
    def data(self) -> Path:
        return Path(self.environment["JUPYTER_DATA_DIR"])


def make_cli(folder: Path, url: str) -> Cli:
    """Its settings, conversations and runtime files are in a folder beside ``folder``."""
    work = folder / "work"
    work.mkdir()
    keep = {"PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "MPLCONFIGDIR"}
    environment = {name: value for name, value in os.environ.items() if name in keep}
    environment |= {
        "HOME": str(folder),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_PREFER_ENV_PATH": "0",
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": CANARY,
    }
    return Cli(work, environment)


def until(condition: Callable[[], Any], what: str) -> None:
    """For what another process does, and tells nobody."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """A process that has ended and that nobody has waited for does not count."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@contextmanager
def fake_process(*options: str) -> Iterator[str]:
    """The fake of the Messages API as a process; its address. The prompt's ``#name`` chooses
    what it says."""
    command = [sys.executable, "-m", "tests.fake_anthropic", "--no-checks", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()
