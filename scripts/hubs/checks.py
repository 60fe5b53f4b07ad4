"""What was looked at, and whether it held."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Checks:
    failed: list[str] = field(default_factory=list)
    count: int = 0

    def that(self, what: str, holds: object, detail: object = "") -> None:
        """Print a line. ``detail`` is shown if it does not hold."""
        self.count += 1
        print(f"  {'held  ' if holds else 'FAILED'}  {what}", flush=True)
        if not holds:
            self.failed.append(what)
            print(f"          {str(detail)[:1500]}", flush=True)

    def left_out(self, what: str, why: str) -> None:
        print(f"  ——      {what}: {why}", flush=True)

    def end(self) -> int:
        """Print how many held; the exit code."""
        print(f"{self.count - len(self.failed)} of {self.count} held")
        for failed in self.failed:
            print(f"FAILED: {failed}")
        return 1 if self.failed else 0
