"""Tools of MCP servers for the agent. A person approves each server, and decides on each call.

entries.py   entries of configuration files
places.py    the files that name servers for a notebook
servers.py   approvals and states of servers, and their tools for conversations
live.py      one approved server: starts on demand, restarts once
client.py    a connection, by the package ``mcp``; stdio.py, child.py: to a program
listing.py   checks a list of tools, and chooses those that the agent is offered
schemas.py   checks the schema of a tool's input
tool.py      a call: its card, its decision, its result
handlers.py  REST for the panel
command.py   the parts of ``jupyter codeinterp mcp`` for servers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from ...app.workbench import Workbench
    from ...cli.arguments import Commands
    from ...extensions import Routes
    from ...run.turn.workplace import MoreTools
    from ...view.untrusted import Untrusted

HELP = "let other agents in; choose MCP servers for yours"


def register(bench: Workbench) -> None:
    from .servers import ToolServers

    servers = ToolServers.of(bench.settings, bench.contents, bench.secrets, bench.scrub)

    async def tools(
        session_id: str, notebook: str, untrusted: Untrusted, contents: Any
    ) -> MoreTools:
        from ...run.turn.workplace import MoreTools  # not at the server's start
        from .tool import tools_of

        found, notes = await servers.for_session(session_id, notebook, contents)
        made, faults = tools_of(found, untrusted)
        return MoreTools(tuple(made), (*notes, *faults), found.complete)

    bench.features.tools.append(tools)
    bench.features.handler_settings["codeinterp_tool_servers"] = servers
    bench.features.routes.append(_routes)
    bench.features.closing.append(servers)


def _routes() -> Routes:
    from .handlers import ROUTES  # imports a web server

    return ROUTES


def commands(commands: Commands) -> None:
    def part(name: str, words: str) -> argparse.ArgumentParser:
        made = commands.part("mcp", HELP, name, words)
        if name != "servers":
            made.add_argument("id", metavar="ID", help="the server's id, as in servers")
        made.add_argument(
            "--notebook",
            metavar="NOTEBOOK",
            default="Untitled.ipynb",
            help="the notebook whose .codeinterp/mcp.json counts (default: one in this folder)",
        )
        return made

    part("servers", "list the MCP servers that the agent may use")
    part("approve", "let an MCP server start, as its entry is now")
    part("off", "stop an MCP server, until you approve it again")
    picking = part("pick", "choose the tools of an MCP server")
    picking.add_argument(
        "tool", metavar="TOOL", nargs="*", help="a tool's name (default: as many as fit)"
    )
