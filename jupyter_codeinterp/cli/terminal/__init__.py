"""What is shown and asked in a terminal, or told to a program."""
