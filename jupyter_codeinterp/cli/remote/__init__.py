"""A running server, driven over REST."""
