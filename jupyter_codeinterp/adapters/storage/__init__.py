"""Where the journal is kept."""
