"""Packages that sandboxed kernels have installed: list, keep or forget them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ....core.visible import visible_line
from ....sandbox.packages import kept, names
from ....sandbox.packages.names import Package
from ....sandbox.packages.running import Running, running
from ...local.problems import DONE, USAGE, Problem
from ...terminal.asking import agrees


async def packages(options: argparse.Namespace) -> int:
    if options.does == "keep":
        return await _keep(options.kernel, asks=not options.yes)
    if options.does == "forget":
        return await _forget(options.kernelspec, asks=not options.yes)
    return _list()


def _list() -> int:
    kernels, root = running(), kept.place()
    for kernel in kernels:
        print(visible_line(f"{kernel.name}: {kernel.spec}, in {kernel.notebook}"))
        _show(_installed(kernel))
    specs = [spec for spec in kept.specs(root) if kept.layers(root, spec)]
    for spec in specs:
        print(visible_line(f"Kept for {spec}:"))
        hidden: set[tuple[str, str]] = set()
        for layer in kept.layers(root, spec):
            try:
                packages = layer.packages()
            except OSError as error:
                print(visible_line(f"  {layer.path} cannot be read: {error.strerror}."))
                continue
            found = [one for one in packages if (layer.tag, one.key) not in hidden]
            hidden.update((layer.tag, one.key) for one in found)
            _show(found, f" ({layer.tag})")
    print("".join(f"{fault}\n" for fault in faults(root)), end="")
    if not kernels and not specs:
        print("No packages are kept, and no kernel runs that may install some.")
    return DONE


def faults(root: Path) -> list[str]:
    """For each kernelspec whose last kernel did not start with its packages."""
    return [
        visible_line(f"{kept.left_out(spec)}. It wrote: {fault}")
        for spec, fault in kept.faults(root).items()
    ]


async def _keep(name: str, *, asks: bool) -> int:
    found = [one for one in running() if one.name == name]
    if not found:
        words = f"No kernel {name} runs that may install packages. The list has their names."
        raise Problem(words, USAGE)
    (kernel,) = found
    installed = _installed(kernel)
    if not installed:
        raise Problem("The kernel has installed no packages.", USAGE)
    _show(installed)
    print(
        visible_line(
            f"Every later kernel of {kernel.spec} will import them, whatever its notebook. They "
            "are as the code in this kernel left them, which may differ from what was downloaded."
        )
    )
    if not await _agrees("Keep them? [y]es, [n]o: ", asks=asks):
        return DONE
    try:
        packages = kept.keep(kept.place(), kernel)
    except kept.KeepError as error:
        raise Problem(str(error)) from None
    except OSError as error:
        raise Problem(f"The packages could not be copied: {error.strerror}.") from None
    print(visible_line(f"Kept {_count(len(packages))}. The next start of {kernel.spec} has them."))
    return DONE


async def _forget(spec: str, *, asks: bool) -> int:
    root = kept.place()
    if spec not in kept.specs(root):
        raise Problem(f"No packages are kept for {spec}.", USAGE)
    question = f"Remove the packages that are kept for {spec}? [y]es, [n]o: "
    if not await _agrees(question, asks=asks):
        return DONE
    try:
        kept.forget(root, spec)
    except (kept.KeepError, OSError) as error:
        raise Problem(f"The packages could not be removed: {error}") from None
    print("Removed. Kernels that run and use them need a restart.")
    return DONE


def _installed(kernel: Running) -> list[Package]:
    """Empty if it has just ended, too."""
    try:
        with kernel.opened() as folder:
            return names.of(folder)
    except OSError:
        return []


def _show(found: list[Package], more: str = "") -> None:
    for one in found:
        print(visible_line(f"  {one.name} {one.version}{more}"))
    if not found and not more:
        print("  It has installed no packages.")


async def _agrees(question: str, *, asks: bool) -> bool:
    if not asks:
        return True
    if not sys.stdin.isatty():
        raise Problem("No terminal to ask in. Add --yes (do it without asking).", USAGE)
    return await agrees(question)


def _count(number: int) -> str:
    return "1 package" if number == 1 else f"{number:,} packages"
