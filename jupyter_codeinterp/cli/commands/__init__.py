"""The commands. Each has a function that takes the arguments and returns an exit code."""
