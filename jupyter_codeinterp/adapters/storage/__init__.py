"""The journal's storage."""
