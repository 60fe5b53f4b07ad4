"""Another agent as a client: an MCP server whose calls pass the same review as the agent's own.

handlers.py      HTTP: the protocol's address, and REST for the token
protocol.py      a client's tools and the protocol, by the package ``mcp``
service.py       the client's token, and its calls
conversation.py  a client's work in one notebook, as turns of a conversation
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
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
