from __future__ import annotations

import json

import pytest

from jupyter_codeinterp.core.redaction.secrets import REMOVED, Secrets


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
