"""Forks of the live kernel that wait to take its place. Everything runs **in the kernel**."""
