"""Checks that read the kernel's report on a run, one kind per file."""
