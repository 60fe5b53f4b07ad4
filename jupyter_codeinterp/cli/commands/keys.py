"""``key``: sets, deletes and lists providers' keys, by the same rules as the panel.

A key is never shown, and never an argument, which other users of the machine could read.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import sys

from ...app import config as config_files
from ...base.errors import CodeInterpError
from ...base.visible import visible_line
from ...models.offered import Described, Models
from ...view.redaction.secrets import Secrets
from ..local.problems import DONE, FAILED, USAGE, Problem
from ..terminal.stopping import Stopping

MAX_LINE = 10_000
"""Characters read from standard input."""
AGAIN = "A running server picks this up after a restart."


def key(options: argparse.Namespace, stopping: Stopping) -> int:
    settings = config_files.settings(config_files.load())
    models = settings.make_models(Secrets())
    name = getattr(options, "provider", "") or models.default_provider
    if options.what == "set":
        return asyncio.run(_set(models, name, options.url, _read()))
    if options.what == "delete":
        return asyncio.run(_delete(models, name))
    for one in models.connections():
        if one.connected or one.provider == name:
            print(f"{one.label}: {key_source(one)}")
    return DONE


def _read() -> str:
    """Read the key from the person, without echo, or from the first line of standard input."""
    if sys.stdin.isatty():
        try:
            return getpass.getpass("Key (not shown): ").strip()
        except EOFError:
            return ""
    return sys.stdin.readline(MAX_LINE).strip()


async def _set(models: Models, name: str, url: str, key: str) -> int:
    try:
        keyless = models.described(name).keyless
        if not key and not keyless:
            raise Problem("No key was entered.", USAGE)
        await models.connect(name, key, url)
    except CodeInterpError as error:
        raise Problem(f"Key not saved. {error.message}", FAILED) from None
    finally:
        await models.close()
    place = visible_line(models.described(name).origin.partition("://")[2])
    print(f"The key works at {place}. Saved. {AGAIN}")
    return DONE


async def _delete(models: Models, name: str) -> int:
    try:
        had = models.described(name).entered
        models.forget(name)
    except CodeInterpError as error:
        raise Problem(f"Key not deleted. {error.message}", FAILED) from None
    left = models.described(name)
    print(f"Key deleted. {AGAIN}" if had else "No saved key.")
    if left.source == "env":
        print(f"{left.label}: {key_source(left)}")
    return DONE


def key_source(one: Described) -> str:
    """The source of a key, in words."""
    host = visible_line(one.origin.partition("://")[2])
    if not one.connected:
        return "no key"
    if one.source == "env":
        return f"a key from {one.variable}, for {host}"
    return f"a saved key, for {host}" if one.source == "file" else f"no key, for {host}"
