"""Kernels: of this machine, of a gateway, in this process, and fresh ones for one task."""
