"""Sentences of errors in the language of the page, with a real catalogue of a language pack."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from jupyterlab_server import translation_utils as lab

from jupyter_codeinterp.base.errors import CodeInterpError, CommandError
from jupyter_codeinterp.base.sentences import (
    Sentence,
    from_journal,
    in_english,
    to_journal,
    together,
)
from jupyter_codeinterp.base.translation import DOMAIN, load_catalogue, translated
from jupyter_codeinterp.features.mcp_client.entries import PERSONAL
from jupyter_codeinterp.kernel.wire.port import GONE
from jupyter_codeinterp.run.job import REFUSALS
from jupyter_codeinterp.run.verify import verification
from jupyter_codeinterp.sandbox.network.book import NOT_LISTED, REASONS, ConnectionRecord
from jupyter_codeinterp.sandbox.network.book import sentence as refused_connections
from jupyter_codeinterp.sandbox.overlay.changes import Entry, refusal
from jupyter_codeinterp.sandbox.overlay.keeping import not_written
from jupyter_codeinterp.sandbox.shared.limits import (
    KernelLimits,
    memory_limit,
    went_on_writing,
    wrote_too_much,
)
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from scripts import messages
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text, wrong_key
from tests.reference_window import body
from tests.site import Site
from tests.test_rest import ROUTES, SESSION

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
def words() -> dict[str, str]:
    """Sentences of the language pack."""
    return GERMAN


@pytest.fixture
def german(
    words: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """A language pack, as installed with pip, in the language of JupyterLab's page."""
    pack = "jupyterlab_language_pack_de_DE"
    folder = tmp_path / pack / "locale" / "de_DE" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (tmp_path / pack / "__init__.py").touch()
    catalogue = Catalog(locale="de_DE", domain=DOMAIN)
    for template, translation in words.items():
        catalogue.add(template, translation)
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
        translated(CommandError("x", UNKNOWN, name=value).message)
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
        assert translated(error.message) == error.message == template.format(name=value).strip()
    with pytest.raises(KeyError):
        CommandError("x", "{name.__class__}", name=value)


def test_odd_sentences(german: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert translated(CommandError("x", "many {count:,}", count=1234).message) == "1,234 viele"
    for words in ("", "{not} a {template", "Not in the catalogue."):
        assert translated(CommandError("x", words).message) == words
    load_catalogue()
    assert not lab.translator._TRANSLATORS.keys() - {DOMAIN}
    monkeypatch.delitem(sys.modules, lab.__name__)
    load_catalogue()
    assert translated(CommandError("x", UNKNOWN, name="a").message) == "Unknown provider “a”."
    assert lab.__name__ not in sys.modules


# --- every sentence can be found by a translator -----------------------------------


def is_literal(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Dict):
        return all(map(is_literal, node.values))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in (
        "Sentence",
        "together",
        "as_it_is",
    ):
        return True  # The test checks each ``Sentence`` call; other texts are not translated.
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def assigned(body: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    for node in ast.walk(body):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                if isinstance(target, ast.Name):
                    yield target.id, node.value
                elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    for name, value in zip(target.elts, node.value.elts, strict=True):
                        yield ast.unparse(name), value
        elif isinstance(node, ast.arg) and node.annotation is not None:
            typed = ast.unparse(node.annotation) == "Sentence"  # mypy looks at it.
            yield node.arg, ast.Constant("") if typed else None


def is_known(
    words: ast.expr,
    local: list[tuple[str, ast.expr | None]],
    constants: dict[str, list[ast.expr | None]],
) -> bool:
    """Whether it is a literal, or the name of one or of a table of some."""
    if isinstance(words, ast.Subscript):
        words = words.value
    if isinstance(words, ast.Call) and getattr(words.func, "attr", "") == "get":
        words = words.func.value if isinstance(words.func, ast.Attribute) else words
    if isinstance(words, ast.IfExp):
        return all(is_known(one, local, constants) for one in (words.body, words.orelse))
    if isinstance(words, ast.Name):
        values = [value for known, value in local if known == words.id]
        values = values or constants.get(words.id, [])
        others = [value for value in values if not is_literal(value)]
        return bool(values) and all(
            one is not None and is_known(one, local, constants) for one in others
        )
    return is_literal(words)


def not_literal(source: str, constants: dict[str, list[ast.expr | None]]) -> list[str]:
    """Sentences that are neither literals nor names of one."""
    tree = ast.parse(source)
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        local = list(assigned(node))
        for made in ast.walk(node):
            if not (
                isinstance(made, ast.Call)
                and ast.unparse(made.func) in messages.PLACES
                and made.args
            ):
                continue
            words = made.args[messages.PLACES[ast.unparse(made.func)]]
            if not is_known(words, local, constants):
                found.append(ast.unparse(made))
    return found


def constants_of(source: str) -> dict[str, list[ast.expr | None]]:
    constants: dict[str, list[ast.expr | None]] = {}
    for node in ast.parse(source).body:
        for name, value in assigned(node) if isinstance(node, ast.Assign) else ():
            constants.setdefault(name, []).append(value)
    return constants


def test_every_sentence_is_a_literal() -> None:
    sources = {path: path.read_text() for path in sorted(PRODUCT.rglob("*.py"))}
    for path, source in sources.items():
        if path.parent.name == "base" or "class Sentence" in source:
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


def test_the_reasons_of_receipts_can_be_translated() -> None:
    """Those of windows, in TypeScript, and those of the server's own documents."""
    source = PRODUCT.parent / "src" / "notebook" / "document"
    window = "".join((source / f"{name}.ts").read_text() for name in ("ops", "receipts"))
    given = set(re.findall(r"(?:reason:|reason =|locked \|\||UNSHOWN =)\s+'(.*?)'", window))
    for name in ("apply.py", "room/shared.py"):
        text = (PRODUCT / "notebook" / name).read_text()
        given |= set(re.findall(r'(?:reason=|NOT_TAKEN = )"(.*?)"', text))
    others = {"", "the cell is not in the notebook", "the cell has changed since"}  # not "refused"
    assert len(given) > 6 and given - others <= set(REFUSALS)


def test_a_sentence_without_arguments_is_not_filled() -> None:
    assert CodeInterpError("x", "{a} { }").message == "{a} { }"


# --- sentences within events -------------------------------------------------------

HERE = "This conversation does not exist."
THERE = "Dieses Gespräch gibt es nicht."


def made(kind: Any) -> Any:
    """A value of the type, with a sentence wherever it can have one."""
    if isinstance(kind, msgspec.inspect.CustomType):
        return Sentence(UNKNOWN, name=Sentence(HERE))
    if isinstance(kind, msgspec.inspect.StructType):
        return kind.cls(**{field.name: made(field.type) for field in kind.fields})
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return (made(kind.item_type),)
    if isinstance(kind, msgspec.inspect.UnionType):
        return made(kind.types[0])
    if isinstance(kind, msgspec.inspect.LiteralType):
        return kind.values[0]
    kinds = msgspec.inspect
    plain: dict[Any, Any] = {
        kinds.StrType: "x",
        kinds.IntType: 1,
        kinds.FloatType: 1.0,
        kinds.BoolType: True,
    }
    return plain.get(type(kind))


def sentences(value: Any) -> list[Sentence]:
    if isinstance(value, Sentence):
        return [value]
    if isinstance(value, msgspec.Struct):
        value = tuple(msgspec.structs.asdict(value).values())
    return [one for part in value for one in sentences(part)] if isinstance(value, tuple) else []


EVENTS = [made(msgspec.inspect.type_info(kind)) for kind in get_args(e.Event)]
WITH_SENTENCES = [event for event in EVENTS if sentences(event)]


def test_kinds_of_events_that_have_sentences() -> None:
    tags = {event.__struct_config__.tag for event in WITH_SENTENCES}
    assert tags == {
        *("turn_ended", "files_kept", "step_discarded", "retrying", "note"),
        *("tool_started", "draft_opened", "draft_waiting", "draft_decided", "tool_done"),
    }


@pytest.mark.parametrize("event", WITH_SENTENCES, ids=lambda event: str(type(event).__name__))
def test_an_event_is_journaled_with_its_templates(event: e.Event) -> None:
    written = e.event_json(event)
    read = e.read_event(written)
    assert read == event and sentences(read) == sentences(event)
    assert [one.arguments for one in sentences(read)] == [one.arguments for one in sentences(event)]
    assert {one.template for one in sentences(read)} == {UNKNOWN}
    english = e.with_strings(written)
    assert b"template" not in english and e.read_event(english) == event


async def test_a_page_reads_no_english_in_events(
    site: Site, api: FakeAnthropic, german: None, tmp_path: Path
) -> None:
    api.play([answer(text("Done."))])
    window = await site.window()
    await window.ask("Go")
    await window.event(e.TurnEnded)
    session = site.extension.manager.session(window.session_id)
    for event in WITH_SENTENCES:
        if not isinstance(event, e.TurnEnded):
            session.log.publish(event)
    session.log.publish(next(one for one in WITH_SENTENCES if isinstance(one, e.TurnEnded)))
    await window.event(e.TurnEnded, 2)
    said = [sentences(event) for _, event in window.events[-len(WITH_SENTENCES) :]]
    told = f"Den Anbieter „{THERE}“ gibt es nicht."
    assert [set(one) for one in said] == [{told}] * len(WITH_SENTENCES)
    for headers, words in (({}, f"Unknown provider “{HERE}”."), ({"Accept-Language": "de"}, told)):
        path = ("sessions", window.session_id, "events")
        listed = body(await site.request("GET", *path, headers=headers))["events"]
        assert listed[-1]["event"]["message"] == words


def test_translators_get_every_sentence() -> None:
    found = {message.id for message in messages.catalogue() if message.id}
    assert len(found) > 400
    for words in (
        *(UNKNOWN, HERE, "Restart the kernel"),
        "`{code}` matched 0 of {rows:,} rows; the column has {values}.",  # a constant of a choice
        "{count} of {rows:,} values of `{column}` could not be read as dates and are missing now, "
        "such as {examples}.",  # of a table
        "The title is longer than {limit} characters.",  # of a local variable
    ):
        assert words in found


def test_an_older_journal_has_strings() -> None:
    note = e.read_event(b'{"type":"note","text":"a {b} c"}')
    assert (note.text, note.text.template) == ("a {b} c", "") and translated(note.text) == "a {b} c"
    for broken in (b'{"a": 1}', b"[]", b"1", b'{"template": "{a}"}'):
        with pytest.raises(msgspec.ValidationError):
            e.read_event(b'{"type":"note","text":' + broken + b"}")


def test_sentences_of_a_kernels_end_a_sandbox_and_its_files_keep_their_templates() -> None:
    limits = KernelLimits(2 * 1024**3, 0, 0, 0, 3 * 1024**3)
    gone = together(went_on_writing(limits, hides=True), GONE)
    line = verification.CellLine("a", 1, "x", "same")
    found = (
        *(memory_limit(limits), went_on_writing(limits, hides=False)),
        *(wrote_too_much(limits, overlay=True, hides=True), not_written(OSError(28, "full"))),
        refusal(".git", Entry("file", "", 0, 0, (0, 0, 0, 0))),
        *(gone, verification.summary(verification.Verification("a", "failed", (line,)))),
    )
    known = {message.id for message in messages.catalogue()}
    for one in found:
        assert any(part.template in known for part in parts_of(one)), one
        for part in parts_of(one):
            # What ``together`` joins has only fields.
            assert part.template in known or not re.sub(r"{\d+}|[ ,\n]", "", part.template), one
        written = msgspec.json.encode(one, enc_hook=to_journal)
        read = from_journal(Sentence, msgspec.json.decode(written))
        assert (read, read.template) == (one, one.template)


def test_reasons_that_come_from_other_processes_are_sentences_again() -> None:
    known = {message.id for message in messages.catalogue()}
    for english, words in REASONS.items():
        assert words == english and words.template in known
    said = refused_connections([ConnectionRecord(0, "a.org:443", str(NOT_LISTED))])
    assert said == "The sandbox refused connections: a.org:443 (not on the list of allowed hosts)."
    assert str(NOT_LISTED) in {part.template for part in parts_of(said)}


def parts_of(sentence: Sentence) -> Iterator[Sentence]:
    """The sentence, and those among its arguments."""
    yield sentence
    for one in sentence.arguments.values():
        if isinstance(one, Sentence):
            yield from parts_of(one)


# --- a page reads no English -------------------------------------------------------

MARKED = re.compile("⟦[^⟦⟧]*⟧")
NOT_OURS = {"source", "expect", "code", "title", "outputs", "detail", "label"}
"""Fields with code, titles by the model, outputs, what the model reads, and names of providers."""
DATA = "ZeroDivisionError: division by zero"
"""From the kernel."""


def english(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Texts of three words and more that no translation has marked, with their paths."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in NOT_OURS:
                yield from english(one, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for one in value:
            yield from english(one, path)
    elif isinstance(value, str):
        left = value
        while MARKED.search(left):
            left = MARKED.sub("", left)
        if len(re.findall(r"[A-Za-z]{2,}", left)) >= 3 and " " in left.strip():
            yield path, value


@pytest.mark.parametrize(
    "words", [{str(one.id): f"⟦{one.id}⟧" for one in messages.catalogue() if one.id}]
)
async def test_a_page_reads_no_english_in_a_conversation(
    site: Site, api: FakeAnthropic, german: None
) -> None:
    """Each sentence of the catalogue is marked by its translation."""
    api.play(
        in_order(
            [
                answer(run_cell("import os, requests\nos.remove('a.csv')\n!pip install nothing")),
                answer(run_cell("1 / 0")),
                answer(text("Done.")),
                wrong_key(),
            ]
        )
    )
    window = await site.window(kernel_id=await site.kernel())
    await window.ask("Go")
    first = await window.draft()
    await window.decide(first, "reject")
    await window.decide(await window.draft(2))
    await window.event(e.TurnEnded)
    await window.ask("Again")
    await window.event(e.TurnEnded, 2)
    settings = site.app.web_app.settings["codeinterp_tool_servers"]._settings
    settings.folder.mkdir(parents=True, exist_ok=True)
    (settings.folder / PERSONAL).write_text('{"mcpServers": {"a": {}, "b": {"command": 1}}}')
    headers = {**await site.of_a_page(), "Accept-Language": "de"}
    answers: list[tuple[str, Any]] = []
    for method, route, _ in ROUTES:
        if route not in ("channel", "local", "demo") and "connections/" not in route:
            for named in {route, route.replace(SESSION, window.session_id)}:
                if method == "DELETE" and named != route:
                    continue
                got = await site.request(method, named, headers=dict(headers))
                if got.body and "json" in got.headers.get("Content-Type", ""):
                    answers.append((f"{method} {route}", body(got)))
    found = {
        one
        for named, got in answers
        if "/sent/" not in named  # the request to the model
        for one in english(got, named)
    }
    for frame in window.frames:
        found |= set(english(msgspec.to_builtins(frame, enc_hook=in_english), type(frame).__name__))
    for _, event in window.events:
        found |= set(english(msgspec.to_builtins(event, enc_hook=in_english), type(event).__name__))
    assert len(answers) > 20
    assert {one for one in found if one[1] != DATA} == set()
    served = str(answers)
    assert "⟦it has neither a command nor an address⟧" in served
