"""Checks that read the code only, one family a file."""
