"""What a tool of an MCP server returned, within the bounds of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...document.ops import Output
from ...model_view.outputs import BUDGET, IMAGES_A_RESULT
from ...model_view.plain_text import READ, clean, cut

MOST = BUDGET - 500
"""Characters of all texts. ``read_output`` cannot read on, so nothing may say that it does."""
LEAST = 200
"""Characters that a later text still gets; with less, it is left out."""
NO_IMAGE = "[image not shown: a result has at most {most}]"


def bounded(outputs: Sequence[Output], scrub: Callable[[str], str]) -> Iterator[Output]:
    """The same, with at most three images and without keys."""
    left, images = MOST, IMAGES_A_RESULT
    for number, output in enumerate(outputs):
        text = output["data"].get("text/plain")
        if text is None:
            images -= 1
            shown = output if images >= 0 else None
            text = NO_IMAGE.format(most=IMAGES_A_RESULT) if shown is None else ""
        else:
            shown = None
            text = clean(scrub(cut(text, READ)))
        if shown is not None:
            yield shown
        elif left < LEAST:
            yield _text(f"[{len(outputs) - number} more parts left out]")
            return
        else:
            text = cut(text, left)
            left -= len(text)
            yield _text(text)


def _text(text: str) -> Output:
    return {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}
