"""``mcp``: connects an outside agent to a running server; makes, lists and revokes tokens.

A token comes from the environment, never from an argument, which other users could read.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
import urllib.error
import urllib.request
from datetime import datetime
from typing import TYPE_CHECKING

from ...app import config as config_files
from ...base.private_file import PATIENT
from ...base.visible import visible_line
from ...cli.local.problems import DONE, USAGE, Problem
from .tokens import Tokens

if TYPE_CHECKING:
    import argparse

    from ...cli.terminal.stopping import Stopping


TOKEN = "CODEINTERP_MCP_TOKEN"
API = "codeinterp/api/mcp"
TIMEOUT, LOADING_TIME = 3.0, 120.0
"""Seconds for a server to answer, and for one that may have to load MCP first."""
NO_TOKEN = f"Set {TOKEN} to a token. To make one: jupyter codeinterp mcp make NAME"
NO_SERVER = "No running Jupyter server of yours accepts the token. Start one, or give its --url."
NOT_INSTALLED = "A package is missing: pip install 'jupyter_codeinterp[mcp]'"


def mcp(options: argparse.Namespace, stopping: Stopping) -> int:
    if options.what == "serve":
        return _serve(options.url)
    tokens = Tokens(config_files.settings(config_files.load()).folder, PATIENT)
    if options.what == "make":
        maker = {"username": getpass.getuser()}
        token, secret = tokens.make(options.name, "run" if options.run else "look", maker)
        may = "read notebooks, write and run" if options.run else "read notebooks"
        print(f"Token {token.id} for {token.name}, which may {may}. Keep it: {secret}")
    elif options.what == "revoke":
        token = tokens.revoke(options.id)
        print(f"Revoked the token for {visible_line(token.name)}.")
    else:
        for token in tokens.all():
            made = datetime.fromtimestamp(token.made)
            print(f"{token.id}  {token.scope:4}  {made:%Y-%m-%d}  {visible_line(token.name)}")
    return DONE


def _serve(url: str) -> int:
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise Problem(NO_TOKEN, USAGE)
    try:
        from .bridge import bridge
    except ImportError:
        raise Problem(NOT_INSTALLED, USAGE) from None
    address = f"{url.rstrip('/')}/{API}" if url else _found(token)
    asyncio.run(bridge(address, token))
    return DONE


def _found(token: str) -> str:
    """The address of a running server that knows the token. Raises Problem."""
    from jupyter_server.serverapp import list_running_servers  # imports a whole server

    addresses = [f"{info['url']}{API}" for info in list_running_servers(log=None)]
    answers = {address: _accepts(address, token, TIMEOUT) for address in addresses}
    for address, accepts in sorted(answers.items(), key=lambda one: one[1] is None):
        if accepts is None:
            words = f"Waiting for {address.removesuffix(API)}, which may be loading MCP."
            print(words, file=sys.stderr, flush=True)
            accepts = _accepts(address, token, LOADING_TIME)
        if accepts:
            return address
    raise Problem(NO_SERVER)


def _accepts(address: str, token: str, timeout: float) -> bool | None:
    """Whether the server knows the token; None if it did not answer in time."""
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(address, data=b"", headers=headers)
    try:
        urllib.request.urlopen(request, timeout=timeout).close()
    except urllib.error.HTTPError as error:
        # With a good token, the server refuses the empty message with another status.
        return error.code not in (401, 403, 404)
    except TimeoutError:
        return None
    except (OSError, ValueError):
        return False
    return True
