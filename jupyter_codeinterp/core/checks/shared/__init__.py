"""Types and readers that all checks share."""
