"""Checks that read what the kernel saw of a run, one family a file."""
