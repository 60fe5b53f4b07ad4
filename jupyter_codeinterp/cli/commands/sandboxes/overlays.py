"""Files that sandboxed kernels have written into overlays: list, keep or discard them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ....app import config as config_files
from ....base.visible import visible_line
from ....sandbox.overlay.changes import MOST, FileChange
from ....sandbox.overlay.changes import changes as changes_of
from ....sandbox.overlay.keeping import keep
from ....sandbox.overlay.layer import Layer, layers, place
from ....sandbox.shared import trees
from ....sandbox.shared.limits import size
from ...local.problems import DONE, FAILED, USAGE, Problem
from ...terminal.asking import agrees

if TYPE_CHECKING:
    from traitlets.config import Config

SIGNS = {"added": "+", "changed": "~", "deleted": "-"}
SHOWN = 200
"""Most files of a layer that are listed."""


def root(config: Config) -> Path:
    """The folder of all layers."""
    return place(str(config.SandboxProvisioner.get("overlay_folder", "")))


async def changes(options: argparse.Namespace) -> int:
    found = list(layers(root(config_files.load())))
    if options.layer:
        found = [one for one in found if one.name == options.layer]
        if not found:
            words = f"No files wait under the name {options.layer}."
            raise Problem(f"{words} See: jupyter codeinterp sandbox changes", USAGE)
    if (options.commit or options.discard) and not options.yes and not sys.stdin.isatty():
        raise Problem("No terminal to ask in. Add --yes (do it without asking).", USAGE)
    work = _commit if options.commit else _discard
    whole = True
    for one in found:
        if not (options.commit or options.discard):
            show(one, list_of(one))
        elif one.lock():
            whole = await work(one, asks=not options.yes) and whole
            one.unlock()
        else:
            # Only its server knows which files a person has kept.
            words = f"The kernel of {one.name} still runs. Use the notebook's conversation, or "
            print(f"{words}shut the kernel down first.", file=sys.stderr)
            whole = False
    if not found:
        print("No files wait.")
    elif not (options.commit or options.discard):
        print("Add --commit to copy files into their folder, --discard to delete them.")
    return DONE if whole else FAILED


def list_of(layer: Layer) -> list[FileChange]:
    """Raises Problem."""
    try:
        return changes_of(layer)
    except trees.TooMany:
        words = f"More than {MOST:,} files wait in {layer.upper}. Look at them there."
        raise Problem(words) from None
    except OSError as error:
        words = f"{error.strerror}: {error.filename}. The files are in {layer.upper}."
        raise Problem(words) from None


def show(layer: Layer, found: list[FileChange]) -> None:
    print(visible_line(f"{layer.name}: {layer.folder}"))
    for one in found[:SHOWN]:
        words = "" if one.folder or one.kind == "deleted" else f"  {size(one.size)}"
        why = f"  ! {one.why}" if one.why else ""
        name = f"{one.path}/" if one.folder else one.path
        print(f"  {SIGNS[one.kind]} {visible_line(name)}{words}{why}")
    if len(found) > SHOWN:
        print(f"  {len(found) - SHOWN:,} more are not shown.")
    if not found:
        print("  No files wait.")


async def _commit(layer: Layer, *, asks: bool) -> bool:
    """List the files of a locked layer, ask, and copy them. False if one that the person wanted
    could not be copied."""
    found = list_of(layer)
    show(layer, found)
    able = [one for one in found if not one.why]
    if not able:
        return True
    if asks and not await agrees(f"Copy {_count(len(able))} into the folder? [y]es, [n]o: "):
        return True
    kept = keep(layer, {one.path: one.stamp for one in able})
    for path, why in kept.left:
        print(f"  ! {visible_line(path)}  {why}")
    print(f"Copied {_count(len(kept.done))}.")
    if not kept.left and len(able) == len(found):
        layer.remove()
    return not kept.left


async def _discard(layer: Layer, *, asks: bool) -> bool:
    try:
        found = list_of(layer)
        show(layer, found)
        question = f"Delete {_count(len(found))}"
    except Problem as problem:
        print(problem.words)
        question = f"Delete all files of {layer.name}"
    if asks and not await agrees(f"{question}? [y]es, [n]o: "):
        return True
    layer.remove()
    print("Deleted.")
    return True


def names(root: Path) -> frozenset[str]:
    """The names of all layers."""
    return frozenset(one.name for one in layers(root))


def tell(root: Path, before: frozenset[str], folder: Path) -> None:
    """Say where the files are that a run's kernels left for this folder. ``before``: names of the
    earlier layers."""
    for layer in layers(root):
        if layer.name not in before and layer.folder == folder:
            words = "Files wait outside of the folder. To see and copy them: jupyter codeinterp "
            command = f"sandbox changes {layer.name} --commit"
            print(f"{words}{command}", file=sys.stderr, flush=True)


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"
