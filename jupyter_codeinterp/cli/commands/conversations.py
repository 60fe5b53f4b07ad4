"""``sessions`` and ``export``: read the journal, without a server."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import msgspec

from ...adapters.storage.sqlite import SqliteStore
from ...core.commands import SessionInfo
from ...core.history.exporting import markdown
from ...core.history.recording import recording
from ...core.redaction.secrets import Secrets
from ...core.visible import visible, visible_line
from ...server.workbench import config as config_files
from ...server.workbench.models import make_models
from ...server.workbench.settings import CodeInterpSettings
from ..local.place import place_of
from ..local.problems import DONE, USAGE, Problem
from ..terminal.stopping import Stopping

SHORT = 8
"""Shown characters of an id."""
_ID = re.compile(r"[0-9a-f]{4,32}")


@contextmanager
def journal(settings: CodeInterpSettings) -> Iterator[tuple[SqliteStore, Secrets]]:
    """Open the journal, with the keys to redact."""
    secrets = Secrets()
    make_models(settings, secrets).learn_secrets()
    store = SqliteStore(settings.folder / "sessions.db", secrets.scrub, settings.retention)
    try:
        yield store, secrets
    finally:
        store.close()


def sessions(options: argparse.Namespace, stopping: Stopping) -> int:
    settings = config_files.settings(config_files.load())
    path = None if options.notebook is None else place_of(options.notebook).path
    with journal(settings) as (store, _):
        found = store.list(path)
        if options.json:
            for info in found:
                sys.stdout.buffer.write(msgspec.json.encode(info) + b"\n")
            return DONE
        for info in found:
            print(_line(info, path is None))
        if not found:
            print("No conversations." if path is None else f"No conversations on {visible(path)}.")
    return DONE


def _line(info: SessionInfo, with_notebook: bool) -> str:
    changed = datetime.fromtimestamp(info.changed)
    title = visible_line(info.title) or "(empty)"
    line = f"{info.session_id[:SHORT]}  {changed:%Y-%m-%d %H:%M}  {title}"
    return f"{line}  ({visible_line(info.notebook)})" if with_notebook else line


def export(options: argparse.Namespace, stopping: Stopping) -> int:
    settings = config_files.settings(config_files.load())
    with journal(settings) as (store, secrets):
        info = _find(store, options.session)
        events = [event for _, event in store.events(info.session_id)]
        if options.to == "markdown":
            text = markdown(info, events)
        else:
            text = recording(info, events, store.all_messages(info.session_id))
        text = secrets.scrub(text)
    if sys.stdout.isatty():
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
