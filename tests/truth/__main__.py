"""``python -m tests.truth [tuned | held]``: recall and false alarms of one half, a row a family.

``--missed`` also lists what the tuned half gets wrong.
"""

from __future__ import annotations

import argparse
import asyncio

from tests.truth.judge import Verdict, judge, row
from tests.truth.programs import programs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.truth")
    parser.add_argument("half", nargs="?", choices=("tuned", "held"), default="held")
    parser.add_argument("--missed", action="store_true")
    options = parser.parse_args()
    if options.missed and options.half == "held":
        parser.error("the held half is not for tuning: it shows sums only")
    chosen = [one for one in programs() if one.is_held == (options.half == "held")]
    verdicts = asyncio.run(judge(chosen))
    print(
        "| family | errors | found | right programs | alarms to the person | notes to the model |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for family in (*sorted({one.family for one in chosen}), "all"):
        of = row(family, verdicts)
        cells = (of.family, of.wrong, of.found, of.right, of.person, of.model)
        print("| " + " | ".join(map(str, cells)) + " |")
    if options.missed:
        tell(verdicts)


def tell(verdicts: list[Verdict]) -> None:
    for one in verdicts:
        if one.program.is_wrong != bool(one.told):
            kind = "missed" if one.program.is_wrong else f"alarm to the {one.told}"
            print(f"{kind}: {one.program.family}: {one.program.name}")
            for finding in one.found:
                print(f"    {finding.audience}: {finding.sentence}")


if __name__ == "__main__":
    main()
