"""Other agents as clients: an MCP server whose calls pass the same review as the agent's own.

tokens.py        the clients' tokens
handlers.py      HTTP: the protocol's address, and REST for tokens
endpoint.py      loads the protocol, and runs the sessions of each token
protocol.py      the protocol, by the package ``mcp``
service.py       carries out calls, with the rights of their tokens
conversation.py  a client's work in one notebook, as turns of a conversation
command.py       ``jupyter codeinterp mcp``; bridge.py: its ``serve``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from ...app.workbench import Workbench
    from ...cli.arguments import Commands
    from ...extensions import Routes

HELP = "let other agents in; choose MCP servers for yours"
MODELS = "mcp/"
"""Beginning of the names of models that stand for clients."""


def register(bench: Workbench) -> None:
    from .endpoint import Endpoint

    endpoint = Endpoint.of(bench)
    bench.features.models[MODELS] = endpoint.model
    bench.features.handler_settings["codeinterp_mcp"] = endpoint
    bench.features.routes.append(_routes)
    bench.features.closing.append(endpoint)


def _routes() -> Routes:
    from .handlers import ROUTES  # imports a web server

    return ROUTES


def commands(commands: Commands) -> None:
    def part(name: str, words: str) -> argparse.ArgumentParser:
        return commands.part("mcp", HELP, name, words)

    serving = part("serve", "connect an agent, on standard input and output, to a running server")
    serving.add_argument(
        "--url", metavar="URL", default="", help="the server's address (default: look for it)"
    )
    making = part("make", "make a token for an agent and print it, once")
    making.add_argument("name", metavar="NAME", help="the agent's name, for you")
    making.add_argument(
        "--run",
        action="store_true",
        help="let it change notebooks and run code, which you review (default: only read)",
    )
    part("list", "list the tokens, without their secrets")
    revoking = part("revoke", "revoke a token; it ends at once")
    revoking.add_argument("id", metavar="ID", help="the token's id, as in list")
