"""Names, attributes and arguments that code needs and the kernel does not have."""
