"""Tools as MCP servers list them.

All of it is untrusted. A model's API refuses a whole request for one odd schema. So it gets a
schema with the names and simple types of the parameters only, and the model reads the server's own
schema as a part of the description.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ...base.sentences import Sentence
from ...view.injection.signs import signs
from ...view.plain_text import clean, cut

LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request."""
LONGEST_SCHEMA = 8_000
"""Characters of a schema."""
MOST_PARAMETERS = 50
LONGEST_MODEL_NAME = 60
"""Characters of the model's name for a tool. The Messages API allows 64; a number may follow."""
SPEAKS = Sentence("its description or its schema gives the model orders")
TOO_LONG = Sentence("its schema has more than {limit:,} characters", limit=LONGEST_SCHEMA)
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""A parameter's name, as the Messages API allows."""
_TYPES = ("object", "array", "string", "number", "integer", "boolean")
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


class OutsideTool(NamedTuple):
    """A tool as its server describes it. All but ``entry`` is untrusted."""

    entry: str
    """Digest of the server's entry."""
    server: str
    """The server's name in the configuration."""
    tool: str
    """The server's own name for it."""
    description: str
    schema: str
    """JSON with sorted keys."""

    @property
    def name(self) -> str:
        """The model's name for it. Tools of two servers may share it."""
        return _OTHERS.sub("_", f"mcp__{self.server}__{self.tool}")[:LONGEST_MODEL_NAME]

    @property
    def told(self) -> str:
        """The description for the model."""
        described = cut(clean(self.description), LONGEST_DESCRIPTION)
        return f"{described}\nInput schema: {clean(self.schema)}"

    @property
    def fault(self) -> Sentence:
        """Why conversations do not get it; "" if they do."""
        if len(self.schema) > LONGEST_SCHEMA:
            return TOO_LONG
        return SPEAKS if signs(self.told, 1) else Sentence()

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema for the model's API: names of parameters, and their types if simple."""
        given = json.loads(self.schema)
        parts = given.get("properties") if isinstance(given, dict) else None
        named = list(parts.items())[:MOST_PARAMETERS] if isinstance(parts, dict) else []
        types = {
            name: part.get("type") if isinstance(part, dict) else None
            for name, part in named
            if _PARAMETER.fullmatch(name)
        }
        properties = {name: {"type": of} if of in _TYPES else {} for name, of in types.items()}
        return {"type": "object", "properties": properties}


class OutsideAnswer(NamedTuple):
    """What a call returned."""

    text: str
    is_error: bool = False
