"""A kernel with an allow list: ways around its proxy. Without a proxy, the same code connects
itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.escapes.attempt import Attempt, Control, plain


def allowed(names: Mapping[str, Any]) -> list[str]:
    """The list: a server of this machine, and a name that leads to another program on it."""
    return [f"127.0.0.1:{names['LISTED']}", f"localhost:{names['LISTENER']}"]


_ASK = "GET AT/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
_INNER = "GET AT/ HTTP/1.1\r\nHost: inner\r\n\r\n"
_HIDDEN = "GET / HTTP/1.1\r\nHost: inner\r\n\r\n"


def _says(*parts: str) -> str:
    return f"listed_says({''.join(parts)!r})"


LISTED = (
    *plain(
        {
            "connect to another port of its host": "tunnel_answers('127.0.0.1', LISTENER)",
            "connect past the proxy": "answers(socket.AF_INET, ('127.0.0.1', LISTENER))",
            "connect past the proxy to what is allowed": (
                "with socket.create_connection(('127.0.0.1', LISTED), 2) as one:\n"
                "    one.sendall(b'GET / HTTP/1.1\\r\\nHost: inner\\r\\n\\r\\n')\n"
                "    assert one.recv(100).endswith(b'hello')"
            ),
            "connect by an allowed name that leads to this machine": (
                "tunnel_answers('localhost', LISTENER)"
            ),
            "connect by an address of one number": "tunnel_answers('2130706433', LISTENER)",
            "connect by the address of no host": "tunnel_answers('0.0.0.0', LISTENER)",
            "connect by an address wrapped in IPv6": (
                "tunnel_answers('::ffff:127.0.0.1', LISTENER)"
            ),
            "connect to another port of its host by SOCKS": "socks_answers('127.0.0.1', LISTENER)",
            "connect by SOCKS and a name that leads to this machine": (
                "socks_answers('localhost', LISTENER)"
            ),
            "connect by the machine's own address": "tunnel_answers(ADDRESS, EVERYWHERE)",
            "start a plain kernel with the server's token": (
                "with tunnel('127.0.0.1', PORT) as one:\n"
                "    one.sendall(f'POST /api/kernels HTTP/1.1\\r\\nHost: 127.0.0.1:{PORT}\\r\\n"
                "Authorization: token {TOKEN}\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}'.encode())\n"
                "    assert b' 201 ' in one.recv(4096)"
            ),
            "name another host in a request": _says(_INNER),
            "hide a request to another host behind the first": _says(_ASK, "\r\n", _INNER),
            "hide a request in the body of the first": _says(
                _ASK, "Content-Length: 0\r\nContent-Length: 34\r\n\r\n", _HIDDEN
            ),
            "hide a request behind one with two kinds of length": _says(
                _ASK, "Content-Length: 39\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", _HIDDEN
            ),
            "hide a header behind a bare line feed": _says(
                "GET AT/ HTTP/1.1\r\nX: 1\nHost: inner\r\n\r\n"
            ),
            "send headers without end": (
                "many = 'X: 1\\r\\n' * 100_000\n"
                "listed_says(f'GET AT/ HTTP/1.1\\r\\nHost: inner\\r\\n{many}\\r\\n')"
            ),
            "hold a connection with slow headers": (
                "with way('127.0.0.1', LISTED) as one:\n"
                "    one.settimeout(13)\n"
                "    one.sendall(b'GET ')\n"
                "    try:\n        said = one.recv(4096)\n"
                "    except TimeoutError:\n        said = None\n"
                "    assert said is None, said"
            ),
        }
    ),
    *plain(
        {
            "connect to it by IPv6": "tunnel_answers('::1', LISTENER_6)",
            "ask the cloud for credentials": "tunnel('169.254.169.254', 80).close()",
            "connect to another machine": "tunnel('1.1.1.1', 443).close()",
            "ask for the name of another machine": "socket.getaddrinfo('example.com', 443)",
        },
        Control.SOME,
    ),
    Attempt(
        "put a socket of its own in the proxy's place",
        "os.remove('/run/network')",
        Control.NONE,
    ),
    Attempt(
        "change what runs before the kernel",
        "open('/run/first.py', 'a').close()",
        Control.NONE,
    ),
)
