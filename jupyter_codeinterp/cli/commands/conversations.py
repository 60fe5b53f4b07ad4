"""``sessions`` and ``export``: read the journal, without a server."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from ...app import config as config_files
from ...app.settings import CodeInterpSettings
from ...base.visible import visible, visible_line
from ...journal.exports import markdown, pictures
from ...journal.sqlite import SqliteStore
from ...view.redaction.secrets import Secrets
from ...wire.commands import SessionInfo
from ..local.place import place_of
from ..local.problems import DONE, USAGE, Problem
from ..terminal.stopping import Stopping

SHORT = 8
"""Shown characters of an id."""
_ID = re.compile(r"[0-9a-f]{4,32}")


@contextmanager
def journal(
    settings: CodeInterpSettings, root: Path | None = None
) -> Iterator[tuple[SqliteStore, Secrets]]:
    """Open the journal, with the keys to redact. Without a root, it lists conversations of all
    folders, by whole paths."""
    secrets = Secrets()
    settings.make_models(secrets).learn_secrets()
    folder = None if root is None else Path(os.path.realpath(root)).as_posix()
    store = SqliteStore(settings.folder / "sessions.db", secrets.scrub, settings.retention, folder)
    try:
        yield store, secrets
    finally:
        store.close()


def sessions(options: argparse.Namespace, stopping: Stopping) -> int:
    settings = config_files.settings(config_files.load())
    place = None if options.notebook is None else place_of(options.notebook)
    path = None if place is None else place.path
    with journal(settings, None if place is None else place.root) as (store, _):
        found = [_named_from_here(info) for info in store.list(path)]
        if options.json:
            for info in found:
                sys.stdout.buffer.write(msgspec.json.encode(info) + b"\n")
            return DONE
        for info in found:
            print(_line(info, path is None))
        if not found:
            print("No conversations." if path is None else f"No conversations on {visible(path)}.")
    return DONE


def _named_from_here(info: SessionInfo) -> SessionInfo:
    """Name a notebook below the current folder by its relative path."""
    here = Path.cwd()
    path = Path(info.notebook)
    if not path.is_relative_to(here):
        return info
    return msgspec.structs.replace(info, notebook=path.relative_to(here).as_posix())


def _line(info: SessionInfo, with_notebook: bool) -> str:
    changed = datetime.fromtimestamp(info.changed)
    title = visible_line(info.title) or "(empty)"
    line = f"{info.session_id[:SHORT]}  {changed:%Y-%m-%d %H:%M}  {title}"
    return f"{line}  ({visible_line(info.notebook)})" if with_notebook else line


def export(options: argparse.Namespace, stopping: Stopping) -> int:
    settings = config_files.settings(config_files.load())
    with journal(settings) as (store, secrets):
        info = _find(store, options.session)
        # Do not reveal folders of this disk.
        info = msgspec.structs.replace(info, notebook=Path(info.notebook).name)
        events = [event for _, event in store.events(info.session_id)]
        shown = sys.stdout.isatty()
        drawn = {} if shown else asyncio.run(pictures(store, info.session_id))
        text = secrets.scrub(markdown(info, events, drawn))
    if shown:
        text = visible(text)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return DONE


def _find(store: SqliteStore, given: str) -> SessionInfo:
    """Find a conversation by its id or the beginning of it. Raises Problem."""
    if not _ID.fullmatch(given):
        raise Problem("SESSION must be the id of a conversation. `sessions` lists them.", USAGE)
    found = [info for info in store.list(None) if info.session_id.startswith(given)]
    if not found:
        raise Problem(f"No conversation {given}. `sessions` lists them.", USAGE)
    if len(found) > 1:
        raise Problem(f"{given} matches {len(found)} ids. Give more characters.", USAGE)
    return found[0]
