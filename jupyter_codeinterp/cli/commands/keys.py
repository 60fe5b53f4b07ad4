"""``key``: the keys that are kept for providers, in the same places and by the same rules as those
that are pasted in the panel. One is never an argument, which others on the machine could read, and
never shown.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys

from ...core.errors import CodeInterpError
from ...core.redaction.secrets import Secrets
from ...server.models import Described, Models
from ...server.workbench.models import make_models
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
    name = getattr(options, "provider", "") or models.default_provider
    if options.what == "set":
        return asyncio.run(_set(models, name, options.url, _read()))
    if options.what == "delete":
        return asyncio.run(_delete(models, name))
    for one in models.connections():
        if one.connected or one.provider == name:
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


async def _set(models: Models, name: str, url: str, key: str) -> int:
    try:
        keyless = models.described(name).keyless
        if not key and not keyless:
            raise Problem("There was no key on the terminal or standard input.", USAGE)
        await models.connect(name, key, url)
    except CodeInterpError as error:
        raise Problem(f"The key is not kept. {error.message}", FAILED) from None
    finally:
        await models.close()
    now = models.described(name)
    if now.note:
        print(line(now.note), file=sys.stderr)
    place = line(now.origin.partition("://")[2])
    print(f"The key works at {place} and is kept. {AGAIN}")
    return DONE


async def _delete(models: Models, name: str) -> int:
    try:
        had = models.described(name).source in ("file", "keyring")
        await models.forget(name)
    except CodeInterpError as error:
        raise Problem(f"The key is not deleted. {error.message}", FAILED) from None
    left = models.described(name)
    if left.note:
        print(line(left.note), file=sys.stderr)
    print(f"The kept key is deleted. {AGAIN}" if had else "No key was kept.")
    if left.source == "env":
        print(f"{left.label}: {came_from(left)}")
    return DONE


def came_from(one: Described) -> str:
    """In words; never the key itself."""
    host = line(one.origin.partition("://")[2])
    if not one.connected:
        return "no key"
    if one.source == "env":
        return f"a key from {one.variable}, for {host}"
    if one.source == "keyring":
        return f"a key in this computer's keyring, for {host}"
    return f"a kept key, for {host}" if one.source == "file" else f"no key, for {host}"
