"""Packages that a sandboxed kernel has installed, kept for later kernels of its kernelspec.

``running`` finds kernels; ``kept`` copies from one, and says what the next start mounts; ``names``
reads which packages a folder holds. All of it is what code in a sandbox wrote: nothing here
imports or runs any of it.
"""
