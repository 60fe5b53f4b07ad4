"""One conversation bound to one notebook: its journal, turns and undo."""
