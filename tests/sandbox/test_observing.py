"""What is seen of a run in a sandbox, from outside."""

from __future__ import annotations

from pathlib import Path

from jupyter_codeinterp.sandbox.network.book import KEPT
from jupyter_codeinterp.sandbox.shared.limits import NO_NETWORK
from jupyter_codeinterp.wire.findings import Observation
from tests.kernels import kernel_manager, run, running_kernel
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install
from tests.sandbox.test_network import kernel
from tests.sandbox.web import web

__all__ = ["folder"]


@runs_here
async def test_a_run_without_a_network(tmp_path: Path, folder: Path) -> None:
    async with (
        kernel_manager(install(tmp_path, *NAMED)) as kernels,
        running_kernel(kernels, "sandboxed") as (_, made, _),
    ):
        _, done = await run(made, "x = 1")
        assert (done.status, done.observed, done.note) == ("ok", (), "")
        _, done = await run(
            made, "import urllib.request\nurllib.request.urlopen('http://a.invalid')"
        )
        assert (done.status, done.note) == ("error", NO_NETWORK)
        assert done.observed == (Observation("held", limit=NO_NETWORK),)


@runs_here
async def test_connections_are_seen_also_on_a_tunnel_of_an_earlier_run(
    tmp_path: Path, folder: Path
) -> None:
    async with web() as allowed, kernel(tmp_path, allowed.at) as (made, _):
        allowed.keeps = True
        code = """
import http.client, os, urllib.request
def get(client):
    client.request('GET', '/')
    return client.getresponse().read()
client = http.client.HTTPConnection(os.environ['HTTPS_PROXY'].removeprefix('http://'))
"""
        opened = f"client.set_tunnel({allowed.at!r})\nget(client)"
        for source in (f"{code}{opened}", "get(client)"):
            _, done = await run(made, source)
            assert done.status == "ok", done.outputs
            assert done.observed == (Observation("connected", (allowed.at,)),)
        refused = "try:\n    urllib.request.urlopen('http://a.invalid')\nexcept OSError:\n    pass"
        _, done = await run(made, refused)
        assert done.observed == (Observation("refused", ("a.invalid:80",)),)
        _, done = await run(made, "1")
        assert done.observed == ()
        many = (
            f"for number in range({KEPT + 1}):\n    try:\n"
            "        urllib.request.urlopen(f'http://h{number}.invalid')\n"
            "    except OSError:\n        pass"
        )
        _, done = await run(made, many)
        hosts = tuple(f"h{number + 1}.invalid:80" for number in range(KEPT))
        assert done.observed == (Observation("refused", hosts), Observation("lost"))
        assert done.note.endswith("and 59 more. Others are not listed: there were too many.")


async def test_nothing_is_seen_of_a_plain_kernel() -> None:
    async with kernel_manager() as kernels, running_kernel(kernels) as (_, made, _):
        _, done = await run(made, "open('/dev/null').close()")
        assert done.observed == ()
