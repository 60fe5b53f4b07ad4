"""``mcp``: makes, lists and revokes tokens of outside agents."""

from __future__ import annotations

import getpass
from datetime import datetime
from typing import TYPE_CHECKING

from ...app import config as config_files
from ...base.private_file import PATIENT
from ...base.visible import visible_line
from ...cli.local.problems import DONE
from .tokens import Tokens

if TYPE_CHECKING:
    import argparse

    from ...cli.terminal.stopping import Stopping


def mcp(options: argparse.Namespace, stopping: Stopping) -> int:
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
