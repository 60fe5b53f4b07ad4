"""``sessions`` and ``export``: what is in the journal. No server is asked."""

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
from ...server.workbench.models import make_models
from ...server.workbench.settings import CodeInterpSettings
from ..local import config as config_files
from ..local.place import place_of
from ..local.problems import DONE, USAGE, Problem
from ..terminal.inert import inert, line
from ..terminal.stopping import Stopping

SHORT = 8
"""Characters of an id that are shown: more than enough to tell one from another."""
_ID = re.compile(r"[0-9a-f]{4,32}")


@contextmanager
def journal(settings: CodeInterpSettings) -> Iterator[tuple[SqliteStore, Secrets]]:
    """And the keys that go into nothing that is written."""
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
                print(msgspec.json.encode(info).decode())
            return DONE
        for info in found:
            print(_told(info, path is None))
        if not found:
            print("No conversations." if path is None else f"No conversations on {inert(path)}.")
    return DONE


def _told(info: SessionInfo, with_notebook: bool) -> str:
    changed = datetime.fromtimestamp(info.changed)
    told = f"{info.session_id[:SHORT]}  {changed:%Y-%m-%d %H:%M}  {line(info.title) or '(empty)'}"
    return f"{told}  ({line(info.notebook)})" if with_notebook else told


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
        text = inert(text)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return DONE


def _find(store: SqliteStore, given: str) -> SessionInfo:
    """By its id, or how that begins. Raises Problem."""
    if not _ID.fullmatch(given):
        raise Problem("SESSION is the id of a conversation: `sessions` lists them.", USAGE)
    found = [info for info in store.list(None) if info.session_id.startswith(given)]
    if not found:
        raise Problem(f"There is no conversation {given}: `sessions` lists them.", USAGE)
    if len(found) > 1:
        raise Problem(f"{given} is how {len(found)} ids begin: say more of it.", USAGE)
    return found[0]
