"""Keys in the operating system's keyring: only in a real one, only what it gives back, in time."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.backends.chainer
import keyring.backends.null
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

from jupyter_codeinterp.core.errors import ModelError
from jupyter_codeinterp.core.messages import Message, Text
from jupyter_codeinterp.core.ports import ModelRequest
from jupyter_codeinterp.core.redaction.secrets import Secrets
from jupyter_codeinterp.server.models import Models
from jupyter_codeinterp.server.models import keyring as rings
from tests.fake_anthropic import FakeAnthropic, answer, in_order, text

KEY = "sk-ant-a-key-for-the-keyring"


class Ring(KeyringBackend):
    """In memory. ``locked``, ``lossy`` (keeps nothing) and ``hangs`` are its faults."""

    priority: Any = 5

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = self.lossy = False
        self.hangs: threading.Event | None = None

    def _work(self) -> None:
        if self.hangs is not None:
            self.hangs.wait()
        if self.locked:
            raise KeyringLocked(f"cannot read {self.kept}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._work()
        if not self.lossy:
            self.kept[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        self._work()
        return self.kept.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        self._work()
        if (service, username) not in self.kept:
            raise PasswordDeleteError("not there")
        del self.kept[service, username]


class Plaintext(Ring):
    __module__ = "keyrings.alt.file"


class Disguised(Plaintext):
    __module__ = "tests.elsewhere"


class Hardly(Ring):
    priority = 0.5


def chain(*rings: KeyringBackend) -> KeyringBackend:
    chained: Any = type("Chained", (keyring.backends.chainer.ChainerBackend,), {"backends": rings})
    return chained()  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    installed = Ring()
    keyring.set_keyring(installed)
    yield installed
    if installed.hangs is not None:
        installed.hangs.set()
    keyring.set_keyring(before)


def models(folder: Path, secrets: Secrets | None = None) -> Models:
    return Models(folder, secrets or Secrets(), default_model="sonnet", base_url=None)


def content(folder: Path) -> str:
    return (folder / "credentials.json").read_text("utf-8")


async def connect(folder: Path, api: FakeAnthropic) -> Models:
    made = models(folder)
    await made.connect("anthropic", KEY, api.url)
    return made


async def test_a_key_is_kept_in_the_keyring_and_nowhere_else(
    tmp_path: Path, ring: Ring, api: FakeAnthropic
) -> None:
    made = await connect(tmp_path, api)
    assert list(ring.kept.values()) == [KEY]
    assert KEY not in content(tmp_path)
    assert stat.S_IMODE((tmp_path / "credentials.json").stat().st_mode) == 0o600
    assert (made.described("anthropic").source, made.described("anthropic").note) == ("keyring", "")

    secrets = Secrets()
    again = models(tmp_path, secrets)
    assert again.configured and again.described("anthropic").source == "keyring"
    api.play(in_order([answer(text("Hi."))]))
    request = ModelRequest("claude-sonnet-5-5", "Be brief.", (), (Message("user", (Text("Hi"),)),))
    events = [event async for event in again.get("claude-sonnet-5-5").stream(request)]
    assert events and api.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert secrets.scrub(KEY) != KEY, "it is kept out of everything once it has been read"

    await again.forget("anthropic")
    assert ring.kept == {} and not (tmp_path / "credentials.json").exists()
    await again.close()


async def test_a_new_key_takes_the_old_ones_place(
    tmp_path: Path, ring: Ring, api: FakeAnthropic
) -> None:
    made = await connect(tmp_path, api)
    await made.connect("anthropic", KEY + "-2", api.url)
    assert list(ring.kept.values()) == [KEY + "-2"]


@pytest.mark.parametrize("fault", ["locked", "lossy", "hangs"])
async def test_a_keyring_that_does_not_keep_a_key_is_said_and_the_file_keeps_it(
    tmp_path: Path, ring: Ring, api: FakeAnthropic, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rings, "TIMEOUT", 0.2 if fault == "hangs" else 30.0)
    setattr(ring, fault, threading.Event() if fault == "hangs" else True)
    made = await connect(tmp_path, api)
    now = made.described("anthropic")
    assert now.source == "file" and "in a file" in now.note and KEY not in now.note
    assert {"locked": "is locked", "lossy": "returns other values", "hangs": "did not respond"}[
        fault
    ] in now.note
    kept = json.loads(content(tmp_path))["connections"]["anthropic"]
    assert (kept["key"], kept["url"]) == (KEY, api.url)


@pytest.mark.parametrize(
    "backend",
    [
        Plaintext(),
        Disguised(),
        Hardly(),
        keyring.backends.null.Keyring(),
        keyring.backends.fail.Keyring(),
        chain(Plaintext(), Hardly()),
        chain(),
    ],
    ids=lambda backend: type(backend).__name__,
)
async def test_what_is_no_keyring_is_not_used(
    tmp_path: Path, ring: Ring, api: FakeAnthropic, backend: KeyringBackend
) -> None:
    keyring.set_keyring(backend)
    made = await connect(tmp_path, api)
    now = made.described("anthropic")
    assert now.source == "file" and "no keyring is available here" in now.note
    assert not getattr(backend, "kept", None)


async def test_a_real_one_behind_one_that_is_refused_is_found(
    tmp_path: Path, ring: Ring, api: FakeAnthropic
) -> None:
    plain = Plaintext()
    keyring.set_keyring(chain(plain, ring))
    await connect(tmp_path, api)
    assert list(ring.kept.values()) == [KEY] and plain.kept == {}


async def test_a_locked_keyring_is_said_and_no_request_goes_out_without_its_key(
    tmp_path: Path, ring: Ring, api: FakeAnthropic
) -> None:
    await connect(tmp_path, api)
    asked = len(api.exchanges)
    ring.locked = True
    again = models(tmp_path)
    _, error = await again.available()
    assert error is not None and error.code == "no_key"
    assert "is locked. Unlock the keyring and try again" in error.message
    assert KEY not in error.message and api.url not in error.message
    request = ModelRequest("claude-sonnet-5-5", "Be brief.", (), (Message("user", (Text("Hi"),)),))
    with pytest.raises(ModelError, match="keyring"):
        async for _ in again.get("claude-sonnet-5-5").stream(request):
            pass
    assert len(api.exchanges) == asked
    ring.locked = False
    assert (await again.test("anthropic")).works
    await again.close()


async def test_what_cannot_be_written_leaves_nothing_in_the_keyring(
    tmp_path: Path, ring: Ring, api: FakeAnthropic
) -> None:
    (tmp_path / "not-a-folder").write_text("")
    made = models(tmp_path / "not-a-folder" / "here")
    with pytest.raises(Exception, match="Nothing saved"):
        await made.connect("anthropic", KEY, api.url)
    assert ring.kept == {} and not made.configured
