"""The command line in a terminal, as HTML: what stands on the screen after some answers.

Plays the offline demo's recording, so that it needs neither an account nor a network.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from pathlib import Path

import pexpect
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from jupyter_codeinterp import demo

COLUMNS, ROWS = 92, 36
ASKED = "Which region grew fastest? Show it."
QUESTION = "in this turn: "


def played(answers: list[str]) -> str:
    """All that the terminal got, up to the question after these answers."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = demo.copy_demo(Path(folder))
        without_keys = {name: it for name, it in os.environ.items() if "API_KEY" not in name}
        command = [sys.executable, "-m", "jupyter_codeinterp.cli"]
        child = pexpect.spawn(
            command[0],
            [*command[1:], "run", str(notebook.relative_to(folder)), ASKED, "-m", demo.MODEL],
            cwd=folder,
            env={**without_keys, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            encoding="utf-8",
            timeout=40,
            dimensions=(400, COLUMNS),
        )
        said = io.StringIO()
        child.logfile_read = said
        for answer in answers:
            child.expect(QUESTION)
            child.sendline(answer)
        child.expect(QUESTION)
        child.close(force=True)
    return said.getvalue()


def screen(said: str) -> list[str]:
    """The lines as they stand in the end, with their colours: what moves up and is erased was
    shown only while something went on."""
    lines = [""]
    for piece in re.split(r"(\r\n|\n|\r|\x1b\[\d*A|\x1b\[\d*K|\x1b\[\?25[lh])", said):
        if piece in ("\r\n", "\n"):
            lines.append("")
        elif piece.endswith("A") and piece.startswith("\x1b["):
            up = int(piece[2:-1] or 1)
            del lines[len(lines) - up :]
            lines = lines or [""]
        elif piece.startswith("\x1b[") and piece.endswith("K"):
            lines[-1] = ""
        elif piece == "\r" or piece.startswith("\x1b[?25"):
            continue
        else:
            lines[-1] += piece
    return lines


def main() -> None:
    lines = screen(played(["y", "y"]))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in "\n".join(lines).rstrip().split("\n")[-ROWS:]:
        console.print(Text.from_ansi(line), soft_wrap=True)
    text = console.export_html(theme=MONOKAI, inline_styles=True, code_format="<pre>{code}</pre>")
    body = "margin: 14px; background: #0c0c0c; color: #d9d9d9"
    text = text.replace("<pre", '<pre style="margin: 0; font: 14px/17px monospace"')
    sys.stdout.write(f'<body style="{body}">{text}')


if __name__ == "__main__":
    main()
