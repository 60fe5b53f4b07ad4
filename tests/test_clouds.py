"""Claude behind the doors of the clouds: who signs in, and what is said when nobody can. What comes
of an answer is in test_wires.py, for each of them as for all others.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic.clouds import (
    BEDROCK,
    CLOUDS,
    FOUNDRY,
    VERTEX,
)
from jupyter_codeinterp.models.http.model import HttpModel
from jupyter_codeinterp.models.http.provider import provider_of
from jupyter_codeinterp.models.http.service import Service, resolve
from jupyter_codeinterp.wire.messages import Text, user
from jupyter_codeinterp.wire.ports import ModelRequest, ModelText
from jupyter_codeinterp.wire.providers import Credentials, origin
from tests.anthropic_talk import connected, joined
from tests.fake_anthropic import HttpError, Step, answer, on_loop, text
from tests.fake_clouds import (
    ACCESS_KEY,
    SECRET_KEY,
    FakeBedrock,
    FakeFoundry,
    FakeTokens,
    FakeVertex,
    forget_sessions,
    service_account,
)
from tests.fake_clouds.google import TOKEN
from tests.wires import WIRES

KEY = "sk-test-key-0123456789"
SESSION = "FwoGZXIvYXdzEfake-session-token-0123456789"


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of the person or the machine that runs the tests."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "PROFILE", "REGION"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    for name in (
        *("AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "ANTHROPIC_BEDROCK_BASE_URL"),
        *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUD_ML_REGION"),
        *("ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_BASE_URL"),
        *("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_API_KEY"),
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    forget_sessions()


def asking(cloud: Service) -> ModelRequest:
    return ModelRequest(cloud.models[0], "Be brief.", (), (user(Text("Hello?")),))


async def said(model: HttpModel, cloud: Service) -> str:
    try:
        return joined([event async for event in model.stream(asking(cloud))], ModelText)
    finally:
        await model.aclose()


async def failure(cloud: Service, **options: Any) -> ModelError:
    options = {"attempts": 1, **options}
    with pytest.raises(ModelError) as caught:
        await said(connected(cloud, **options), cloud)
    assert SECRET_KEY not in str(caught.value) and caught.value.__cause__ is None
    return caught.value


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)


# --- signing in ------------------------------------------------------------------------------


@pytest.mark.usefixtures("aws")
def test_a_request_to_bedrock_is_signed_as_aws_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    @on_loop
    async def run() -> None:
        async with FakeBedrock([answer(text("Hi."))]) as api:
            monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", api.url)
            assert await said(connected(BEDROCK), BEDROCK) == "Hi."
            headers = api.requests[0].headers
            assert api.violations == []
        assert headers["authorization"].startswith(f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/")
        assert headers["x-amz-security-token"] == SESSION
        assert SECRET_KEY not in str(headers)

    run()


@pytest.mark.usefixtures("aws")
def test_keys_of_a_profile_are_found_and_kept_out_of_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    words = f"aws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
    (tmp_path / "credentials").write_text(f"[work]\n{words}aws_session_token = {SESSION}\n")
    monkeypatch.setenv("AWS_PROFILE", "work")
    learnt: list[str] = []

    @on_loop
    async def run() -> None:
        async with FakeBedrock([answer(text("Hi."))]) as api:
            monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", api.url)
            assert await said(connected(BEDROCK, learn=learnt.append), BEDROCK) == "Hi."

    run()
    assert set(learnt) == {SECRET_KEY, SESSION}


def test_a_token_of_google_is_made_used_and_kept_out_of_everything(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    learnt: list[str] = []

    @on_loop
    async def run() -> None:
        with FakeTokens() as tokens:
            file = service_account(tmp_path / "account.json", tokens.url)
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
            steps: list[Step] = [
                answer(text("Hi.")),
                HttpError(400, "odd", f"The token {TOKEN} is odd."),
            ]
            async with FakeVertex(steps) as api:
                monkeypatch.setenv("ANTHROPIC_VERTEX_BASE_URL", f"{api.url}/v1")
                monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "my-project")
                monkeypatch.setenv("CLOUD_ML_REGION", "eu-west-1")
                model = connected(VERTEX, learn=learnt.append)
                shown = [event async for event in model.stream(asking(VERTEX))]
                assert joined(shown, ModelText) == "Hi."
                assert api.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
                assert tokens.asked == 1 and api.violations == []
                with pytest.raises(ModelError) as caught:
                    await said(model, VERTEX)
        assert "The token [key] is odd" in caught.value.message

    run()
    assert set(learnt) == {TOKEN}


def test_a_key_of_foundry_belongs_to_its_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-of-anthropic-0123456789")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Of-Anthropic: 1")

    @on_loop
    async def run() -> None:
        async with FakeFoundry([answer(text("Hi."))]) as api:
            monkeypatch.setenv("ANTHROPIC_FOUNDRY_BASE_URL", api.place)
            monkeypatch.setenv("ANTHROPIC_FOUNDRY_API_KEY", KEY)
            assert await said(connected(FOUNDRY), FOUNDRY) == "Hi."
            headers = api.requests[0].headers
        assert headers["x-api-key"] == KEY
        assert "of-anthropic" not in str(headers).lower()

    run()


# --- nobody can ------------------------------------------------------------------------------


@pytest.mark.parametrize("cloud", [BEDROCK, VERTEX], ids=lambda cloud: cloud.name)
def test_a_missing_package_is_said_with_the_line_that_installs_it(
    cloud: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = {"bedrock": "boto3", "vertex": "google.auth"}[cloud.name]
    monkeypatch.setitem(sys.modules, package, None)

    @on_loop
    async def run() -> None:
        error = await failure(cloud, key=KEY, url="https://127.0.0.1:9/v1")
        assert error.code == "not_installed"
        assert f'pip install "jupyter_codeinterp[{cloud.name}]"' in error.message

    run()


@pytest.mark.parametrize("cloud", CLOUDS, ids=lambda cloud: cloud.name)
def test_a_cloud_without_a_place_asks_for_one(cloud: Service) -> None:
    @on_loop
    async def run() -> None:
        error = await failure(cloud)
        assert error.code == "bad_request" and cloud.unsaid in error.message

    run()


@pytest.mark.parametrize(
    ("cloud", "words"),
    [
        (BEDROCK, "Run “aws configure” or “aws sso login”"),
        (VERTEX, "Run “gcloud auth application-default login”"),
        (FOUNDRY, "or set ANTHROPIC_FOUNDRY_API_KEY"),
    ],
    ids=lambda it: getattr(it, "name", ""),
)
def test_without_credentials_it_is_said_what_to_run(
    cloud: Service, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "my-project")
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_RESOURCE", "mine")

    @on_loop
    async def run() -> None:
        error = await failure(cloud)
        assert error.code == "no_key" and words in error.message

    run()


@pytest.mark.usefixtures("aws")
def test_expired_credentials_of_aws_are_said_to_be_and_new_ones_are_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    form = "[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n"
    file.write_text(form.format("AKIAOLD0123456789ABCD", "an-older-secret-0123456789"))

    @on_loop
    async def run() -> None:
        api = FakeBedrock([answer(text("Hi."))])
        async with api:
            monkeypatch.setenv("ANTHROPIC_BEDROCK_BASE_URL", api.url)
            model = connected(BEDROCK, attempts=1)
            api.expired = True
            with pytest.raises(ModelError) as caught:
                await anext(model.stream(asking(BEDROCK)))
            assert caught.value.code == "no_key"
            assert "expired. Run “aws configure” or “aws sso login”" in caught.value.message
            api.expired = False
            file.write_text(form.format(ACCESS_KEY, SECRET_KEY))
            assert await said(model, BEDROCK) == "Hi."

    run()


@pytest.mark.usefixtures("aws")
def test_a_sign_on_that_has_ended_is_said_with_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "config").write_text(
        "[default]\nsso_session = my\nsso_account_id = 123456789012\nsso_role_name = Me\n"
        "[sso-session my]\nsso_region = eu-west-1\nsso_start_url = https://my.invalid/start\n"
    )

    @on_loop
    async def run() -> None:
        error = await failure(BEDROCK)
        assert error.code == "no_key" and "“aws sso login”" in error.message

    run()


def test_an_account_of_google_that_is_refused_is_said_with_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @on_loop
    async def run() -> None:
        with FakeTokens(refuses="Token has been expired or revoked.") as tokens:
            file = service_account(tmp_path / "account.json", tokens.url)
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
            async with FakeVertex() as api:
                monkeypatch.setenv("ANTHROPIC_VERTEX_BASE_URL", f"{api.url}/v1")
                monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "my-project")
                error = await failure(VERTEX)
                assert api.exchanges == []
        assert error.code == "no_key" and "expired or revoked" in error.message
        assert "Run “gcloud auth application-default login”" in error.message

    run()


# --- where they go ---------------------------------------------------------------------------


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("cloud", [BEDROCK, VERTEX], ids=lambda cloud: cloud.name)
def test_credentials_of_the_machine_go_to_no_address_that_a_person_names(
    cloud: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nor does the API key of the environment, which belongs to the environment's region."""
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)

    @on_loop
    async def run() -> None:
        with FakeTokens() as tokens:
            file = service_account(tmp_path / "account.json", tokens.url)
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
            async with WIRES[cloud.name].fake() as api:
                error = await failure(cloud, url=api.place)
                assert api.exchanges == [] and tokens.asked == 0
        assert error.code == "no_key" and "nothing is sent there" in error.message

    run()


@pytest.mark.parametrize(
    ("cloud", "places", "url"),
    [
        (BEDROCK, {"AWS_REGION": "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com"),
        (VERTEX, {"ANTHROPIC_VERTEX_PROJECT_ID": "p"}, "https://aiplatform.googleapis.com/v1"),
        (
            VERTEX,
            {"ANTHROPIC_VERTEX_PROJECT_ID": "p", "CLOUD_ML_REGION": "eu"},
            "https://aiplatform.eu.rep.googleapis.com/v1",
        ),
        (
            VERTEX,
            {"ANTHROPIC_VERTEX_PROJECT_ID": "p", "CLOUD_ML_REGION": "europe-west1"},
            "https://europe-west1-aiplatform.googleapis.com/v1",
        ),
        (
            FOUNDRY,
            {"ANTHROPIC_FOUNDRY_RESOURCE": "mine"},
            "https://mine.services.ai.azure.com/anthropic",
        ),
    ],
)
def test_the_environment_names_the_place(
    cloud: Service, places: dict[str, str], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in places.items():
        monkeypatch.setenv(name, value)
    found = resolve(cloud, None, None)
    assert (found.base_url, found.signs_in) == (url, bool(cloud.sign_in))
    here = origin(url).removesuffix(":443")
    for other in (f"{here}.evil.example", url.replace("https", "http"), "https://evil.example"):
        assert not resolve(cloud, None, other).signs_in


@pytest.mark.usefixtures("aws")
def test_credentials_that_lie_there_for_other_programs_connect_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/account.json")
    bedrock, vertex, foundry = map(provider_of, CLOUDS)
    assert not any(one.ready(Credentials()) for one in (bedrock, vertex, foundry))
    assert bedrock.ready(Credentials(None, bedrock.home)), "who connects it means it"
    monkeypatch.setenv("ANTHROPIC_VERTEX_PROJECT_ID", "my-project")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_RESOURCE", "mine")
    assert all(one.ready(Credentials()) for one in map(provider_of, CLOUDS))
