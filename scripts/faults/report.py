"""The table, with what made it, for people and for docs/reliability.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.documents import cores, made_by, renew
from scripts.tables import table

from .verdict import Verdict

DOCUMENT = Path("docs/reliability.md")
COMMAND = "scripts/torture"
PACKAGES = ("jupyter_server", "ipykernel", "anthropic")
HEADER = (
    "fault",
    "runs",
    "as expected",
    "with a plain statement",
    "lost",
    "doubled",
    "misplaced",
    "otherwise wrong",
)
FAULTS = {
    "server": "server killed (`kill -9`)",
    "kernel": "kernel killed",
    "socket": "socket cut",
    "tab": "tab closed",
    "link": "link to a gateway cut or silent, up to 30 s",
    "remote_kernel": "kernel on a gateway killed",
}


def markdown(verdicts: Mapping[str, Sequence[Verdict]], seconds: float) -> str:
    took = f"{seconds / 60:.0f} minutes"
    return "\n".join(
        [
            made_by(COMMAND, [took, cores()], PACKAGES),
            "",
            figures(verdicts),
            "",
            "Said on the way:",
            "",
            *(f"- {FAULTS[fault]}: {_said(those)}" for fault, those in verdicts.items()),
        ]
    )


def figures(verdicts: Mapping[str, Sequence[Verdict]]) -> str:
    return table([HEADER, *(_row(fault, those) for fault, those in verdicts.items())])


def _row(fault: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    good = [verdict for verdict in verdicts if not verdict.failures]
    stated = [verdict for verdict in good if not verdict.as_expected]
    kinds = ("lost", "doubled", "misplaced", "wrong")
    counts = [sum(bool(getattr(verdict, kind)) for verdict in verdicts) for kind in kinds]
    return (
        FAULTS[fault],
        str(len(verdicts)),
        str(len(good) - len(stated)),
        f"{len(stated)} ({_said(stated)})" if stated else "0",
        *map(str, counts),
    )


def _said(verdicts: Sequence[Verdict]) -> str:
    counts = Counter(name for verdict in verdicts for name in dict.fromkeys(verdict.said))
    return ", ".join(f"“{name}” {times}" for name, times in counts.most_common()) or "nothing"


def write(verdicts: Mapping[str, Sequence[Verdict]], seconds: float) -> None:
    renew(DOCUMENT, COMMAND, markdown(verdicts, seconds))
