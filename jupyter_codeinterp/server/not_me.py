"""What becomes of a conversation when somebody says of a window's doings: that was not me."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ..core.approval.modes import ASKING, cap
from ..core.errors import CodeInterpError

if TYPE_CHECKING:
    from ..core.session.session import Session

log = logging.getLogger(__name__)

NOT_ME = (
    "“Not me” in window {}: what went on was stopped, the mode is Review, and all other windows "
    "were closed. If none of yours did this, code in a kernel may have done it in your name: "
    "restart the kernels, and the server, which gets a new token."
)


def calm(session: Session, window: int) -> None:
    """Nothing goes on, nothing that another window has queued is ever sent, and nothing runs
    without being asked for; it says so. ``window`` is
    where the person is."""
    session.cancel()
    try:
        session.set_mode(cap(session.info.mode, ASKING), window)
        session.take_back_of_others(window)
        session.note(NOT_ME.format(window), "warning")
    except CodeInterpError as error:
        log.warning("%s is not in Review: %s", session.info.session_id, error.message)
