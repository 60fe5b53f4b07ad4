"""Which model answers, and what becomes of a kept key."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from jupyter_codeinterp.models.offered import Models
from jupyter_codeinterp.models.replay.provider import NAME as DEMO_MODEL
from jupyter_codeinterp.models.replay.provider import is_demo
from jupyter_codeinterp.view.redaction.secrets import Secrets
from jupyter_codeinterp.wire.providers import Credentials

KEY = "sk-ant-a-key-that-is-kept"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
    ):
        monkeypatch.delenv(name, raising=False)


SAVED = msgspec.json.encode(
    {"version": 2, "connections": {"anthropic": {"url": "https://api.anthropic.com", "key": KEY}}}
)


def models(folder: Path, secrets: Secrets | None = None, base_url: str | None = None) -> Models:
    return Models(folder, secrets or Secrets(), default_model="sonnet", base_url=base_url)


def keep(folder: Path, content: bytes) -> Path:
    file = folder / "credentials.json"
    file.write_bytes(content)
    return file


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"api_key": 5}', b"\xff\xfe", b"null", b"\x00" * 100]
)
async def test_a_damaged_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    file = keep(tmp_path, content)
    found = models(tmp_path)
    assert found.described("anthropic").source == "none"
    assert "damaged" in found.warning and "Enter the keys again" in found.warning
    assert not file.exists()
    assert (tmp_path / "credentials.json.damaged").read_bytes() == content
    assert models(tmp_path).warning == "", "it is told once"


async def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").mkdir()
    found = models(tmp_path)
    assert found.described("anthropic").source == "none"
    assert "Could not read the saved keys" in found.warning


async def test_a_key_goes_where_it_was_tried_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(tmp_path, SAVED)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://elsewhere.example")
    found = models(tmp_path, base_url="http://other.example")
    assert found._kept.credentials(found._providers.default) == Credentials(
        KEY, "https://api.anthropic.com"
    )
    described = found.described("anthropic")
    assert (described.source, described.origin) == ("file", "https://api.anthropic.com:443")


async def test_known_keys_are_scrubbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "env-api-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "env-auth-token")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway: gateway-secret\nX-Other:other-one")
    keep(tmp_path, SAVED)
    secrets = Secrets()
    models(tmp_path, secrets)
    said = f"{KEY} env-api-key env-auth-token gateway-secret other-one"
    assert secrets.scrub(said) == " ".join(["[key removed]"] * 5)


async def test_where_the_key_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = models(tmp_path)
    assert not found.configured
    assert found.described("anthropic").origin == "https://api.anthropic.com:443"
    local = models(tmp_path, base_url="http://ann:secret@127.0.0.1:11434/x")
    assert local.configured
    assert local.described("anthropic").address == "http://127.0.0.1:11434/x"
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-token")
    assert models(tmp_path).described("anthropic").source == "env"


async def test_the_demo_answers_its_own_notebook_as_long_as_there_is_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = models(tmp_path)
    assert found.default_for("work/codeinterp-demo/sales.ipynb") == DEMO_MODEL
    assert found.default_for("sales.ipynb") == "sonnet"
    assert (await found.get(DEMO_MODEL)).always_ask, "so that a folder's name grants nothing"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "env-api-key")
    assert models(tmp_path).default_for("codeinterp-demo/sales.ipynb") == "sonnet"
    assert not (await models(tmp_path).get("sonnet")).always_ask
    assert [info.id for info in (await found.available())[0]] == [DEMO_MODEL]


@pytest.mark.parametrize(
    ("notebook", "expected"),
    [
        ("codeinterp-demo/sales.ipynb", True),
        ("a/codeinterp-demo-12/b/x.ipynb", True),
        ("codeinterp-demo", False),
        ("codeinterp-demo.ipynb", False),
        ("codeinterp-demonstration/x.ipynb", False),
        ("my-codeinterp-demo/x.ipynb", False),
        ("codeinterp-demo-/x.ipynb", False),
        ("", False),
    ],
)
def test_folders_of_the_demo(notebook: str, expected: bool) -> None:
    assert is_demo(notebook) is expected
