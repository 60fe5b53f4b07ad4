"""What becomes of a person's message."""
