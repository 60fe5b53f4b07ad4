"""Other agents as clients: an MCP server whose calls pass the same review as the agent's own.

tokens.py        the clients' tokens
handlers.py      HTTP: the protocol's address, and REST for tokens
protocol.py      the sessions of a token, by the package ``mcp``
service.py       carries out calls, with the rights of their tokens
tools.py         the tools for clients
conversation.py  a client's work in one notebook, as turns of a conversation
command.py       ``jupyter codeinterp mcp``
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...cli.arguments import Commands
    from ...extensions import Routes
    from .service import ClientService

MODELS = "mcp/"
"""Beginning of the names of models that stand for clients."""


def register(bench: Workbench) -> None:
    @cache
    def service() -> ClientService:
        from .service import ClientService  # not at the server's start

        made = ClientService(bench)
        bench.features.closing.append(made)
        return made

    def routes() -> Routes:
        from .handlers import ROUTES  # imports a web server

        bench.features.handler_settings["codeinterp_mcp"] = service()
        return ROUTES

    bench.features.models[MODELS] = lambda name: service().model(name)
    bench.features.routes.append(routes)


def commands(commands: Commands) -> None:
    words = "make, list and revoke tokens for other agents"
    making = commands.part("mcp", words, "make", "make a token for an agent and print it, once")
    making.add_argument("name", metavar="NAME", help="the agent's name, for you")
    making.add_argument(
        "--run",
        action="store_true",
        help="let it change notebooks and run code, which you review (default: only read)",
    )
    commands.part("mcp", words, "list", "list the tokens, without their secrets")
    revoking = commands.part("mcp", words, "revoke", "revoke a token; it ends at once")
    revoking.add_argument("id", metavar="ID", help="the token's id, as in list")
