"""Programs with errors that the checks find, and right ones of the same look."""
