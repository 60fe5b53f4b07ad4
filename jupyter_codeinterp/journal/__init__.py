"""A session's past from the journal: events, changes to cells, exports and branches."""
