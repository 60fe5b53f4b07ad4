"""What can hold a sandboxed kernel."""

BUBBLEWRAP = "bubblewrap"
LANDLOCK = "landlock"
"""Holds less."""
SANDBOX_EXEC = "sandbox-exec"
"""Of macOS. Never tried there."""
AUTO = "auto"
"""bubblewrap where it can run, Landlock elsewhere."""
WALLS = (BUBBLEWRAP, LANDLOCK, SANDBOX_EXEC, AUTO)
UNTESTED = (SANDBOX_EXEC,)
"""A kernel behind one counts as sandboxed only where the server's configuration names it."""
TITLES = {
    BUBBLEWRAP: "sandboxed",
    LANDLOCK: "sandboxed, Landlock only",
    SANDBOX_EXEC: "sandbox-exec, untested",
    AUTO: "sandboxed, or Landlock only",
}
"""In the kernel menu."""
