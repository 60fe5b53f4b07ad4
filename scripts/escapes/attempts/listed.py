"""Ways around the proxy of a kernel with an allow list. Without a proxy, the same code connects
directly. tests/sandbox/test_proxy.py has odd requests and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.escapes.attempt import Attempt, Control, plain


def allowed(names: Mapping[str, Any]) -> list[str]:
    """The allow list: a server of this machine, and a name that leads to another program on it."""
    return [f"127.0.0.1:{names['LISTED']}", f"localhost:{names['LISTENER']}"]


LISTED = (
    *plain(
        {
            "connect to another port of its host": "tunnel_answers('127.0.0.1', LISTENER)",
            "connect past the proxy": "answers(socket.AF_INET, ('127.0.0.1', LISTENER))",
            "connect past the proxy to what is allowed": (
                "answers(socket.AF_INET, ('127.0.0.1', LISTED))"
            ),
            "connect by an allowed name that leads to this machine": (
                "tunnel_answers('localhost', LISTENER)"
            ),
            "connect by an address of one number": "tunnel_answers('2130706433', LISTENER)",
            "connect by the machine's own address": "tunnel_answers(ADDRESS, EVERYWHERE)",
            "start a plain kernel with the server's token": (
                "with tunnel('127.0.0.1', PORT) as one:\n"
                "    one.sendall(f'POST /api/kernels HTTP/1.1\\r\\nHost: 127.0.0.1:{PORT}\\r\\n"
                "Authorization: token {TOKEN}\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}'.encode())\n"
                "    assert b' 201 ' in one.recv(4096)"
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
