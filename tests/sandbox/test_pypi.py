"""``pypi`` in the allow list: pip in a real sandboxed kernel, with an index of the test's own."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from jupyter_codeinterp.sandbox.network import gate
from tests.kernels import run, text
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import folder
from tests.sandbox.test_network import kernel
from tests.sandbox.web import web

__all__ = ["folder"]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    gate._configured.cache_clear()
    yield
    gate._configured.cache_clear()


def wheel(name: str, number: str, needs: str = "") -> bytes:
    """A package of one module that holds its version."""
    info = f"{name}-{number}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n"
    files = {
        f"{name}.py": f"NUMBER = {number!r}\n",
        f"{info}/METADATA": metadata + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},sha256={_sum(content)},{len(content)}" for path, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,\n"])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return made.getvalue()


def _sum(content: str) -> str:
    found = hashlib.sha256(content.encode()).digest()
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode()


@runs_here
async def test_pip_installs_for_this_kernel_alone(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web() as index:
        # One is new and needs one that is there; the other is there in an older version.
        for name, number, needs in (("tinynew", "1.0", "traitlets"), ("iniconfig", "99.0", "")):
            file = f"{name}-{number}-py3-none-any.whl"
            index.files[f"/simple/{name}/"] = f"<a href='/files/{file}'>{file}</a>".encode()
            index.files[f"/files/{file}"] = wheel(name, number, needs)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://somebody:secret@{index.at}/simple")
        async with kernel(tmp_path, "pypi") as (made, its_manager):
            _, done = await run(made, "%pip install tinynew\nimport tinynew\nprint(tinynew.NUMBER)")
            assert text(done).endswith("1.0\n"), (done.outputs, done.note)
            # What is there below is not fetched again.
            assert not any("traitlets" in one.split("\n")[0] for one in index.requests)
            code = "!pip install -q iniconfig==99.0\nimport iniconfig\nprint(iniconfig.NUMBER)"
            _, done = await run(made, code)
            assert text(done).endswith("99.0\n"), (done.outputs, done.note)
            secret = "import os; print('secret' in str(os.environ))"
            _, done = await run(made, secret)
            assert text(done) == "False\n"
            assert "Authorization" not in str(index.requests)
            await its_manager.restart_kernel()
            _, done = await run(made, "import tinynew")
            assert done.outputs[-1]["ename"] == "ModuleNotFoundError"
    assert version("iniconfig") != "99.0"


def test_without_a_setting_it_is_pypi() -> None:
    found = gate.index_of({})
    assert found.allow == ("pypi.org:443", "files.pythonhosted.org:443")
    assert found.variables == {"PIP_INDEX_URL": "https://pypi.org/simple"}


def test_hosts_come_from_the_settings_of_pip() -> None:
    lines = [
        "global.index-url='https://one.example/simple'",
        "global.extra-index-url='https://two.example:8443/x file:///wheels'",
        ":env:.index-url='https://user:pass@three.example/simple'",
        "install.trusted-host='two.example'",
        "global.timeout='5'",
        "a line of another kind",
    ]
    found = gate.index_of(gate.parsed(lines))
    assert found.allow == ("three.example:443", "two.example:8443")
    assert found.variables == {
        "PIP_INDEX_URL": "https://three.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://two.example:8443/x",
        "PIP_TRUSTED_HOST": "two.example",
    }


def test_an_index_of_files_cannot_be_reached() -> None:
    with pytest.raises(ValueError, match="not on a web server"):
        gate.index_of({"index-url": "file:///wheels"})
