"""What a run in a sandbox does, seen from outside: ``observer`` ← ``files``, ``programs``."""
