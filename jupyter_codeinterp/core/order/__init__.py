"""An order of a notebook's cells in which they run from the top."""
