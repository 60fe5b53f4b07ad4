"""Keeps answers in the person's own data folder, one file each.

A notebook cannot bring them along: only this person's decisions get here. So a kept answer may
run without asking, for exactly the prompt and folder that it was taken for.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec
from jupyter_core.paths import jupyter_data_dir

from .answer import Answer

MOST = 1_000
"""Answers; the least recently used go first."""
_SUFFIX = ".json"


def key_of(*of: object) -> str:
    """The digest of everything that an answer depends on."""
    return hashlib.sha256(msgspec.json.encode(of)).hexdigest()


class KeptAnswers:
    @property
    def folder(self) -> Path:
        return Path(jupyter_data_dir(), "codeinterp", "answers")

    def get(self, key: str) -> Answer | None:
        """The kept answer. None also for a file that cannot be read, or that others may write."""
        file = self.folder / f"{key}{_SUFFIX}"
        try:
            if os.name == "posix" and file.stat().st_mode & 0o022:
                return None
            answer = msgspec.json.decode(file.read_bytes(), type=Answer)
            os.utime(file)
        except (OSError, msgspec.MsgspecError):
            return None
        return answer

    def put(self, key: str, answer: Answer) -> None:
        """Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        new = self.folder / f"{key}.{os.getpid()}.new"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(answer))
        new.replace(self.folder / f"{key}{_SUFFIX}")
        self._drop_oldest()

    def _drop_oldest(self) -> None:
        kept = sorted(self.folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stat().st_mtime)
        for file in kept[:-MOST]:
            file.unlink(missing_ok=True)
