"""Our own tools, one a file."""
