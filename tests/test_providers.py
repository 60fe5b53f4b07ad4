"""Ids of models: whose each is, and what a provider must be."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic import services as anthropic
from jupyter_codeinterp.models.http.provider import provider_of
from jupyter_codeinterp.models.http.service import ModelServer
from jupyter_codeinterp.models.replay import provider as replay
from jupyter_codeinterp.wire.providers import Credentials, Provider, Providers


def connect(*given: Any) -> Any:
    raise AssertionError("nothing is connected here")


ACME = Provider("acme", "Acme", connect, "fast", key_variables=("ACME_KEY",))


@pytest.fixture(scope="module")
def providers() -> Providers:
    made = Providers(provider_of(anthropic.ANTHROPIC), replay.provider())
    made.add(ACME)
    made.miss("gone")
    return made


@pytest.mark.parametrize(
    ("model_id", "provider", "model"),
    [
        ("claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"),
        ("anthropic/claude-sonnet-5-5", "anthropic", "anthropic/claude-sonnet-5-5"),
        ("team/sonnet", "anthropic", "team/sonnet"),
        ("fast", "anthropic", "fast"),
        ("acme", "anthropic", "acme"),
        ("", "anthropic", ""),
        ("offline-demo", "offline-demo", "offline-demo"),
        ("offline-demo/offline-demo", "offline-demo", "offline-demo"),
        ("acme/fast", "acme", "fast"),
        ("acme/team/fast", "acme", "team/fast"),
        ("acme/", "acme", "fast"),
        ("anthropic/acme/fast", "anthropic", "acme/fast"),
        ("anthropic/offline-demo", "anthropic", "offline-demo"),
    ],
)
def test_whose_a_model_is(providers: Providers, model_id: str, provider: str, model: str) -> None:
    found, name = providers.find(model_id)
    assert (found.name, name) == (provider, model)


NAMES = st.lists(
    st.sampled_from(["acme", "anthropic", "offline-demo", "gone", "claude", "fast", "", "a b"]),
    min_size=1,
    max_size=4,
).map("/".join)


@given(name=NAMES.filter(bool), provider=st.sampled_from(["anthropic", "acme"]))
def test_what_is_listed_is_found_again(providers: Providers, name: str, provider: str) -> None:
    (whose,) = [one for one in providers if one.name == provider]
    found, model = providers.find(providers.id_of(whose, name))
    assert (found.name, model) == (provider, name)


def test_how_models_are_listed(providers: Providers) -> None:
    ours, demo, acme = providers
    assert providers.id_of(ours, "claude-sonnet-5-5") == "claude-sonnet-5-5"
    assert providers.id_of(demo, "offline-demo") == "offline-demo"
    assert providers.id_of(acme, "fast") == "acme/fast"


def test_what_is_for_a_missing_provider_is_for_no_other(providers: Providers) -> None:
    with pytest.raises(ModelError, match="Could not load the provider “gone”"):
        providers.find("gone/model")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "anthropic"}, "already"),
        ({"name": "offline-demo"}, "already"),
        ({"name": "Acme"}, "is not a valid"),
        ({"name": "a/b"}, "is not a valid"),
        ({"name": ""}, "is not a valid"),
        ({"name": "x" * 33}, "is not a valid"),
        ({"label": ""}, "label"),
        ({"connect": None}, "connect"),
    ],
)
def test_what_is_no_provider_is_refused(changed: dict[str, Any], why: str) -> None:
    made = Providers(provider_of(anthropic.ANTHROPIC), replay.provider())
    with pytest.raises(ValueError, match=why):
        made.add(dataclasses.replace(ACME, **changed))
    assert [provider.name for provider in made] == ["anthropic", "offline-demo"]


def test_a_provider_is_ready_with_a_key_or_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACME_KEY", raising=False)
    assert not ACME.ready(Credentials())
    assert ACME.ready(Credentials(url="http://acme.example"))
    monkeypatch.setenv("ACME_KEY", "a-key-of-acme")
    assert ACME.ready(Credentials()) and list(ACME.known_secrets()) == ["a-key-of-acme"]
    keyless = dataclasses.replace(ACME, needs_key=False, key_variables=())
    assert keyless.ready(Credentials())


def test_a_name_at_anthropic_itself_lacks_the_providers() -> None:
    theirs = ModelServer(anthropic.ANTHROPIC, "https://api.anthropic.com")
    assert theirs.own_name("anthropic/claude-x") == theirs.own_name("claude-x") == "claude-x"
    assert (
        ModelServer(anthropic.ANTHROPIC, "http://gateway.example").own_name("anthropic/x")
        == "anthropic/x"
    )
