"""Changes to a notebook, and outputs that are safe to show."""
