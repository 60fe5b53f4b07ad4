"""What signs in to a cloud is in its requests' signatures and headers, and nowhere else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fake_anthropic import FakeAnthropic, HttpError, answer, in_order, run_cell, text
from tests.fake_clouds import (
    ACCESS_KEY,
    SECRET_KEY,
    FakeBedrock,
    FakeTokens,
    FakeVertex,
    forget_sessions,
    service_account,
)
from tests.fake_clouds.google import TOKEN
from tests.site import Site

SESSION = "FwoGZXIvYXdzEfake-session-token-of-aws-0123456789"
OTHERS = {
    "AWS_BEARER_TOKEN_BEDROCK": "ABSKfake-key-of-bedrock-0123456789",
    "ANTHROPIC_FOUNDRY_API_KEY": "fake-key-of-foundry-0123456789",
    "AZURE_OPENAI_API_KEY": "fake-key-of-azure-openai-0123456789",
}
MODELS = {"bedrock": "global.anthropic.claude-sonnet-5-5", "vertex": "claude-sonnet-5-5"}


@pytest.fixture(params=["bedrock", "vertex"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def cloud(name: str, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[FakeAnthropic]:
    fake = FakeBedrock() if name == "bedrock" else FakeVertex()
    jp_asyncio_loop.run_until_complete(fake.__aenter__())
    yield fake
    jp_asyncio_loop.run_until_complete(fake.__aexit__())


@pytest.fixture
def environment(
    name: str, cloud: FakeAnthropic, api: FakeAnthropic, tmp_path: Path
) -> Iterator[dict[str, str]]:
    forget_sessions()
    with FakeTokens() as tokens:
        yield {
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_BEDROCK_BASE_URL": cloud.url,
            "AWS_REGION": "eu-west-1",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_SESSION_TOKEN": SESSION,
            "ANTHROPIC_VERTEX_BASE_URL": f"{cloud.url}/v1",
            "ANTHROPIC_VERTEX_PROJECT_ID": "my-project",
            "CLOUD_ML_REGION": "eu-west-1",
            "GOOGLE_APPLICATION_CREDENTIALS": str(
                service_account(tmp_path / "account.json", tokens.url)
            ),
        }


@pytest.fixture
def codeinterp_config(name: str) -> dict[str, Any]:
    return {"model": f"{name}/{MODELS[name]}"}


def all_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_credentials_of_a_cloud_are_printed_and_quoted_back_by_its_server(
    site: Site, name: str, cloud: FakeAnthropic, data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = [SECRET_KEY, SESSION] if name == "bedrock" else [TOKEN]
    odd = HttpError(400, "invalid_request_error", f"It is odd: {' and '.join(secrets)}.")
    cloud.play(in_order([answer(run_cell("1")), odd, answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Add.")
    draft = await w.draft()
    await w.decide(draft, source=f"print({secrets!r}); raise ValueError({secrets[-1]!r})")
    ended = await w.ended()
    assert "It is odd" in ended.message and len(cloud.requests) == 2
    answers = [
        (await site.request("GET", *path)).body
        for path in (
            ("status",),
            ("models",),
            ("connections",),
            ("sessions",),
            ("sessions", w.session_id, "events"),
            ("sessions", w.session_id, "sent", "2"),
        )
    ]
    kept = all_of(data_dir)
    for secret in secrets:
        assert not any(secret.encode() in given for given in answers)
        assert secret.encode() not in kept
        assert secret not in caplog.text
        assert not any(secret in str(request.body) for request in cloud.requests)
        assert SECRET_KEY not in str([request.headers for request in cloud.requests])


async def test_a_key_of_a_cloud_that_nobody_asks_is_printed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, key in OTHERS.items():
        monkeypatch.setenv(variable, key)
    bench = site.extension.workbench
    bench.models._learnt.clear()
    bench.models.learn_secrets()
    for key in (*OTHERS.values(), SECRET_KEY, SESSION):
        assert key not in bench.secrets.scrub(f"It is {key}.")
