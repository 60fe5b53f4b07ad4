"""Tools of MCP servers for the agent. A person approves each server, and decides on each call.

entries.py   entries of the admin and of the person's file
servers.py   approvals of servers, their tools for conversations, REST for the panel
server.py    one approved server: starts on demand; its tools
helper.py    the process that speaks with it, by the package ``mcp``
tool.py      a call: its card, its decision, its result
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...run.turn.workplace import MoreTools
    from ...view.untrusted import Untrusted


def register(bench: Workbench) -> None:
    from .servers import ROUTES, ToolServers

    servers = ToolServers(bench.settings, bench.secrets, bench.scrub)

    async def tools(untrusted: Untrusted) -> MoreTools:
        from ...run.turn.workplace import MoreTools  # not at the server's start
        from .tool import tool_for

        found, notes = await servers.tools()
        made = (tool_for(servers, name, tool, untrusted) for name, tool in found.items())
        return MoreTools(tuple(made), tuple(notes))

    bench.features.tools.append(tools)
    bench.features.handler_settings["codeinterp_tool_servers"] = servers
    bench.features.routes.append(lambda: ROUTES)
    bench.features.closing.append(servers)
