"""What both APIs refuse."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from PIL import Image

from tests.fake_anthropic.checks import is_pdf, schema_fault

_TOOL_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_DATA_URL = re.compile(r"^data:image/(png|jpeg|gif|webp);base64,(.*)$", re.DOTALL)


def tool(function: dict[str, Any], allowed: set[str]) -> Iterator[str]:
    for name in function.keys() - allowed:
        yield f"Unknown parameter: 'tools[].{name}'."
    if not _TOOL_NAME.match(function.get("name", "")):
        yield "Invalid 'tools[].name': string does not match pattern."
    schema = function.get("parameters", {})
    if schema.get("type") != "object":
        yield "Invalid schema for function: schema must be of type 'object'."
    if fault := schema_fault(json.dumps(schema)):
        yield f"Invalid schema for function: {fault}"


def image(url: Any) -> Iterator[str]:
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    if found is None:
        yield "Invalid image URL: a data URL of an image is expected."
        return
    try:
        picture = Image.open(io.BytesIO(base64.b64decode(found[2], validate=True)))
    except (binascii.Error, OSError):
        yield "The image data you provided does not represent a valid image."
        return
    if (picture.format or "").lower() != found[1]:
        yield f"The image is {picture.format}, not {found[1]}."


def pdf(part: dict[str, Any]) -> Iterator[str]:
    if part.keys() != {"type", "filename", "file_data"} or not part["filename"]:
        yield "Missing required parameter: 'filename' and 'file_data' are needed."
    head, _, encoded = part.get("file_data", "").partition(",")
    if head != "data:application/pdf;base64" or not is_pdf(encoded):
        yield "Invalid 'file_data': the file is no PDF."


def arguments(text: Any) -> Iterator[str]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        value = None
    if not isinstance(value, dict):
        yield "Invalid 'arguments': expected a string with a JSON object."


def text(value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, str) or not value.strip():
        yield f"Invalid '{where}': expected a text that is not blank."
