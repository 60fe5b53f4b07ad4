"""Requests that are made to fail: each gets an answer in words, and nobody else notices."""

from __future__ import annotations

from itertools import product

from jupyter_codeinterp.server.rest.base import MAX_BODY
from jupyter_codeinterp.session.server.windows import Bearer, Windows
from tests.reference_window import body
from tests.site import Site
from tests.test_rest import ROUTES

DEPTH = 100_000
BODIES = {
    "a list in a list in a list": "[" * DEPTH + "]" * DEPTH,
    "an object in an object": '{"a":' * DEPTH + "1" + "}" * DEPTH,
    "depth in a field": '{"key": ' + "[" * DEPTH + "]" * DEPTH + "}",
    "depth that never ends": '{"secret": ' + '{"a":' * DEPTH,
    "half a surrogate": '{"key": "\\ud800", "title": "\\ud800", "secret": "\\ud800"}',
    "no UTF-8": b'{"key": "\xff\xfe", "title": "\xff", "secret": "\xff"}',
    "a number without an end": '{"key": 1' + "0" * 10_000 + "}",
    "not a number": '{"key": NaN, "secret": NaN}',
    "a name that is no string": '{1: "x"}',
    "nothing but a quote": '"',
    "zeros": b"\0" * 100,
}
WITHOUT_A_BODY = {("POST", "mcp/token")}
"""What a request has as a body is not read."""
WITH_A_BODY = sorted(
    {(method, path) for method, path, _ in ROUTES if method in ("POST", "PATCH", "PUT")}
    - WITHOUT_A_BODY
)


async def test_a_body_that_no_parser_likes_is_refused_in_words(site: Site) -> None:
    page = await site.of_a_page()
    for (method, path), (what, given) in product(WITH_A_BODY, BODIES.items()):
        response = await site.request(method, path, headers={**page}, body=given)
        assert response.code == 400, (path, what, response.code)
        assert body(response)["code"] == "malformed" and "JSON" in body(response)["message"], path
    assert not site.extension.workbench.models.described("anthropic").entered


async def test_a_body_that_is_too_large_is_refused_in_words(site: Site) -> None:
    page = await site.of_a_page()
    given = '{"key": "' + "x" * MAX_BODY + '"}'
    for method, path in WITH_A_BODY:
        response = await site.request(method, path, headers={**page}, body=given)
        assert response.code == 413, path
        assert body(response)["code"] == "too_large", path


async def test_one_reader_takes_thousands_of_tickets(site: Site) -> None:
    """Nobody else's become void, and no memory is taken by those that are never used."""
    mine = await site.ticket()
    theirs = await site.login()
    for _ in range(105):
        await theirs.ask()
    socket = await site.connect(mine)
    socket.close()

    known, ann, bob = Windows(), Bearer("ann", False), Bearer("bob", False)
    ticket, _ = known.issue(ann)
    for _ in range(10_000):
        known.issue(bob)
    assert vars(known)["_used"] == {} and vars(known)["_known"] == {}
    assert known.redeem(ticket, ann) == 1
