"""Where models answer."""
