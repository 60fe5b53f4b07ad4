"""Features: a folder each, with one line of wiring. Nothing outside imports them."""
