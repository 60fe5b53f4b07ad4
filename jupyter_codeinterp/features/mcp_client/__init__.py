"""Tools of MCP servers for the agent. A person approves each server, and decides on each call.

entries.py   entries of configuration files
servers.py   approvals and states of servers, and their tools for conversations
live.py      one approved server: starts on demand, restarts once
client.py    a connection, by the package ``mcp``
guard.py     the process between us and a program: bounds, and its end
listing.py   checks a list of tools, and chooses those that the agent is offered
schemas.py   checks the schema of a tool's input
tool.py      a call: its card, its decision, its result
handlers.py  REST for the panel
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...extensions import Routes
    from ...run.turn.workplace import MoreTools
    from ...view.untrusted import Untrusted


def register(bench: Workbench) -> None:
    from .servers import ToolServers

    servers = ToolServers(bench.settings, bench.contents, bench.secrets, bench.scrub)

    async def tools(
        session_id: str, notebook: str, untrusted: Untrusted, contents: Any
    ) -> MoreTools:
        from ...run.turn.workplace import MoreTools  # not at the server's start
        from .tool import tools_of

        found, notes = await servers.for_session(session_id, notebook, contents)
        made, faults = tools_of(found, untrusted)
        return MoreTools(tuple(made), (*notes, *faults), found.complete)

    def routes() -> Routes:
        from .handlers import ROUTES  # imports a web server

        return ROUTES

    bench.features.tools.append(tools)
    bench.features.handler_settings["codeinterp_tool_servers"] = servers
    bench.features.routes.append(routes)
    bench.features.closing.append(servers)
