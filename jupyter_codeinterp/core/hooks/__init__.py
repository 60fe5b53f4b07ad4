"""What is asked before code runs and told after it: our own checks, and those of others."""
