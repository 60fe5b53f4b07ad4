"""Forks of the live kernel. Everything but this file runs **in the kernel**, on Linux only."""
