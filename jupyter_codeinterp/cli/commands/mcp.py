"""``mcp``: makes, lists and revokes the tokens of outside agents."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ...core.visible import visible_line
from ...server.mcp.tokens import Tokens
from ...server.workbench import config as config_files
from ..local.problems import DONE

if TYPE_CHECKING:
    import argparse

    from ..terminal.stopping import Stopping


def mcp(options: argparse.Namespace, stopping: Stopping) -> int:
    tokens = Tokens(config_files.settings(config_files.load()).folder)
    if options.what == "make":
        token, secret = tokens.make(options.name, "run" if options.run else "look")
        print(f"Token {token.id} for {token.name}, which may {token.scope}. Keep it: {secret}")
    elif options.what == "revoke":
        token = tokens.revoke(options.id)
        print(f"Revoked the token for {visible_line(token.name)}.")
    else:
        for token in tokens.all():
            made = datetime.fromtimestamp(token.made)
            print(f"{token.id}  {token.scope:4}  {made:%Y-%m-%d}  {visible_line(token.name)}")
    return DONE
