"""Sees a sandbox from outside: ``files`` that change, and its ``programs``."""
