"""A credential that the proxy adds, with real servers that speak TLS."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.sandbox.network.credentials import Header, headers, variables
from jupyter_codeinterp.sandbox.network.heads import head
from jupyter_codeinterp.sandbox.network.rules import Target
from jupyter_codeinterp.sandbox.walls.launching import LaunchError
from tests.kernels import kernel_manager, run, running_kernel, text
from tests.sandbox.certificates import loopback
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install, manager
from tests.sandbox.web import web

__all__ = ["folder"]
SECRET = "a-secret-0123456789"
AT = {"header": "Authorization", "prefix": "Bearer ", "env": "A_KEY"}


@runs_here
async def test_the_host_gets_it_and_the_sandbox_never(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, trusted = loopback(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    monkeypatch.setenv("A_KEY", SECRET)
    async with web(tls=context) as named, web(tls=context) as other:
        config: dict[str, Any] = {
            "credentials": {named.at: AT},
            "variables": ["A_KEY"],
            "allow": [other.at],
        }
        async with (
            kernel_manager(install(tmp_path, *NAMED, **config)) as kernels,
            running_kernel(kernels, "sandboxed") as (_, made, kernel_id),
        ):
            code = (
                "import requests\n"
                "own = {'Authorization': 'mine', 'Connection': 'authorization', 'X-Other': '1'}\n"
                f"print(requests.post('http://{named.at}/a', headers=own, data='x').text)"
            )
            _, done = await run(made, code)
            assert (text(done), done.note) == ("hello\n", ""), done.outputs
            assert _of(named.requests[-1], "authorization") == [f"Bearer {SECRET}"]
            assert _of(named.requests[-1], "x-other") == ["1"]
            assert named.bodies[-1] == b"x"

            # A tunnel to the same host could carry another account's key.
            _, done = await run(made, f"requests.get('https://{named.at}/')")
            assert done.outputs[-1]["ename"] == "ProxyError"
            assert f"{named.at} (not on the list" in done.note and SECRET not in done.note
            # Another host gets none, and no TLS by the proxy.
            _, done = await run(made, f"print(requests.get('http://{other.at}/').text)")
            assert SECRET not in str(other.requests) and "hello" not in text(done)

            search = (
                "import os, glob\nfound = str(dict(os.environ))\n"
                "for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):"
                "\n    found += open(path, errors='replace').read()\n"
                f"print({SECRET[:5]!r} + {SECRET[5:]!r} in found, 'PATH=' in found)"
            )
            _, done = await run(made, search)
            assert text(done) == "False True\n", done.outputs
            provisioner: Any = kernels.get_kernel(kernel_id).provisioner
            assert SECRET not in _shown(provisioner._sandbox.gate._process.pid)


@runs_here
async def test_a_certificate_that_nobody_trusts_gets_no_credential(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, _ = loopback(tmp_path)
    monkeypatch.setenv("A_KEY", SECRET)
    async with (
        web(tls=context) as named,
        kernel_manager(install(tmp_path, *NAMED, credentials={named.at: AT})) as kernels,
        running_kernel(kernels, "sandboxed") as (_, made, _),
    ):
        code = f"import requests; print(requests.get('http://{named.at}/').text)"
        _, done = await run(made, code)
        assert f"the certificate of {named.at} is not valid" in text(done)
        assert named.requests == []


@runs_here
async def test_without_the_variable_the_kernel_does_not_start(tmp_path: Path, folder: Path) -> None:
    made = manager(tmp_path, *NAMED)
    assert made.kernel_spec is not None
    config = {"credentials": {"a.org:443": AT}}
    made.kernel_spec.metadata["kernel_provisioner"]["config"] = config
    with pytest.raises(LaunchError, match=r"the server has no variable A_KEY, for a\.org:443"):
        await made.start_kernel(cwd=str(folder))


def test_the_setting() -> None:
    found = headers({"A.org:443": AT, "b.org:8443": {"header": "X-Key", "env": "B"}}, _given())
    assert found == {
        Target("a.org", 443): Header("Authorization", f"Bearer {SECRET}"),
        Target("b.org", 8443): Header("X-Key", "b"),
    }
    assert SECRET not in repr(found)
    assert variables({"a.org:443": AT}) == {"A_KEY"}


@pytest.mark.parametrize(
    ("place", "one", "words"),
    [
        ("a.org", AT, "is not host:port"),
        ("a.org:443", "A_KEY", "needs a header and the name of a variable"),
        ("a.org:443", {"header": "X"}, "needs a header"),
        ("a.org:443", {**AT, "value": "x"}, "needs a header"),
        ("a.org:443", {**AT, "env": "NONE"}, "no variable NONE"),
        ("a.org:443", {**AT, "header": "X: y\r\nZ"}, "characters that HTTP"),
        ("a.org:443", {**AT, "header": "Host"}, "the proxy sets"),
        ("a.org:443", {**AT, "env": "LINES"}, "characters that HTTP"),
    ],
)
def test_a_setting_that_cannot_be_used_says_so(place: str, one: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        headers({place: one}, _given())
    assert SECRET not in str(raised.value)


def test_the_header_takes_the_place_of_the_programs_own() -> None:
    raw = b"GET http://a.org:443/x HTTP/1.1\r\nauthorization: 1\r\nAUTHORIZATION: 2\r\nX: 3\r\n\r\n"
    sent = head(raw).forwarded(("Authorization", "4")).decode()
    assert re.findall("(?i)authorization: (.*)\r\n", sent) == ["4"]
    assert "\r\nHost: a.org\r\n" in sent and "\r\nX: 3\r\n" in sent


def _given() -> dict[str, str]:
    return {**os.environ, "A_KEY": SECRET, "B": "b", "LINES": f"{SECRET}\r\nX: y"}


def _shown(pid: int) -> str:
    """What other programs of this user see of a process."""
    paths = (Path("/proc", str(pid), name) for name in ("environ", "cmdline"))
    return "".join(path.read_text(errors="replace") for path in paths)


def _of(request: str, name: str) -> list[str]:
    lines = (line.partition(": ") for line in request.split("\r\n")[1:])
    return [value for key, _, value in lines if key.lower() == name]
