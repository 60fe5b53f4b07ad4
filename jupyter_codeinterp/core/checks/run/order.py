"""Numbers written as text, ties at a cut-off, and replacements that find nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ...findings import Finding
from ..code.columns import IDENTIFIER
from ..shared.check import Check, SeenRun
from ..shared.reading import code_at, facts, listed, number, text, texts
from ..shared.source import parsed

NAME = "Order and text"


def read(run: SeenRun) -> Iterator[Finding]:
    source = parsed(run.cell.source)
    if source is None:
        return
    for fact in facts(run, "text_order"):
        words = (
            f"`{text(fact, 'column')}` has numbers written as text, {text(fact, 'how')} as text:"
        )
        # The order of identifiers is only that of a list.
        is_sorted_id = text(fact, "how") == "sorted" and IDENTIFIER.fullmatch(text(fact, "column"))
        words = f"{words} {listed(texts(fact, 'examples'))}."
        yield Finding(NAME, words, fact.place, audience="model" if is_sorted_id else "person")
    for fact in facts(run, "text_sum"):
        has_digits = any(re.search(r"\d", one) for one in texts(fact, "examples"))
        words = f"`{text(fact, 'column')}` is text, so its sum puts the texts one after the other."
        who: Literal["person", "model"] = "person" if has_digits else "model"
        yield Finding(NAME, words, fact.place, texts(fact, "examples"), who)
    for fact in facts(run, "replaced_nothing"):
        words = f"{code_at(source, fact, '`replace`')} replaced nothing: it compares whole values,"
        words += f" and {text(fact, 'wanted')} is only a part of {number(fact, 'inside'):,}."
        yield Finding(NAME, words, fact.place)
    for fact in facts(run, "pattern_not_found"):
        words = f"{code_at(source, fact, '`str.replace`')} replaced nothing: without `regex=True`"
        yield Finding(NAME, f"{words} it looks for {text(fact, 'wanted')} itself.", fact.place)
    for fact in facts(run, "tie"):
        words = f"The first {number(fact, 'count')} rows end in a tie: the next row has the same"
        words += f" {listed(texts(fact, 'keys'))}, {text(fact, 'value')}."
        yield Finding(NAME, words, fact.place, audience="model")
    for fact in facts(run, "unordered_slice"):
        left_out, beyond = number(fact, "left_out"), number(fact, "beyond")
        words = f"The labels are not in order, so {code_at(source, fact, 'the slice')} leaves out"
        words += f" {left_out:,} rows between the two and takes {beyond:,} others."
        yield Finding(NAME, words, fact.place, texts(fact, "examples"))
    for fact in facts(run, "text_left_out"):
        words = f"`numeric_only` leaves out `{text(fact, 'column')}`, whose numbers are text, as"
        yield Finding(NAME, f"{words} {listed(texts(fact, 'examples'))}.", fact.place)
    for fact in facts(run, "repeated_value"):
        words = f"{code_at(source, fact, 'A number')} is written out; `{text(fact, 'name')}` has"
        yield Finding("Figure", f"{words} that value.", fact.place, audience="model")
    for fact in facts(run, "day_cut"):
        words = (
            f"{code_at(source, fact, 'The comparison')} leaves out {number(fact, 'count'):,} rows"
        )
        yield Finding(NAME, f"{words} later on that day.", fact.place)


CHECK = Check(NAME, after_run=read)
