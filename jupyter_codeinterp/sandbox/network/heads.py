"""Parses the head of a request to the proxy. Refuses heads that programs could read differently."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import rules

LARGEST = 32_768
"""Bytes of a head."""
MOST = 100
"""Headers."""
_LINE = re.compile(r"([A-Z]{1,20}) ([!-~]+) HTTP/1\.([01])\Z")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t -~\x80-\xff]*)\Z")
_ABSOLUTE = re.compile(r"http://([^/?#@]+)([/?][^#]*)?\Z", re.IGNORECASE)
OF_THIS_CONNECTION = frozenset(
    (
        "connection", "content-length", "host", "keep-alive", "proxy-authenticate",
        "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    )
)  # fmt: skip


_OVERRIDES = ("x-http-method", "x-http-method-override", "x-method-override")
"""Headers that override the method on some hosts."""
_REPEAT = frozenset(("TRACE", "TRACK", "DEBUG"))
"""Methods whose answer may contain the request."""


class BadRequest(ValueError):
    """The message says why."""


class RequestHead(NamedTuple):
    """``length``: bytes of the body; None if it comes in chunks. ``path`` is "" for CONNECT."""

    method: str
    target: rules.Target
    path: str
    headers: tuple[tuple[str, str], ...]
    length: int | None

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"

    @property
    def repeats(self) -> bool:
        """Whether the answer may contain the request with all its headers."""
        others = (value for name, value in self.headers if name.lower() in _OVERRIDES)
        return any(method.strip().upper() in _REPEAT for method in (self.method, *others))

    def forwarded(self, secret: tuple[str, str] | None = None) -> bytes:
        """The head for the host, for a single request. ``secret``: a header that replaces the
        program's own; the request then goes by TLS."""
        usual = 443 if secret else 80
        host = self.target.host if self.target.port == usual else str(self.target)
        if self.target.port == usual and ":" in host:
            host = f"[{host}]"
        own = [one for one in self.headers if not secret or one[0].lower() != secret[0].lower()]
        framing = (
            [("Transfer-Encoding", "chunked")]
            if self.length is None
            else [("Content-Length", str(self.length))]
        )
        bodiless = self.length == 0 and self.method in ("GET", "HEAD", "DELETE", "OPTIONS")
        lines = [
            f"{self.method} {self.path} HTTP/1.1",
            f"Host: {host}",
            *(f"{name}: {value}" for name, value in [*own, *([secret] if secret else [])]),
            *(f"{name}: {value}" for name, value in ([] if bodiless else framing)),
            "Connection: close",
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


def head(raw: bytes) -> RequestHead:
    """Parse the bytes up to and including the empty line. Raises BadRequest."""
    first, *lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    found = _LINE.match(first)
    if found is None:
        raise BadRequest("not a request of HTTP/1")
    if len(lines) > MOST:
        raise BadRequest("too many headers")
    method, where = found[1], found[2]
    headers = [_header(line) for line in lines]
    path, port = "", None
    if method != "CONNECT":
        absolute = _ABSOLUTE.match(where)
        if absolute is None:
            raise BadRequest("neither CONNECT nor an address that starts with http://")
        where, path, port = absolute[1], absolute[2] or "/", 80
        path = path if path.startswith("/") else f"/{path}"
    try:
        target = rules.target(where, port)
    except ValueError as error:
        raise BadRequest(str(error)) from None
    named = {
        name.strip().lower()
        for key, value in headers
        if key.lower() == "connection"
        for name in value.split(",")
    }
    dropped = OF_THIS_CONNECTION | named
    kept = tuple((name, value) for name, value in headers if name.lower() not in dropped)
    return RequestHead(method, target, path, kept, _length(headers))


def _header(line: str) -> tuple[str, str]:
    found = _HEADER.match(line)
    if found is None:
        raise BadRequest("a header that cannot be read")
    return found[1], found[2].strip(" \t")


def _length(headers: list[tuple[str, str]]) -> int | None:
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    codings = [value for name, value in headers if name.lower() == "transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        raise BadRequest("more than one length of its body")
    if codings:
        if codings[0].lower() != "chunked":
            raise BadRequest("a body that is neither plain nor chunked")
        return None
    if not lengths:
        return 0
    if not re.fullmatch(r"[0-9]{1,18}", lengths[0]):
        raise BadRequest("a length that is not a number")
    return int(lengths[0])
