"""The forms a key may have in a text: plain, quoted, encoded, reversed, split up."""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

_PUBLIC = re.compile(r"sk-ant-[a-z]{3,8}\d\d-")
"""How keys of the Messages API begin, all alike."""


def public_beginning(value: str) -> str:
    """The beginning of a key that is no secret, "" if none is known."""
    match = _PUBLIC.match(value)
    return match.group() if match else ""


def encodings(value: str) -> set[str]:
    """All forms of ``value`` that are looked for. What cannot be encoded is not a key."""
    forms = set(_forms(value))
    # As JSON writes them: the journal is JSON, and so is what many programs print.
    forms |= {json.dumps(form)[1:-1] for form in forms}
    return forms


def _forms(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "replace")
    yield from (value, value[::-1], value.upper(), value.lower(), value.swapcase())
    yield from (quote(value, safe=""), quote_plus(value), html.escape(value), repr(value)[1:-1])
    yield repr(data)[2:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield codecs.encode(value, "rot13")
    yield from _in_groups(data, 3, 8, 6, base64.b64encode)
    yield from _in_groups(data, 3, 8, 6, base64.urlsafe_b64encode)
    yield from _in_groups(data, 5, 8, 5, base64.b32encode)
    for separator in ("", " ", ":", "-", ", ", "\n"):
        digits = separator.join(f"{byte:02x}" for byte in data)
        yield from (digits, digits.upper())
    for form in (r"\x{:02x}", r"\u{:04x}", "%{:02x}", "%{:02X}", "&#{};", "&#x{:x};", r"\{:03o}"):
        yield "".join(form.format(byte) for byte in data)
    yield ", ".join(f"0x{byte:02x}" for byte in data)
    for separator in (", ", ",", " ", "\n"):
        yield separator.join(map(str, data))
    for separator in (" ", "\n", ",", ", ", "-", "_", ".", "', '", '", "', "\u200b"):
        yield separator.join(value)


def _in_groups(
    data: bytes, size: int, bits_in: int, bits_out: int, encode: object
) -> Iterator[str]:
    """``data`` as it is encoded behind 0 to ``size`` - 1 other bytes, without the digits
    that depend on what stands before and after it."""
    for before in range(size):
        encoded = encode(b"\0" * before + data).decode()  # type: ignore[operator]
        first = -(-before * bits_in // bits_out)
        yield encoded[first : (before + len(data)) * bits_in // bits_out]
