"""An MCP server of the tests' own, in plain Python: it starts quickly, and does what no package
would let it do. ``python tests/tool_server.py HOW…`` says how it behaves.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

PLAIN = {"type": "object", "properties": {"text": {"type": "string"}}}
WRITING = threading.Lock()


def send(message: dict[str, Any]) -> None:
    with WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tool(name: str, schema: Any = None, description: Any = "") -> dict[str, Any]:
    schema = PLAIN if schema is None else schema
    return {"name": name, "description": description or f"Does {name}.", "inputSchema": schema}


class Server:
    def __init__(self, how: list[str]) -> None:
        self.how = how
        self.log = next((Path(one[4:]) for one in how if one.startswith("log=")), None)
        self.lists = 0

    def note(self, words: str) -> None:
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(f"{words}\n")

    def tools(self) -> list[dict[str, Any]]:
        self.lists += 1
        for one in self.how:
            if one.startswith("names="):
                return [tool(name) for name in one[6:].split(",")]
        if "many" in self.how:
            return [tool(f"tool_{number:03}") for number in range(128)]
        if "lies" in self.how:
            return [
                tool("good"),
                tool("remote", {"type": "object", "properties": {"a": {"$ref": "http://x/y"}}}),
                tool("big", {"type": "object", "properties": {"a": {"enum": ["x" * 9_000]}}}),
                tool("odd", {"type": "object", "properties": {"a b": {}}}),
                tool("kind", {"type": "object", "properties": {"a": {"type": "everything"}}}),
                tool("n" * 300),
                tool("good"),
            ]
        if "no_object" in self.how:
            return [tool("good"), tool("no_object", {"type": "string"})]
        found = [tool(name) for name in ("echo", "hang", "die", "flood", "long", "image", "env")]
        if "changes" in self.how and self.lists > 1:
            found[0]["description"] = f"Does something else ({self.lists})."
        return found

    def answer(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if method == "notifications/cancelled":
            self.note(f"cancelled {params.get('requestId')}")
        if number is None:
            return
        if "silent" in self.how:
            return
        if method == "initialize":
            version = params["protocolVersion"]
            about = {"name": "test", "version": "1"}
            told = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            send({"id": number, "result": told})
        elif method == "tools/list":
            result: Any = {"tools": self.tools()} if "garbled" not in self.how else {"tools": "no"}
            send({"id": number, "result": result})
        elif method == "tools/call":
            self.call(number, params["name"], params.get("arguments") or {})
        else:
            send({"id": number, "error": {"code": -32601, "message": f"No method {method}"}})

    def call(self, number: Any, name: str, given: dict[str, Any]) -> None:
        self.note(f"call {name} {number}")
        if name == "hang":
            return
        if name == "die":
            print(given.get("text", ""), file=sys.stderr, flush=True)
            os._exit(3)
        if name == "flood":
            while True:
                send({"method": "notifications/message", "params": {"level": "info", "data": "x"}})
        if name == "long":
            with WRITING:
                while True:
                    sys.stdout.write("x" * 1_000_000)
        content: list[Any] = [{"type": "text", "text": str(given.get("text", ""))}]
        if name == "env":
            content = [{"type": "text", "text": json.dumps(dict(os.environ))}]
        if "parts" in self.how:
            content *= 200_000
        if "values" in self.how:
            content = [{"type": "text", "text": "x", "_meta": {"a": [1] * 200_000}}]
        if name == "error":
            send({"id": number, "error": {"code": -32000, "message": given.get("text", "Broken")}})
            return
        send({"id": number, "result": {"content": content}})


def main(how: list[str]) -> None:
    server = Server(how)
    server.note(f"start {os.getpid()}")
    if "no_start" in how:
        sys.exit("Not today: no_start")
    print("This line is no message.", flush=True)
    for one in how:
        if one.startswith("says="):
            print(one[5:], flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        threading.Thread(target=server.answer, args=(message,), daemon=True).start()
    if "stays" in how:
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1:])
