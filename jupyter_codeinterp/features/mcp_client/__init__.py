"""Tools of MCP servers for the agent. A person approves each server, and decides on each call.

entries.py   entries of the admin and of the person's file
servers.py   approvals of servers, and their tools for conversations
server.py    one approved server: starts on demand
helper.py    the process that speaks with it, by the package ``mcp``
tools.py     reads the tools that a server lists
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
        from .tool import tool_for

        found, notes = await servers.tools()
        return MoreTools(tuple(tool_for(servers, one, untrusted) for one in found), tuple(notes))

    def routes() -> Routes:
        from .handlers import ROUTES  # imports a web server

        return ROUTES

    bench.features.tools.append(tools)
    bench.features.handler_settings["codeinterp_tool_servers"] = servers
    bench.features.routes.append(routes)
    bench.features.closing.append(servers)
