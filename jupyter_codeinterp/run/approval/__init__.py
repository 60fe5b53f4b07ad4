"""Decides whether something runs, asks or is refused, and warns the person on the card."""
