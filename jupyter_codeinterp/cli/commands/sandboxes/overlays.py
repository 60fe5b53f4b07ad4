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
    whole = True
    for one in found:
        if options.commit:
            whole = await _commit_alone(one, asks=not options.yes) and whole
        elif options.discard:
            whole = await _discard(one, asks=not options.yes) and whole
        else:
            show(one, list_of(one))
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


async def _commit_alone(layer: Layer, *, asks: bool) -> bool:
    if not layer.lock():
        # Only its server knows which files a person has kept.
        words = f"The kernel of {layer.name} still runs. Keep its files in the notebook's "
        print(f"{words}conversation, or shut the kernel down first.", file=sys.stderr)
        return False
    try:
        return await commit(layer, asks=asks)
    finally:
        layer.unlock()


async def commit(layer: Layer, *, asks: bool) -> bool:
    """List the files of a layer that we have locked, ask, and copy them. False if one that the
    person wanted could not be copied."""
    found = list_of(layer)
    show(layer, found)
    able = [one for one in found if not one.why]
    if not able:
        return True
    if asks and not await agrees(f"Copy {_count(len(able))} into the folder? [y]es, [n]o: "):
        print(f"They wait. To copy them later: jupyter codeinterp sandbox changes {_later(layer)}")
        return True
    kept = keep(layer, {one.path: one.stamp for one in able})
    for path, why in kept.left:
        print(f"  ! {visible_line(path)}  {why}")
    print(f"Copied {_count(len(kept.done))}.")
    if not kept.left and len(able) == len(found):
        layer.remove()
    return not kept.left


def names(root: Path) -> frozenset[str]:
    """The names of all layers."""
    return frozenset(one.name for one in layers(root))


async def after_run(root: Path, before: frozenset[str], folder: Path, *, asks: bool) -> bool:
    """List the files that a run's kernels left for this folder, and ask if ``asks``. ``before``:
    names of the earlier layers. Return whether all wanted files were copied."""
    whole = True
    for layer in layers(root):
        if layer.name in before or layer.folder != folder or not layer.lock():
            continue
        try:
            if asks:
                whole = await commit(layer, asks=True) and whole
            else:
                words = (
                    f"{_count(len(list_of(layer)))} wait outside of the folder. To see and copy "
                )
                command = f"them: jupyter codeinterp sandbox changes {_later(layer)}"
                print(words + command, file=sys.stderr, flush=True)
        except Problem as problem:
            # Go on, so that the run's own result is not hidden.
            print(visible_line(problem.words), file=sys.stderr, flush=True)
            whole = False
        finally:
            layer.unlock()
    return whole


async def _discard(layer: Layer, *, asks: bool) -> bool:
    if not layer.lock():
        print(f"The kernel of {layer.name} still runs. Shut it down first.", file=sys.stderr)
        return False
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


def _later(layer: Layer) -> str:
    return f"{layer.name} --commit"


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"
