"""Drafts that concern no cell: words that say what happens after the person's decision."""

from __future__ import annotations

from typing import Literal

from ...approval.decisions import Decision, new_nonce
from ...events import Draft, DraftDecided
from ...messages import ToolUse

CUT_OFF = "The turn ended while this was done. It may have had effects."
DIFFERS = "The decision was about something else. Decide again."


def draft_of(
    call: ToolUse,
    kind: Literal["kernel", "notebook", "verify", "tool", "cells"],
    title: str,
    words: str,
    why: str,
) -> Draft:
    """``words`` are what a decision is about, ``why`` the reason to ask again, if any."""
    return Draft(
        draft_id=f"{kind}-{call.id}",
        call_id=call.id,
        kind=kind,
        cell_id="",
        title=title,
        source=words,
        nonce=new_nonce(),
        notices=(why,) if why else (),
        runs=False,
    )


def decided(draft: Draft, decision: Decision) -> DraftDecided:
    return DraftDecided(
        draft.call_id,
        draft.draft_id,
        decision.action,
        decision.by,
        reason=decision.reason,
        window=decision.window,
        said=decision.said,
        person=decision.person,
    )
