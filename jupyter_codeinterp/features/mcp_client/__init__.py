"""Tools of MCP servers for the agent. A person approves each server, and decides on each call.

entries.py   entries of the admin and of the person's file
servers.py   approvals and states of servers, and their tools for conversations
live.py      one approved server: starts on demand
client.py    a connection, by the package ``mcp``
guard.py     the process between us and a program: bounds, and its end
tools.py     checks a server's tools and their schemas, and chooses those that the agent is offered
tool.py      a call: its card, its decision, its result
handlers.py  REST for the panel
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...extensions import Routes
    from ...run.turn.workplace import MoreTools
    from ...view.untrusted import Untrusted


def register(bench: Workbench) -> None:
    from .servers import ToolServers

    servers = ToolServers(bench.settings, bench.secrets, bench.scrub)

    async def tools(untrusted: Untrusted) -> MoreTools:
        from ...run.turn.workplace import MoreTools  # not at the server's start
        from .tool import tools_of

        found, notes, complete = await servers.tools()
        made, faults = tools_of(servers, found, untrusted)
        return MoreTools(tuple(made), (*notes, *faults), complete)

    def routes() -> Routes:
        from .handlers import ROUTES  # imports a web server

        return ROUTES

    bench.features.tools.append(tools)
    bench.features.handler_settings["codeinterp_tool_servers"] = servers
    bench.features.routes.append(routes)
    bench.features.closing.append(servers)
