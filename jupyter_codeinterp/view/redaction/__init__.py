"""Keeps keys, likely secrets and the values of private variables from the model."""
