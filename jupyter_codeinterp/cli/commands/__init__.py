"""One file a command. Each has a function that takes the arguments and gives an exit code."""
