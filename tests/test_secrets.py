from __future__ import annotations

import json
import random
import string

import pytest

from jupyter_codeinterp.view.redaction.secrets import REMOVED, Secrets


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        (["sk-ant-12345"], "key sk-ant-12345.", f"key {REMOVED}."),
        (["sk-ant-12345"], "sk-ant-12345sk-ant-12345", REMOVED * 2),
        (["sk-ant-12345"], "sk-ant-1234", REMOVED),
        (["sk-ant-12345"], "sk-ant-", "sk-ant-"),
        (["  sk-ant-12345\n"], "sk-ant-12345", REMOVED),
        (["short77"], "short77", "short77"),
        ([""], "nothing", "nothing"),
        (["password"], "password", "password"),
        (["not-needed"], "not-needed", "not-needed"),
        (["sk-no-key-required"], "sk-no-key-required", "sk-no-key-required"),
        (["xxxxxxxxxxxx"], "xxxxxxxxxxxx", "xxxxxxxxxxxx"),
        (["hunter22"], "hunter22", REMOVED),
        ([], "nothing", "nothing"),
        (["secret-value", "secret-value-longer"], "secret-value-longer", REMOVED),
    ],
)
def test_scrub(known: list[str], text: str, expected: str) -> None:
    secrets = Secrets()
    for value in known:
        secrets.add(value)
    assert secrets.scrub(text) == expected


@pytest.mark.parametrize("value", ['with "quotes" and \\', "schlüssel-wört", "tab\there-and-more"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_scrub_finds_what_json_writes(value: str, ascii_only: bool) -> None:
    secrets = Secrets()
    secrets.add(value)
    text = json.dumps({"output": f"it is {value}!"}, ensure_ascii=ascii_only)
    assert json.loads(secrets.scrub(text)) == {"output": f"it is {REMOVED}!"}


# --- what is a key no more -------------------------------------------------------------


def test_what_is_forgotten_may_be_said_and_leaves_nothing_behind() -> None:
    rng = random.Random(1)
    known, empty = Secrets(), Secrets()
    keys = [secret_of(rng, length) for length in (8, 12, 43, 108, 700, 3_000)]
    for key in [*keys, *keys]:
        known.add(key)
    for key in keys:
        known.forget(key)
    assert all(key not in known.scrub(f"a {key} b") for key in keys), "each was added twice"
    for key in keys:
        known.forget(key)
        known.forget("was never added")
        assert known.scrub(f"a {key} b") == f"a {key} b"
    assert known._places == empty._places and not known._forms
    assert not any([*known._starts.values(), *known._ends.values()])


def test_forgetting_one_key_leaves_those_like_it() -> None:
    known = Secrets()
    alike = [f"sk-ant-api03-same-beginning-{n}-and-the-same-end" for n in range(9)]
    for key in alike:
        known.add(key)
    for number, key in enumerate(alike):
        known.forget(key)
        for other in alike[number + 1 :]:
            assert other not in known.scrub(f"x{other}y")
            assert other[::-1] not in known.scrub(other[::-1])


def test_a_long_key_is_found_whole_and_in_parts() -> None:
    known, key = Secrets(), secret_of(random.Random(2), 6_000)
    known.add(key)
    for text in (key, f"x{key}", f"token={key};", key[:200], key[-200:], key[2_001:2_101]):
        left = known.scrub(text)
        assert not any(key[at : at + 20] in left for at in range(0, len(key) - 20, 7)), len(text)


def secret_of(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits, k=length))
