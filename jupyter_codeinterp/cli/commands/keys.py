"""``key``: the key that is kept for the default provider, in the same file and by the same rules as
one that is pasted in the panel. It is never an argument, which others on the machine could read,
and never shown.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import sys

from ...core.errors import CodeInterpError
from ...core.redaction.secrets import Secrets
from ...server.models import KeyOf, Models
from ...server.workbench.workbench import make_models
from ..local import config as config_files
from ..local.problems import DONE, FAILED, USAGE, Problem
from ..terminal.inert import line
from ..terminal.stopping import Stopping

LONGEST = 10_000
"""Characters of a key."""
AGAIN = "A server that is running takes this up when it is started again."


def key(options: argparse.Namespace, stopping: Stopping) -> int:
    settings = config_files.settings(config_files.load())
    models = make_models(settings, Secrets())
    if options.what == "set":
        return asyncio.run(_set(models, options.url, _read()))
    if options.what == "delete":
        return _delete(models)
    for one in models.key_sources():
        print(f"{one.label}: {came_from(one)}")
    return DONE


def _read() -> str:
    """From the person, without an echo, or the first line of standard input."""
    if sys.stdin.isatty():
        try:
            return getpass.getpass("Key (not shown): ").strip()
        except EOFError:
            return ""
    return sys.stdin.readline(LONGEST).strip()


async def _set(models: Models, url: str, key: str) -> int:
    if not key:
        raise Problem("There was no key on the terminal or standard input.", USAGE)
    try:
        await models.set_key(key, url)
    except CodeInterpError as error:
        raise Problem(f"The key is not kept. {error.message}", FAILED) from None
    finally:
        await models.close()
    print(f"The key works at {line(models.key_host)} and is kept. {AGAIN}")
    return DONE


def _delete(models: Models) -> int:
    had = any(one.source == "stored" for one in models.key_sources())
    models.forget_key()
    print(f"The kept key is deleted. {AGAIN}" if had else "No key was kept.")
    for one in models.key_sources():
        if one.source == "env":
            print(f"{one.label}: {came_from(one)}")
    return DONE


def came_from(key: KeyOf) -> str:
    """In words; never the key itself."""
    if key.source == "none":
        return "no key"
    if key.source == "stored":
        return f"a kept key, for {line(key.host)}"
    named = [name for name in key.variables if os.environ.get(name)]
    where = f"a key from {named[0]}" if named else "no key"
    return f"{where}, for {line(key.host)}"
