"""What can hold a sandboxed kernel."""

BUBBLEWRAP = "bubblewrap"
LANDLOCK = "landlock"
"""Holds less."""
AUTO = "auto"
"""bubblewrap where it can run, Landlock elsewhere."""
WALLS = (BUBBLEWRAP, LANDLOCK, AUTO)
TITLES = {
    BUBBLEWRAP: "sandboxed",
    LANDLOCK: "sandboxed, Landlock only",
    AUTO: "sandboxed, or Landlock only",
}
"""In the kernel menu."""
