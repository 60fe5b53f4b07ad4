"""Reads the results of each attack from the test runners."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree


@dataclass(frozen=True)
class Attack:
    """``area`` and ``name`` are the names of the test's file and of the test, in words."""

    area: str
    name: str
    held: bool
    browser: bool


def of_pytest(xml: str) -> list[Attack]:
    """Read JUnit's XML. A skipped attack was not tried, so it did not hold."""
    cases = ElementTree.fromstring(xml).iter("testcase")
    return [
        Attack(
            area=_words(re.findall(r"\btest_\w+", case.attrib["classname"])[-1]),
            name=_words(case.attrib["name"]),
            held=not any(case.find(kind) is not None for kind in ("failure", "error", "skipped")),
            browser=False,
        )
        for case in cases
    ]


def of_playwright(written: str) -> list[Attack]:
    """Read the JSON of Playwright's reporter."""
    return [
        Attack(
            area=_words(PurePosixPath(spec["file"]).name.removesuffix(".spec.ts")),
            name=spec["title"],
            held=bool(spec["ok"]) and all(test["status"] == "expected" for test in spec["tests"]),
            browser=True,
        )
        for spec in _specs(json.loads(written)["suites"])
    ]


def _specs(suites: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for suite in suites:
        yield from suite.get("specs", ())
        yield from _specs(suite.get("suites", []))


def _words(name: str) -> str:
    """`test_a_forged_decision[late]` as `a forged decision: late`."""
    stem, _, case = name.removeprefix("test_").partition("[")
    words = re.sub(r"[_-]+", " ", stem)
    return f"{words}: {case.removesuffix(']')}" if case else words
