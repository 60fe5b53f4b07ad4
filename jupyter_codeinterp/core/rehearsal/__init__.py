"""Rehearsals: cells tried in a fork of the kernel that is thrown away."""
