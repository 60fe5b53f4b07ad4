"""A notebook that two people share, tried in browsers: see scripts/engines."""
