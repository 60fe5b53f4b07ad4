"""Removes discarded changes from a layer that no kernel uses: Linux forbids changing the layer of a
mounted overlay.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from ..shared import trees
from .changes import written
from .layer import Layer


def remove(layer: Layer, stamps: Mapping[str, str]) -> dict[str, str]:
    """Remove these paths from the layer if they still have the states of their stamps. Return the
    stamps of those that could not be removed, such as files of a folder that was deleted and made
    again. Raises TooMany and OSError."""
    with trees.opened(str(layer.upper)) as upper, trees.opened(str(layer.folder)) as lower:
        found = written(upper, lower)
        same = [path for path in stamps if path in found and found[path].stamp == stamps[path]]
        # A folder's files before the folder.
        for path in sorted(same, reverse=True):
            with suppress(OSError), trees.parent(upper, path) as (folder, name):
                one = trees.status_in(folder, name)
                if one is not None and stat.S_ISDIR(one.st_mode):
                    os.rmdir(name, dir_fd=folder)
                elif one is not None:
                    os.unlink(name, dir_fd=folder)
        found = written(upper, lower)
        return {path: stamps[path] for path in same if path in found}
