"""Plain English in the strings of the page, the terminal and the server, and in the docs.

``TURNS`` lists turns of phrase that make a reader stop, each with what to write instead.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

TURNS = {
    r"\b(is|are|was|were) (said|told)\b(?! to\b)": "name who says it: “the server reports …”",
    r"\bof (theirs|ours|its own kind)\b": "“their …”, “our …”",
    r"\bno leave\b|\bleave to (do|run|execute)\b": "“not allowed to …”",
    r"\bstands? (there|here|in|below|above|beside|after)\b": "“is in …”, “follows …”",
    r"\b(is|are|was|were) (left )?as (it|they) (is|are|was|were)\b": "“was not changed”",
    r"\bnone of (them|these)\b": "“no …”",
    r"\bmend(s|ed|ing)?\b": "“fix”",
    r"\b(is|are) called so\b": "“no matching …”",
    r"\bnobody\b": "“no one”",
    r"\bwho is who\b|\bwhat is what\b": "name the two things",
    r"\banew\b": "“again”, “reload”",
    r"\b(has|have) not come\b": "“could not load …”",
    r"\bnone answers\b": "“no … found”",
    r"\bis (no|not any) more\b|\bany more\b(?= ?[.:;,]|$)": "“no longer …”",
    r"\bput(s|ting)? back already\b": "“already restored”",
    r"\bbeside (it|the notebook)\b": "“next to the notebook”",
    r"\bwhat (else )?is \w+ (is|are|was)\b": "a noun: “other defects”",
    r"\bgo(es)? on as\b": "“continues”",
    r"\bis to be (done|said|told|\w+ed)\b": "“must be …”, or an imperative",
    r"\bat most so often\b": "“at most N times”",
    r"\bsay more of it\b|\bsays of\b": "“reports on”, “give more …”",
    r"\bhas not obeyed\b": "“did not react”",
    r"(?<!there )\b(is|are) no (address|answer|file|image|tool|provider|model)\b": "“is not …”",
}
"""Turns that no string may have, by regular expression, and the plain alternative."""

LONGEST = 25
"""Words in a sentence of a string that people read."""


def python_strings() -> Iterator[tuple[str, str]]:
    """Every message in the package: a constant with a blank in it that is no docstring."""
    for path in sorted((ROOT / "jupyter_codeinterp").rglob("*.py")):
        tree = ast.parse(path.read_text())
        skipped = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                skipped.add(node.value)
            if isinstance(node, ast.JoinedStr):
                skipped.update(part for part in node.values if isinstance(part, ast.Constant))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "X"
                    for part in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node in skipped:
                    continue
                text = node.value
            else:
                continue
            if " " in text.strip():
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/"""
    r"""|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`"""
    r"""|(?<![=\-])>([^<>{}=;()]*[A-Za-z]{2}[^<>{}=;()]*)<""",
    re.DOTALL,
)


def page_strings() -> Iterator[tuple[str, str]]:
    """Strings, templates and text between tags in the front end."""
    for path in sorted((ROOT / "src").rglob("*.ts*")):
        if "__tests__" in path.parts:
            continue
        source = path.read_text()
        for found in TOKENS.finditer(source):
            text = next((group for group in found.groups() if group is not None), "")
            if " " in text.strip():
                line = source.count("\n", 0, found.start()) + 1
                yield f"{path.relative_to(ROOT)}:{line}", re.sub(r"\$\{[^}]*\}", "X", text)


def schema_strings() -> Iterator[tuple[str, str]]:
    def texts(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name in ("title", "description", "label", "caption") and isinstance(inner, str):
                    yield inner
                yield from texts(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from texts(inner)

    for path in sorted((ROOT / "schema").glob("*.json")):
        for text in texts(json.loads(path.read_text())):
            yield str(path.relative_to(ROOT)), text


NOT_PROSE = re.compile(r"<!-- begin: .*?<!-- end -->|“[^”\n]*”|(?<=\| )nobody +(?=\|)", re.DOTALL)
"""Tables that a command writes, quoted names of tests, and a state's name: all repeat code."""


def docs() -> Iterator[tuple[str, str]]:
    pages = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "adr").glob("*.md")]
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *pages):
        prose = NOT_PROSE.sub(lambda found: "\n" * found[0].count("\n"), path.read_text())
        for number, line in enumerate(prose.splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def faults(strings: Iterator[tuple[str, str]]) -> list[str]:
    found = []
    for where, text in strings:
        for turn, instead in TURNS.items():
            if hit := re.search(turn, text, re.IGNORECASE):
                found.append(f"{where}: “{hit[0]}” in {text[:120]!r}: write {instead}")
    return found


@pytest.mark.parametrize("strings", [python_strings, page_strings, schema_strings, docs])
def test_no_string_has_a_forbidden_turn(strings: object) -> None:
    assert callable(strings)
    assert not (found := faults(strings())), "\n".join(found)


def test_sentences_on_the_page_are_short() -> None:
    """Also those in descriptions of settings; the model's instructions may be longer."""
    found = []
    for strings in (page_strings, schema_strings):
        for where, text in strings():
            if "<svg" in text:
                continue
            for sentence in re.split(r"(?<=[.:;!?])\s+", text):
                if len(re.findall(r"\w+", sentence)) > LONGEST and "." in text:
                    found.append(f"{where}: {sentence!r}")
    assert not found, "\n".join(found)
