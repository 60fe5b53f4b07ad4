"""Sentences of errors in the language of the page, with a real catalogue of a language pack."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from jupyterlab_server import translation_utils as lab

from jupyter_codeinterp.base.errors import CodeInterpError, CommandError
from jupyter_codeinterp.base.translation import DOMAIN, load_catalogue, translated
from jupyter_codeinterp.wire import commands as c
from tests.reference_window import body
from tests.site import Site

PRODUCT = Path(__file__).parents[1] / "jupyter_codeinterp"
UNKNOWN = "Unknown provider “{name}”."
GERMAN = {
    UNKNOWN: "Den Anbieter „{name}“ gibt es nicht.",
    "This conversation does not exist.": "Dieses Gespräch gibt es nicht.",
    "reads {name}": "{name.__class__}",
    "numbered {name}": "{} {0}",
    "missing {name}": "{other}",
    "many {count:,}": "{count:,} viele",
    "broken {name}": "{name",
    "typed {name}": "{name:d}",
}


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A language pack, as installed with pip, in the language of JupyterLab's page."""
    pack = "jupyterlab_language_pack_de_DE"
    folder = tmp_path / pack / "locale" / "de_DE" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (tmp_path / pack / "__init__.py").touch()
    catalogue = Catalog(locale="de_DE", domain=DOMAIN)
    for template, words in GERMAN.items():
        catalogue.add(template, words)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    (folder / f"{DOMAIN}.mo").write_bytes(compiled.getvalue())
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(lab.translator, "_TRANSLATORS", {})
    monkeypatch.setattr(lab.translator, "_LOCALE", "de_DE")
    yield
    sys.modules.pop(pack, None)


async def test_a_page_reads_its_language_and_a_program_english(site: Site, german: None) -> None:
    window = await site.window()
    reply = await window.send(c.Cancel("0" * 32))
    assert (reply.error, reply.message) == ("unknown_session", "Dieses Gespräch gibt es nicht.")
    for languages, told in (
        ({"Accept-Language": "de"}, "Den Anbieter „nobody“ gibt es nicht."),
        ({}, "Unknown provider “nobody”."),
    ):
        headers = {**await site.of_a_page(), **languages}
        path = ("connections", "nobody", "test")
        answered = await site.request("POST", *path, headers=headers, json_body={})
        assert body(answered) == {"code": "unknown_provider", "message": told}


@pytest.mark.parametrize("value", ["a", "{name}", "{name.__class__}", "{", "}}", "{0!r:>9}", ""])
def test_arguments_are_never_templates(german: None, value: str) -> None:
    assert (
        translated(CommandError("x", UNKNOWN, name=value))
        == f"Den Anbieter „{value}“ gibt es nicht."
    )
    for template in (
        "reads {name}",
        "numbered {name}",
        "missing {name}",
        "broken {name}",
        "typed {name}",
    ):
        error = CommandError("x", template, name=value)
        assert translated(error) == error.message == template.format(name=value).strip()
    with pytest.raises(KeyError):
        CommandError("x", "{name.__class__}", name=value)


def test_odd_sentences(german: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert translated(CommandError("x", "many {count:,}", count=1234)) == "1,234 viele"
    for words in ("", "{not} a {template", "Not in the catalogue."):
        assert translated(CommandError("x", words)) == words
    load_catalogue()
    assert not lab.translator._TRANSLATORS.keys() - {DOMAIN}
    monkeypatch.delitem(sys.modules, lab.__name__)
    load_catalogue()
    assert translated(CommandError("x", UNKNOWN, name="a")) == "Unknown provider “a”."
    assert lab.__name__ not in sys.modules


# --- every sentence can be found by a translator -----------------------------------


def is_literal(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Dict):
        return all(map(is_literal, node.values))
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def assigned(body: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    for node in ast.walk(body):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                if isinstance(target, ast.Name):
                    yield target.id, node.value


def not_literal(source: str, constants: dict[str, list[ast.expr | None]]) -> list[str]:
    """Sentences of errors that are neither literals nor names of one."""
    tree = ast.parse(source)
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        local = list(assigned(node))
        for made in ast.walk(node):
            if not (isinstance(made, ast.Call) and ast.unparse(made.func) == "CommandError"):
                continue
            words = made.args[1]
            if isinstance(words, ast.Subscript):
                words = words.value
            if isinstance(words, ast.Name):
                name = words.id
                values = [value for known, value in local if known == name]
                values = values or constants.get(name, [])
                if values and all(map(is_literal, values)):
                    continue
            if not is_literal(words):
                found.append(ast.unparse(made))
    return found


def constants_of(source: str) -> dict[str, list[ast.expr | None]]:
    constants: dict[str, list[ast.expr | None]] = {}
    for node in ast.parse(source).body:
        for name, value in assigned(node) if isinstance(node, ast.Assign) else ():
            constants.setdefault(name, []).append(value)
    return constants


def test_every_sentence_of_a_command_is_a_literal() -> None:
    sources = {path: path.read_text() for path in sorted(PRODUCT.rglob("*.py"))}
    for path, source in sources.items():
        if "CommandError(" not in source:
            continue
        names = constants_of(source)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ImportFrom):
                module = (node.module or "").rpartition(".")[2]
                for other, text in sources.items():
                    if other.stem == module:
                        found = constants_of(text)
                        names.update(
                            {one.name: found[one.name] for one in node.names if one.name in found}
                        )
        assert not not_literal(source, names), path
    made = "def f():\n    words = {}\n    raise CommandError('x', {})"
    for value, words, bad in (
        ("'a'", "words", False),
        ("f'{a}'", "words", True),
        ("''", "f'{a}'", True),
        ("''", "'{}'.format(1)", True),
        ("''", "error.message", True),
        ("''", "UNKNOWN_NAME", True),
    ):
        assert bool(not_literal(made.format(value, words), {})) is bad


def test_a_sentence_without_arguments_is_not_filled() -> None:
    assert CodeInterpError("x", "{a} { }").message == "{a} { }"
