"""The overlay of a sandboxed kernel: loaded where a kernel has one."""

from .kernel_overlay import KernelOverlay

__all__ = ["KernelOverlay"]
