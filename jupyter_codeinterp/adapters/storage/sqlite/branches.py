"""What a branch has of the session that it comes of, copied row by row: from then on neither
needs the other, whichever is kept longer."""

from __future__ import annotations

import sqlite3

_FIRST = "SELECT id FROM messages WHERE session_id = :of ORDER BY id LIMIT :messages"

_COPIES = (
    # The new rows get numbers in the order of the old ones; `base` is below all of them.
    f"""INSERT INTO messages (session_id, conversation, data)
        SELECT :new, conversation, data FROM messages WHERE id IN ({_FIRST}) ORDER BY id""",
    """INSERT INTO prompts SELECT :new, digest, text FROM prompts
        WHERE session_id = :of AND digest IN
            (SELECT digest FROM requests WHERE session_id = :of AND step <= :steps)""",
    """INSERT INTO requests
        SELECT :new, step, digest, data, conversation, :base +
            (SELECT count(*) FROM messages m WHERE m.session_id = :of AND m.id <= last_message)
        FROM requests WHERE session_id = :of AND step <= :steps""",
)


def copy_said(db: sqlite3.Connection, of: str, new: str, messages: int, steps: int) -> None:
    """The first messages, and what was sent in the first steps. Within a transaction."""
    base: int = db.execute("SELECT ifnull(max(id), 0) FROM messages").fetchone()[0]
    values = {"of": of, "new": new, "messages": messages, "steps": steps, "base": base}
    for statement in _COPIES:
        db.execute(statement, values)
