"""The proxy of a sandboxed kernel by itself: what it reads, where it leads, how long it waits."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.sandbox.network import book as books
from jupyter_codeinterp.sandbox.network import first, proxy
from jupyter_codeinterp.sandbox.network.book import ConnectionLog, ConnectionRecord, sentence
from jupyter_codeinterp.sandbox.network.gate import Gate
from jupyter_codeinterp.sandbox.network.proxy import LARGEST
from jupyter_codeinterp.sandbox.network.rules import (
    AllowedHosts,
    Target,
    canonical,
    is_public,
    target,
)
from tests.sandbox.web import Web, handling, web

PRIVATE = (
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.1.2.3",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "192.0.2.1", "192.168.1.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "::", "::1", "::7f00:1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1", "2002:7f00:1::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0",
    "fec0::1", "ff02::1",
)  # fmt: skip
PUBLIC = ("1.1.1.1", "8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700:4700::1111")
BAD_PLACES = (
    "", "host", ":80", "host:", "host:0", "host:65536", "host:+80", "host:80:80", "a b:80",
    "a/b:80", "user@host:80", "host\r:80", "[::1]", "::1:80", "[127.0.0.1:80",
    "[fe80::1%25eth0]:80", "[x]:80", "-a:80", "a..b:80", "ä:80", f"{'a' * 64}.org:80",
    f"{'a.' * 127}org:80",
)  # fmt: skip
BAD_HEADS = {
    "bare line feeds": b"CONNECT a.org:443 HTTP/1.1\nHost: a.org\r\n\r\n",
    "a bare return": b"CONNECT a.org:443 HTTP/1.1\rX: 1\r\n\r\n",
    "a blank at the end": b"CONNECT a.org:443 HTTP/1.1 \r\n\r\n",
    "two hosts": b"CONNECT a.org:443 b.org:443 HTTP/1.1\r\n\r\n",
    "another host before an @": b"CONNECT a.org@b.org:443 HTTP/1.1\r\n\r\n",
    "a fragment in the host": b"CONNECT a.org#b.org:443 HTTP/1.1\r\n\r\n",
    "plain HTTP": b"GET http://a.org/ HTTP/1.1\r\n\r\n",
    "a path": b"GET / HTTP/1.1\r\nHost: a.org\r\n\r\n",
    "no port": b"CONNECT a.org HTTP/1.1\r\n\r\n",
    "another version": b"CONNECT a.org:443 HTTP/2.0\r\n\r\n",
    "no request": b"\x05\x01\x00\r\n\r\n",
}


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_must_be_named(address: str) -> None:
    found = canonical(address)
    assert not is_public(found)
    assert not AllowedHosts(["a.org:80"]).may_connect(address, 80)
    named = AllowedHosts([str(Target(str(found), 80))])
    assert named.may_connect(address, 80) and not named.may_connect(address, 81)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_needs_no_name(address: str) -> None:
    assert AllowedHosts(["a.org:80"]).may_connect(address, 80)


@pytest.mark.parametrize(
    ("asked", "is_allowed"),
    [
        ("a.org:443", True),
        ("A.Org.:443", True),
        ("a.org:80", False),
        ("b.a.org:443", False),
        ("a.org.b.org:443", False),
        ("10.0.0.5:80", True),
        ("[2606:4700:0::1111]:443", True),
        ("0x0a.5:80", False),
        ("167772165:80", False),
        ("10.0.5:80", False),
    ],
)
def test_the_list_names_hosts_and_ports(asked: str, is_allowed: bool) -> None:
    rules = AllowedHosts(["A.org:443", "10.0.0.5:80", "[2606:4700::1111]:443"])
    assert rules.allows(target(asked)) is is_allowed


@pytest.mark.parametrize("text", BAD_PLACES)
def test_what_is_no_host_and_port(text: str) -> None:
    with pytest.raises(ValueError, match="host"):
        target(text)


@pytest.mark.parametrize("text", ["a.org", "a.org:https", "*:443", "http://a.org:80", ""])
def test_a_setting_that_is_no_host_and_port_says_so(text: str) -> None:
    with pytest.raises(ValueError, match="is not host:port"):
        AllowedHosts([text])


@pytest.mark.parametrize("name", BAD_HEADS)
async def test_a_request_for_anything_but_one_tunnel_is_refused(tmp_path: Path, name: str) -> None:
    async with proxied(tmp_path, "a.org:443", "b.org:443") as (path, _):
        assert (await said(path, BAD_HEADS[name])).startswith(b"HTTP/1.1 400")


def test_a_plain_request_is_for_the_host_of_the_address_and_the_last_on_its_connection() -> None:
    sent = (
        b"POST http://me@a.org:8080?q=1 HTTP/1.1\r\nHost: a.org:8080\r\n"
        b"Connection: keep-alive\r\nKeep-Alive: 5\r\nProxy-Authorization: secret\r\n"
        b"X-Keep: 2\r\nContent-Length: 3\r\n\r\n"
    )
    assert first.plain(sent) == (
        b"a.org:8080",
        b"POST /?q=1 HTTP/1.1\r\nHost: a.org:8080\r\nX-Keep: 2\r\nContent-Length: 3\r\n"
        b"Connection: close\r\n\r\n",
    )
    place, inner = first.plain(b"GET http://[2606:4700::1111]/ HTTP/1.0\r\n\r\n")
    assert place == b"[2606:4700::1111]:80"
    assert inner == b"GET / HTTP/1.0\r\nConnection: close\r\n\r\n"


def test_the_refusals_are_bounded_and_those_of_a_run() -> None:
    book = ConnectionLog(os.memfd_create("refusals"))
    longest = target(f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 61}:65535")
    for number in range(books.KEPT + 3):
        book.write(Target(f"h{number}.org", 443), "why")
    book.write(longest, "its address is not public and not on the list")
    every = book.since(0)
    assert len(every) == books.KEPT
    assert every[-1][1:] == (str(longest), "its address is not public and not on the list")
    assert next(one.target for one in book.since(every[-2].at)) == f"h{books.KEPT + 2}.org:443"
    assert book.has_lost(0) and not book.has_lost(every[0].at)
    book.close()
    assert book.since(0) == [] and not book.has_lost(0)


def test_a_busy_target_pushes_no_other_out() -> None:
    book = ConnectionLog(os.memfd_create("refusals"))
    once, busy = Target("once.org", 443), Target("busy.org", 443)
    book.write(once, "why")
    for _ in range(books.KEPT + 3):
        book.write(busy, "why")
    book.write(busy, "another reason")
    found = [(one.target, one.why) for one in book.since(0)]
    assert found == [(str(once), "why"), (str(busy), "why"), (str(busy), "another reason")]
    assert not book.has_lost(0)
    # One that comes again is of the later run.
    last = book.since(0)[-1].at
    book.write(once, "why")
    assert [one.target for one in book.since(last)][1:] == [str(once)]


def test_the_sentence_names_a_few() -> None:
    each = [ConnectionRecord(0, f"h{number}.org:443", "why") for number in range(7)]
    assert sentence([]) == ""
    assert sentence([each[0]] * 9) == "The sandbox refused connections: h0.org:443 (why)."
    assert sentence(each).endswith("h4.org:443 (why), and 2 more.")
    assert sentence(each, True).endswith("2 more. Others are not listed: there were too many.")


@pytest.mark.parametrize(
    ("allowed", "direct"),
    [("a.org:443", "localhost,127.0.0.1,::1"), ("127.0.0.1:80", "localhost,::1")],
)
def test_a_loopback_host_of_the_list_is_outside(tmp_path: Path, allowed: str, direct: str) -> None:
    gate = Gate(tmp_path / "s", [allowed])
    assert gate.variables()["NO_PROXY"] == direct
    gate.close()


class Names:
    """A resolver: the addresses of each look-up in turn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)
        # Above the system's, so that the loop's own way to it is used.
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)

    def _look_up(self, host: Any, port: int, *given: Any, **more: Any) -> list[Any]:
        self.asked.append(str(host))
        address = self._answers.pop(0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


@asynccontextmanager
async def proxied(tmp_path: Path, *allow: str) -> AsyncIterator[tuple[str, ConnectionLog]]:
    """The proxy's socket, and its log."""
    log = ConnectionLog(os.memfd_create("connections"))
    made = proxy.Proxy(AllowedHosts(allow), log)
    path = str(tmp_path / "socket")
    async with handling(made.serve) as serve:
        server = await asyncio.start_unix_server(serve, path, limit=LARGEST)
        try:
            yield path, log
        finally:
            server.close()
    log.close()


def tunnel(at: str) -> bytes:
    return f"CONNECT {at} HTTP/1.1\r\nX: 1\r\n\r\n".encode()


GET = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"


async def said(path: str, *sent: bytes, pause: float = 0) -> bytes:
    """All that the proxy answers to this, until it ends the connection."""
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        for one in sent:
            writer.write(one)
            await writer.drain()
            await asyncio.sleep(pause)
        return await asyncio.wait_for(reader.read(), 20)
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_a_name_that_leads_to_this_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web() as inner, proxied(tmp_path, f"a.org:{inner.port}") as (path, book):
        names = Names(monkeypatch, "127.0.0.1")
        answer = await said(path, tunnel(f"a.org:{inner.port}"))
        assert answer.startswith(b"HTTP/1.1 403 Refused by the sandbox: its address is not public")
        assert names.asked == ["a.org"]
        assert [one.target for one in book.since(0)] == [f"a.org:{inner.port}"]
    assert inner.requests == []


async def test_a_name_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second answer would lead elsewhere."""
    async with web() as named, proxied(tmp_path, f"a.org:{named.port}", named.at) as (path, _):
        names = Names(monkeypatch, "127.0.0.1", "127.0.0.2")
        answer = await said(path, tunnel(f"a.org:{named.port}") + GET)
        assert answer.endswith(b"hello")
        # The loop itself asks for an address only to see that it is one.
        assert [one for one in names.asked if one != "127.0.0.1"] == ["a.org"]


async def test_a_second_tunnel_on_a_connection_reaches_nothing(tmp_path: Path) -> None:
    async with web() as named, web() as other, proxied(tmp_path, named.at, other.at) as (path, _):
        answer = await said(path, tunnel(named.at) + tunnel(other.at) + GET)
        assert answer.count(b"Connection established") == 1
    assert len(named.requests) == 2 and other.requests == []


async def test_large_and_slow_heads_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "SECONDS", 0.5)
    async with proxied(tmp_path, "a.org:443") as (path, _):
        flood = b"CONNECT a.org:443 HTTP/1.1\r\n" + b"X: 1\r\n" * 20_000
        answer = await said(path, flood)
        # What is left unread may take the answer with it.
        assert answer == b"" or answer.startswith(b"HTTP/1.1 431")
        little = flood[: LARGEST + 10]
        assert (await said(path, little)).startswith(b"HTTP/1.1 431")
        slow = await said(path, b"CONNECT a.org:443 HTTP/1.1\r\n", b"X: 1\r\n", pause=0.3)
        assert slow.startswith(b"HTTP/1.1 408")


async def test_connections_are_bounded_and_come_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "MOST", 2)
    async with web() as named, proxied(tmp_path, named.at) as (path, _):
        ask = tunnel(named.at) + GET
        held = [await asyncio.open_unix_connection(path) for _ in range(2)]
        assert (await said(path, ask)).startswith(b"HTTP/1.1 503")
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        await asyncio.sleep(0.1)
        assert (await said(path, ask)).endswith(b"hello")


async def test_a_host_that_does_not_answer_is_no_refusal(tmp_path: Path) -> None:
    gone = Web()
    async with web() as one:
        gone.port = one.port
    async with proxied(tmp_path, gone.at) as (path, book):
        answer = await said(path, tunnel(gone.at))
        assert answer.startswith(b"HTTP/1.1 502") and b"does not answer" in answer
        assert book.since(0) == []
