"""How far an engine in the kernel is with its work for a cell."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]


class EngineWork(msgspec.Struct, frozen=True):
    """Tasks of the jobs that it does now. Untrusted."""

    engine: Literal["Spark", "Dask"]
    done: Count
    of: Count
