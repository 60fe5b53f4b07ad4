"""Write src/protocol/protocol.ts from the Python types, and src/markdown/formula-names.ts from
the names in run/approval/markdown_cells.py (``--check``: fail if one is out of date).

The Python structs of wire/ and wire/ops.py are the only definition of the wire
format; TypeScript gets its types through their JSON Schema.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec

from jupyter_codeinterp.run.approval import markdown_cells
from jupyter_codeinterp.run.turn.notebook import ORDER
from jupyter_codeinterp.view.redaction.found_secrets import KEY_FORMS
from jupyter_codeinterp.wire import commands, events

ROOT = Path(__file__).resolve().parent.parent
HEADER = "/* Made by scripts/protocol.py from the Python %s. Do not edit. */\n"


def string(kind: type) -> dict[str, str]:
    """A sentence reaches the page as a string."""
    return {"type": "string"}


def schema() -> dict[str, Any]:
    """One JSON Schema whose definitions are all frames, commands and events."""
    kinds = [commands.Command, commands.ServerFrame, events.Event]
    _, defs = msgspec.json.schema_components(kinds, schema_hook=string)
    unions = {}
    for name, union in (
        ("Command", commands.Command),
        ("ServerFrame", commands.ServerFrame),
        ("Event", events.Event),
    ):
        (out,), _ = msgspec.json.schema_components([union], schema_hook=string)
        unions[name] = {"anyOf": out["anyOf"]}
    # The server fills in defaults when it sends, so mark all fields that it sends as present.
    incoming = {member.__name__ for member in get_args(commands.Command)}
    for name, definition in defs.items():
        definition["additionalProperties"] = False
        if name not in incoming:
            definition["required"] = list(definition["properties"])
        for prop in definition["properties"].values():
            prop.pop("default", None)
            if prop.get("type") == "object" and "properties" not in prop:
                prop.setdefault("additionalProperties", True)
    text = json.dumps({"title": "Protocol", "definitions": {**defs, **unions}})
    loaded: dict[str, Any] = json.loads(text.replace("#/$defs/", "#/definitions/"))
    return loaded


def protocol() -> str:
    script = (
        "const {compile} = require('json-schema-to-typescript');"
        "let s = ''; process.stdin.on('data', d => s += d).on('end', async () => {"
        "console.log(await compile(JSON.parse(s), 'Protocol', {bannerComment: '',"
        "unreachableDefinitions: true, format: true,"
        "style: {singleQuote: true, trailingComma: 'none', arrowParens: 'avoid'}}))});"
    )
    done = subprocess.run(
        ["node", "-e", script],
        input=json.dumps(schema()),
        capture_output=True,
        text=True,
        cwd=ROOT / "devtools",
        check=True,
    )
    noise = re.compile(r"\n \*\n \* This interface was referenced by [^\n]*\n \* via the [^\n]*\n")
    alone = re.compile(
        r"/\*\*\n \* This interface was referenced by [^\n]*\n \* via the [^\n]*\n \*/\n"
    )
    forms = [form._asdict() for form in KEY_FORMS]
    return (
        HEADER % "types"
        + "/* eslint-disable */\n"
        + re.sub(r"\n \*     ", "\n * ", alone.sub("", noise.sub("\n", done.stdout)))
        + "/** A new cell goes below the first of these that exists. */\n"
        + f"export const PLACE_ORDER = [{', '.join(map(repr, ORDER))}] as const;\n"
        + "/** Formats of keys; see view/redaction/found_secrets.py. */\n"
        + f"export const KEY_FORMS = {json.dumps(forms)} as const;\n"
    )


def formula_names() -> str:
    """The source of formula-names.ts, for the checks of src/markdown/formulas.ts."""

    def words(name: str, values: frozenset[str]) -> str:
        # One string is a third of the size of a list.
        separator = "" if max(map(len, values)) == 1 else " "
        listed = f"{json.dumps(separator.join(sorted(values)))}.split('{separator}')"
        return f"export const {name}: ReadonlySet<string> = new Set({listed});\n"

    return (
        HEADER % "names"
        + f"export const DEEPEST = {markdown_cells.DEEPEST};\n"
        + f"export const LONGEST = {markdown_cells.LONGEST};\n"
        + words("COMMANDS", markdown_cells.COMMANDS)
        + words("ENVIRONMENTS", markdown_cells.ENVIRONMENTS)
        + words("SIGNS", markdown_cells.SIGNS)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    made = {
        "src/protocol/protocol.ts": protocol(),
        "src/markdown/formula-names.ts": formula_names(),
    }
    stale = [name for name, text in made.items() if (ROOT / name).read_text("utf-8") != text]
    for name in stale:
        if check:
            print(f"Out of date: {name}; run python scripts/protocol.py", file=sys.stderr)
        else:
            (ROOT / name).write_text(made[name], "utf-8")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
