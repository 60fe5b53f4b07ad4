"""Attacks what docs/security.md promises, and prints what held. Fails if something did not."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import report
from .results import Attack, of_playwright, of_pytest

ATTEMPTS = "2000"
"""Random attempts of each test that makes some; without this their own default holds."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/attack", description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer random attempts")
    parser.add_argument("--no-browser", action="store_true", help="raw clients and kernels only")
    parser.add_argument(
        "--write", action="store_true", help=f"renew the table in {report.DOCUMENT}"
    )
    options = parser.parse_args()
    if options.write and (options.short or options.no_browser):
        parser.error("--write needs all attacks")
    environment = dict(os.environ)
    if not options.short:
        environment["CODEINTERP_ATTEMPTS"] = ATTEMPTS
    began = time.monotonic()
    attacks = _with_raw_clients(environment)
    if not options.no_browser:
        attacks += _in_a_browser(environment)
    seconds = time.monotonic() - began
    print(f"\n{report.markdown(attacks, seconds)}\n")
    if options.write:
        report.write(attacks, seconds)
    failed = sum(not attack.held for attack in attacks)
    print(f"{len(attacks) - failed} passed, {failed} failed in {seconds:.1f}s")
    return 1 if failed else 0


def _with_raw_clients(environment: dict[str, str]) -> list[Attack]:
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "pytest.xml")
        every = ["--nightly"] if "CODEINTERP_ATTEMPTS" in environment else []
        command = ["pytest", "tests/attacks", *every, f"--junitxml={written}", "-o", "timeout=1200"]
        ended = subprocess.run(command, env=environment).returncode
        if not written.exists():
            raise SystemExit(f"pytest did not come to its end ({ended})")
        return of_pytest(written.read_text(encoding="utf-8"))


def _in_a_browser(environment: dict[str, str]) -> list[Attack]:
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, "playwright.json")
        environment = {**environment, "PLAYWRIGHT_JSON_OUTPUT_FILE": str(written)}
        command = ["jlpm", "test", "tests/attacks", "--reporter=list,json"]
        ended = subprocess.run(command, cwd="ui-tests", env=environment).returncode
        if not written.exists():
            raise SystemExit(f"Playwright did not come to its end ({ended})")
        return of_playwright(written.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
