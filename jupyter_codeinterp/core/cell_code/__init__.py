"""What the code of one cell says, found without running it."""
