"""One conversation bound to one notebook: taken up from the journal, written on, undone."""
