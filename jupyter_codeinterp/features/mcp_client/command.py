"""``mcp servers``, ``approve``, ``off`` and ``pick``: the MCP servers that the agent may use.

They start no server. A running Jupyter server sees the change at its next check.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from ...app import config as config_files
from ...cli.local.problems import DONE, USAGE, Problem
from ...view.redaction.secrets import Secrets
from .servers import ShownServer, ToolServers

if TYPE_CHECKING:
    import argparse

    from ...cli.terminal.stopping import Stopping

SHORT = 24
"""ShownServer characters of an id; too many to forge another entry with the same ones."""
NONE = "No MCP servers. They come from .codeinterp/mcp.json in the notebook's folder or above."
STATES = {"asks": "waits for your approval", "stopped": "approved"}


def mcp(options: argparse.Namespace, stopping: Stopping) -> int:
    notebook = Path(options.notebook).resolve()
    # The whole disk is the root: files above the notebook count, as they do for a server.
    root = Path(notebook.anchor)
    return asyncio.run(_carry_out(options, root, notebook.relative_to(root).as_posix()))


async def _carry_out(options: argparse.Namespace, root: Path, notebook: str) -> int:
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    settings = config_files.settings(config_files.load())
    secrets = Secrets()
    contents = AsyncLargeFileManager(root_dir=str(root), allow_hidden=True)
    servers = ToolServers.of(settings, contents, secrets, secrets.scrub)
    found, faults = await servers.shown(notebook)
    if options.what == "servers":
        for fault in faults:
            print(fault)
        for one in found:
            _print(one)
        if not found and not faults:
            print(NONE)
        return DONE
    one = _the_one(found, options.id)
    if options.what == "approve":
        await servers.allow(notebook, one.id)
        _print(one)
        print(f"Approved {one.name}. It starts with the next conversation.")
    elif options.what == "off":
        await servers.turn_off(notebook, one.id)
        print(f"{one.name} is off. A running Jupyter server ends it at its next check.")
    else:
        await servers.pick(notebook, one.id, tuple(options.tool) or None)
        print(f"New conversations get these tools of {one.name}.")
    return DONE


def _print(one: ShownServer) -> None:
    state = STATES.get(one.state, one.state)
    print(f"{one.id[:SHORT]}  {one.name}  {one.place}  {state}{f': {one.why}' if one.why else ''}")
    for line in one.lines:
        print(f"    {line}")


def _the_one(found: list[ShownServer], short: str) -> ShownServer:
    """Raises Problem."""
    matching = [one for one in found if len(short) >= SHORT and one.id.startswith(short)]
    if len(matching) != 1:
        words = f"No server here has the id {short!r}. See: jupyter codeinterp mcp servers"
        raise Problem(words, USAGE)
    return matching[0]
