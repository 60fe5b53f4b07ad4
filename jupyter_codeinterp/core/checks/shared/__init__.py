"""What all checks are made of."""
