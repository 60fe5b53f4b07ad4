"""Prices that others keep."""
