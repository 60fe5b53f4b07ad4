"""Forks of a kernel, asked for by the server."""
