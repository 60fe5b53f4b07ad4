"""Finds and labels words in data that read like instructions to the model."""
