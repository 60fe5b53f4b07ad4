"""Write docs/openapi.json from the handlers and the types of their bodies, and src/protocol/rest.ts
from the types that the panel uses (``--check``: fail if one is out of date)."""

from __future__ import annotations

import argparse
import inspect
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from jupyter_codeinterp.app.notebooks.names import Nameable
from jupyter_codeinterp.extensions import Route as Served
from jupyter_codeinterp.features.completion import handlers as completions
from jupyter_codeinterp.features.mcp_client.servers import ROUTES as TOOL_SERVER_ROUTES
from jupyter_codeinterp.features.mcp_client.servers import SERVER, ShownServer, Wish
from jupyter_codeinterp.features.mcp_server.handlers import ROUTES as TOKEN_ROUTES
from jupyter_codeinterp.features.mcp_server.handlers import AgentToken
from jupyter_codeinterp.features.tables.handlers import ROUTES as TABLE_ROUTES
from jupyter_codeinterp.features.tables.shapes import Head, Page, TableAnswer, TableAsked
from jupyter_codeinterp.journal.changes import Review, Reviewed
from jupyter_codeinterp.models.anthropic.services import LocalServer
from jupyter_codeinterp.models.offered import Described
from jupyter_codeinterp.models.offered.registry import LocalServers
from jupyter_codeinterp.run.verify import verification
from jupyter_codeinterp.server.rest import notebooks, routes
from jupyter_codeinterp.server.rest.settings import Status
from jupyter_codeinterp.server.socket.handler import ChannelHandler
from jupyter_codeinterp.session.server.service import Taken
from jupyter_codeinterp.session.waiting_files import WaitingList, WaitingText
from jupyter_codeinterp.wire import events
from jupyter_codeinterp.wire.commands import LOOK, SessionCommand, SessionInfo
from jupyter_codeinterp.wire.ports import ModelInfo, WaitingFile

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "/codeinterp/api/"
HEADER = "X-Codeinterp-Window"


class Title(msgspec.Struct):
    title: str


class Secret(msgspec.Struct):
    """The secret of the window that reconnects."""

    secret: str = ""


class Ticket(msgspec.Struct):
    ticket: str
    secret: str


class Client(msgspec.Struct):
    """Send ``secret`` with each later request as ``X-Codeinterp-Window``."""

    client: int
    secret: str


class Key(msgspec.Struct):
    """``base_url`` "": the known address. ``model`` becomes the default."""

    key: str = ""
    base_url: str = ""
    model: str = ""


class Connections(msgspec.Struct):
    connections: list[Described]


class ToolServersFound(msgspec.Struct):
    """``faults``: what is wrong with files."""

    servers: list[ShownServer]
    faults: list[str]


class Tried(msgspec.Struct):
    connection: Described


class Connected(msgspec.Struct):
    connection: Described
    status: Status


class NotebookAsked(msgspec.Struct):
    notebook: str = ""


class DemoCopied(msgspec.Struct):
    notebook: str
    model: str


class Found(msgspec.Struct):
    sessions: list[SessionInfo]


class Models(msgspec.Struct):
    models: list[ModelInfo]


class Numbered(msgspec.Struct):
    seq: int
    event: events.Event


class Events(msgspec.Struct):
    events: list[Numbered]


class Error(msgspec.Struct):
    """An error of this extension. ``code`` is for programs, ``message`` for people."""

    code: str
    message: str


class Route(NamedTuple):
    """``answer`` None: no body; ``dict``: an object with any fields. ``status`` 0: the route's
    own."""

    about: str
    body: Any = None
    answer: Any = None
    status: int = 0
    query: tuple[str, ...] = ()


PARTS = {
    "([0-9a-f]{32})": "session_id",
    "([0-9]{1,15})": "number",
    routes.PROVIDER: "provider",
    SERVER: "server",
}
"""Patterns in the handlers' addresses, and their names."""
ROUTES = {
    "GET status": Route("The server's configuration.", answer=Status),
    "GET models": Route("The models to choose from.", answer=Models),
    "GET local": Route("Model servers found on this machine.", answer=LocalServers),
    "GET connections": Route(
        "All providers and their connections, without keys.", answer=Connections
    ),
    "POST connections/{provider}": Route(
        "Test a key, an address or both, and save them.", Key, Connected
    ),
    "DELETE connections/{provider}": Route("Delete the entered connection.", None, Connected),
    "POST connections/{provider}/test": Route(
        "Test the saved connection by listing its models.", None, Tried
    ),
    "POST complete": Route(
        "A completion at the cursor of a cell. A client's new request ends its previous one.",
        completions.Completion,
        completions.Completed,
    ),
    "POST demo": Route("Copy the offline demo.", NotebookAsked, DemoCopied),
    "GET names": Route(
        "Names that a message about a notebook can mention: files, and variables without values. "
        "With `columns_of`, only this variable, with all its columns.",
        answer=Nameable,
        query=("notebook", "columns_of"),
    ),
    "GET skills": Route(
        "The person's skills for a notebook, from files in its folder and above it.",
        answer=notebooks.ListedSkills,
        query=("notebook",),
    ),
    "POST tables": Route(
        "A page of a table.",
        TableAsked,
        TableAnswer,
    ),
    "GET verifications": Route(
        "The latest verification of a notebook. With `seen`, a version, the answer waits for "
        "another version.",
        answer=notebooks.Verified,
        query=("notebook", "seen"),
    ),
    "POST verifications": Route(
        "Run the notebook's file in a fresh kernel and compare its outputs.",
        notebooks.Asked,
        notebooks.Verified,
    ),
    "DELETE verifications": Route(
        "Cancel the running verification.", answer=notebooks.Verified, query=("notebook",)
    ),
    "GET mcp/token": Route("When the token of other agents was made.", answer=AgentToken),
    "POST mcp/token": Route(
        "Make the token, in place of an earlier one. Only this answer has its secret.",
        answer=AgentToken,
        status=201,
    ),
    "DELETE mcp/token": Route("Revoke the token.", status=204),
    "GET tool-servers": Route(
        "The MCP servers of the person's file. Starts none.",
        answer=ToolServersFound,
    ),
    "PATCH tool-servers/{server}": Route(
        "Approve the server with exactly this entry, or withdraw that and stop it.",
        Wish,
        ToolServersFound,
    ),
    "POST tickets": Route("Get a ticket for a window's WebSocket.", Secret, Ticket),
    "POST clients": Route("Register a client without a WebSocket.", None, Client),
    "GET sessions": Route(
        "Conversations, newest first; with `q`, those whose title contains a word.",
        answer=Found,
        query=("notebook", "q"),
    ),
    "POST command": Route(
        "Carry out any command to a conversation, as over the WebSocket. A client without a "
        "notebook can add fields. A message without `session_id` begins a conversation. The "
        "command's own permissions are needed, too.",
        SessionCommand,
        Taken,
    ),
    "PATCH sessions/{session_id}": Route("Rename a conversation.", Title, SessionInfo),
    "DELETE sessions/{session_id}": Route("Stop and delete a conversation.", status=204),
    "GET sessions/{session_id}/events": Route(
        "Events after number `after`.",
        answer=Events,
        query=("after",),
    ),
    "GET sessions/{session_id}/export": Route(
        "The conversation as Markdown.",
    ),
    "GET sessions/{session_id}/sent/{number}": Route(
        "The request to the model in a step.", answer=dict
    ),
    "GET sessions/{session_id}/files": Route(
        "Files that wait in a sandboxed kernel's overlay.", answer=WaitingList
    ),
    "GET sessions/{session_id}/files/text": Route(
        "The beginning of a waiting file.", answer=WaitingText, query=("path",)
    ),
    "GET sessions/{session_id}/turns/{number}/changes": Route(
        "A turn's changes, cell by cell.", answer=Review
    ),
    "GET channel": Route("A window's WebSocket; needs a ticket.", status=101, query=("ticket",)),
}


def named(pattern: str) -> str:
    """The address with names in place of patterns."""
    for group, name in PARTS.items():
        pattern = pattern.replace(group, f"{{{name}}}")
    return pattern


def served() -> dict[str, Served]:
    """All routes by method and address, with their permissions."""
    found = {
        f"{one.method} {named(one.path)}": one
        for one in (
            *routes.ROUTES,
            *completions.ROUTES,
            *TABLE_ROUTES,
            *TOKEN_ROUTES,
            *TOOL_SERVER_ROUTES,
        )
        if isinstance(one, Served)
    }
    found["GET channel"] = Served("GET", "channel", (LOOK,), ChannelHandler.get)
    return found


def document() -> str:
    found = served()
    if found.keys() != ROUTES.keys():
        raise SystemExit(f"Routes and their description differ: {found.keys() ^ ROUTES.keys()}")
    kinds = {one for r in ROUTES.values() for one in (r.body, r.answer) if one not in (None, dict)}
    ordered = sorted([*kinds, Error], key=lambda kind: str(getattr(kind, "__name__", "")))
    schemas, components = msgspec.json.schema_components(
        ordered,
        ref_template="#/components/schemas/{name}",
        schema_hook=lambda _: {"type": "string"},
    )
    known = dict(zip(ordered, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for key, route in ROUTES.items():
        method, path = key.split(" ")
        operation = _operation(path, route, known, found[key])
        paths.setdefault(PREFIX + path, {})[method.lower()] = operation
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "jupyter_codeinterp", "version": "1"},
        "paths": paths,
        "components": {"schemas": components},
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _operation(path: str, route: Route, known: dict[Any, Any], served: Served) -> dict[str, Any]:
    needs_window = served.method != "GET" and served.needs_window
    needs = ", ".join(map(" ".join, served.needs))
    places = [("path", name, name != "number") for name in PARTS.values() if f"{{{name}}}" in path]
    places += [("query", name, True) for name in route.query]
    places += [("header", HEADER, True)] if needs_window else []
    parameters = [
        {
            "name": name,
            "in": place,
            **({} if place == "query" else {"required": True}),
            "schema": {"type": "string" if is_text else "integer"},
        }
        for place, name, is_text in places
    ]
    good: dict[str, Any] = {"description": "As asked."}
    if route.answer is not None:
        schema = {"type": "object"} if route.answer is dict else known[route.answer]
        good["content"] = {"application/json": {"schema": schema}}
    operation: dict[str, Any] = {
        "summary": route.about,
        "description": f"Needs permission to: {needs}.",
        "parameters": parameters,
        "responses": {
            str(route.status or int(served.status)): good,
            "default": {
                "description": "A description of the error.",
                "content": {"application/json": {"schema": known[Error]}},
            },
        },
    }
    if route.body is not None:
        operation["requestBody"] = {"content": {"application/json": {"schema": known[route.body]}}}
    return operation


REQUESTS: dict[type[msgspec.Struct], str] = {
    Key: "ICredentials",
    Wish: "IToolServerWish",
    completions.Completion: "IUnfinished",
    TableAsked: "ITableAsked",
}
ANSWERS: dict[type[msgspec.Struct], str] = {
    Status: "IStatus",
    Connected: "IConnected",
    Described: "IConnection",
    LocalServers: "ILocalServers",
    LocalServer: "ILocalServer",
    ModelInfo: "IModelInfo",
    AgentToken: "IAgentToken",
    ToolServersFound: "IToolServers",
    ShownServer: "IToolServer",
    Review: "IReview",
    Reviewed: "IChange",
    WaitingList: "IWaitingList",
    WaitingText: "IWaitingText",
    WaitingFile: "IWaitingFile",
    Nameable: "INames",
    notebooks.ListedSkills: "ISkills",
    notebooks.ListedSkill: "ISkill",
    TableAnswer: "ITableAnswer",
    Page: "ITablePage",
    Head: "ITableHead",
    verification.Verification: "IVerification",
    verification.CellLine: "IVerifiedCell",
}
TYPES_HEADER = """\
/* Made by scripts/openapi.py from the Python types. Do not edit. */
import type { TurnStarted } from './protocol';

export type Mode = TurnStarted['mode'];
/** The request to the model in one step. */
export type SentRequest = Record<string, unknown>;
/** A column's number, the comparison, and what to compare with. */
export type TableFilter = NonNullable<ITableAsked['filters']>[number];
export type TableOp = TableFilter[1];
"""


def types() -> str:
    """TypeScript of the requests and answers that the panel uses. A request may leave out what
    has a default, an answer only if its type says so."""
    kinds = {**REQUESTS, **ANSWERS}
    references, components = msgspec.json.schema_components(
        kinds, ref_template="{name}", schema_hook=lambda _: {"type": "string"}
    )
    named = {ref["$ref"]: name for ref, name in zip(references, kinds.values(), strict=True)}
    written = [TYPES_HEADER]
    for (ref, name), kind in zip(named.items(), kinds, strict=True):
        partial = kind in REQUESTS or kind.__struct_config__.omit_defaults
        schema = components[ref]
        about = inspect.cleandoc(schema.get("description", ""))
        lines = ["/**", *(f" * {line}".rstrip() for line in about.splitlines()), " */"]
        must = schema["required"] if partial else schema["properties"]
        fields = [
            f"  readonly {field}{'' if field in must else '?'}: {_type(one, components, named)};"
            for field, one in schema["properties"].items()
        ]
        top = ["", *(lines if about else ()), f"export interface {name} {{"]
        written.append("\n".join([*top, *fields, "}", ""]))
    return "".join(written)


def _type(schema: dict[str, Any], components: dict[str, Any], named: dict[str, str]) -> str:
    def inner(one: dict[str, Any]) -> str:
        return _type(one, components, named)

    if "$ref" in schema:
        return named.get(schema["$ref"]) or inner(components[schema["$ref"]])
    if "anyOf" in schema:
        return " | ".join(map(inner, schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(map(repr, schema["enum"]))
    if "prefixItems" in schema:
        return f"readonly [{', '.join(map(inner, schema['prefixItems']))}]"
    if schema["type"] == "array":
        item = inner(schema["items"])
        return f"readonly ({item})[]" if " " in item else f"readonly {item}[]"
    if "properties" in schema:
        fields = [f"readonly {name}: {inner(one)}" for name, one in schema["properties"].items()]
        return f"{{ {'; '.join(fields)} }}"
    simple = {"integer": "number", "object": "Record<string, unknown>"}
    kind: str = schema["type"]
    return simple.get(kind, kind)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    made = {"docs/openapi.json": document(), "src/protocol/rest.ts": types()}
    stale = [name for name, text in made.items() if (ROOT / name).read_text("utf-8") != text]
    for name in stale:
        if check:
            print(f"Out of date: {name}; run python scripts/openapi.py", file=sys.stderr)
        else:
            (ROOT / name).write_text(made[name], "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
