"""How a turn ends."""

from __future__ import annotations

import logging

import msgspec

from ...base.errors import CodeInterpError, StoreError
from ...base.sentences import Sentence, together
from ...journal.event_log import GONE
from ...wire.events import StopReason

log = logging.getLogger(__name__)

_RETRY_CODES = frozenset(
    {
        "no_key",
        "wrong_key",
        "forbidden",
        "unknown_model",
        "offline",
        "rate_limit",
        "overloaded",
        "server_error",
        "spend_limit",
        "broken_stream",
        "not_open",
        "server_stopped",
        "disk_full",
        "read_only",
        "locked",
        "disk_error",
    }
)
"""Endings after which "Try again" makes sense."""
LIMITS = frozenset({"max_steps", "cost_limit", "time_limit", "loop"})
"""Endings after which the person may let the agent go on."""


DELETED = Sentence("This conversation was deleted from the journal. Start a new one.")
STOPPED = Sentence("The turn was stopped. Saving will be retried.")
INTERNAL = Sentence("The code interpreter had an internal error. See the server's log for details.")


class Ending(msgspec.Struct, frozen=True):
    """``code`` is stable, for programs; ``message`` is for people."""

    reason: StopReason
    code: str = ""
    message: Sentence = Sentence()

    @property
    def retry(self) -> bool:
        """Whether "Try again" or "Continue" makes sense."""
        return self.code in _RETRY_CODES | LIMITS


def not_journaled(error: StoreError) -> Ending:
    """How a turn ends if the journal fails."""
    if error.code == GONE:
        return Ending("error", error.code, DELETED)
    return Ending("error", error.code, together(error.message, STOPPED))


def failure(error: Exception) -> Ending:
    """How an exception ends a turn. Unexpected exceptions go to the log."""
    if isinstance(error, StoreError):
        return not_journaled(error)
    if isinstance(error, CodeInterpError) and error.code == "day_limit":
        return Ending("budget", error.code, error.message)
    if isinstance(error, CodeInterpError):
        return Ending("error", error.code, error.message)
    log.error("A turn failed", exc_info=error)
    return Ending("error", "internal", INTERNAL)
