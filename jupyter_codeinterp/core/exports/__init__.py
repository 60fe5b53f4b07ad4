"""A conversation to take along: to read, to replay, to say who wrote which lines."""
