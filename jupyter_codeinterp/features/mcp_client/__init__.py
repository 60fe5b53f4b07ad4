"""Tools of MCP servers for the agent. A person approves each server, and decides on each call.

entries.py   entries of the admin and of the person's file
servers.py   approvals, programs of servers, and REST for the panel
tool.py      a tool that a server lists; a call: its card, its decision, its result
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...extensions import Routes
    from ...run.turn.workplace import MoreTools
    from ...view.untrusted import Untrusted
    from .servers import ToolServers


def register(bench: Workbench) -> None:
    @cache
    def servers() -> ToolServers:
        from .servers import ToolServers  # not at the server's start

        made = ToolServers(bench.settings, bench.secrets, bench.scrub)
        bench.features.closing.append(made)
        return made

    async def tools(untrusted: Untrusted) -> MoreTools:
        return await servers().tools_for(untrusted)

    def routes() -> Routes:
        from .servers import ROUTES

        bench.features.handler_settings["codeinterp_tool_servers"] = servers()
        return ROUTES

    bench.features.tools.append(tools)
    bench.features.routes.append(routes)
